"""One hop along edges from many nodes, in one statement per direction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import batched
from typing import NamedTuple

from vicw_shared.model import Edge
from vicw_shared.model.core5 import LABELS
from vicw_shared.model.edges import WEAK_TYPES
from vicw_shared.ports import Direction, Spread, WeightedNeighbour
from vicw_stores.sqlite.rows import edge_between, marks, pack, unpack

_BATCH = 500


class HopStep(NamedTuple):
    """An edge to the node of ``uid``. ``place`` is its spread's index; ``lightness`` is lower for heavier edges."""

    place: int
    lightness: float
    edge: Edge
    uid: str


def read_steps(
    connection: sqlite3.Connection, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int
) -> dict[str, tuple[HopStep, ...]]:
    """Return the steps of each node: per spread its ``limit`` heaviest edges."""
    places = {spread: place for place, spread in enumerate(spreads)}
    packed = {pack(uid): uid for uid in uids}
    hops: dict[str, list[HopStep]] = {uid: [] for uid in uids}
    for direction, types in _by_direction(spreads).items():
        for batch in batched(uids, _BATCH):
            for row in _step_rows(connection, direction, types, batch, tenant, limit):
                origin, uid = packed[row[0]], unpack(row[7])
                ends = (origin, uid) if direction is Direction.OUT else (uid, origin)
                edge = edge_between(ends, row[1:7])
                hops[origin].append(HopStep(places[edge.type, direction], -edge.weight, edge, uid))
    return {uid: tuple(steps) for uid, steps in hops.items()}


def read_weighted_neighbours(
    connection: sqlite3.Connection, tenant: str, uids: Sequence[str], spread: Spread, limit: int
) -> list[WeightedNeighbour]:
    """Return the targets of one spread, the heaviest edges of each node first."""
    edge_type, direction = spread
    near, far = ("source", "target") if direction is Direction.OUT else ("target", "source")
    packed = {pack(uid): uid for uid in uids}
    neighbours = []
    for batch in batched(packed, _BATCH):
        rows = connection.execute(
            "SELECT o.uid, n.uid, n.label, n.name, n.content_hash IS NOT NULL, e.weight, "  # noqa: S608
            "n.retired_at IS NULL FROM node o CROSS JOIN edge e ON e.rowid IN "
            f"(SELECT x.rowid FROM edge x WHERE x.{near} = o.pk AND x.type = ? ORDER BY x.weight DESC LIMIT ?) "
            f"JOIN node n ON n.pk = e.{far} WHERE o.uid IN ({marks(len(batch))}) AND o.tenant = ?",
            (edge_type, limit, *batch, tenant),
        )
        neighbours += [
            WeightedNeighbour(packed[origin], unpack(uid), LABELS[label], name, bool(is_item), weight, bool(is_live))
            for origin, uid, label, name, is_item, weight, is_live in rows
        ]
    return neighbours


def read_isolated(connection: sqlite3.Connection, tenant: str, uids: Sequence[str]) -> set[str]:
    """Return the nodes without a live neighbour, ``WEAK_TYPES`` edges aside; the check stops at a node's first one."""
    ignored = ", ".join(f"'{name}'" for name in WEAK_TYPES)
    conditions = " ".join(
        f"AND NOT EXISTS (SELECT 1 FROM edge e CROSS JOIN node o ON o.pk = e.{far} "  # noqa: S608
        f"WHERE e.{near} = n.pk AND e.type NOT IN ({ignored}) AND o.retired_at IS NULL)"
        for near, far in (("source", "target"), ("target", "source"))
    )
    isolated: set[str] = set()
    for batch in batched(uids, _BATCH):
        rows = connection.execute(
            f"SELECT n.uid FROM node n WHERE n.uid IN ({marks(len(batch))}) AND n.tenant = ? {conditions}",  # noqa: S608
            (*map(pack, batch), tenant),
        )
        isolated.update(unpack(uid) for (uid,) in rows)
    return isolated


def _by_direction(spreads: Sequence[Spread]) -> dict[Direction, list[str]]:
    types: dict[Direction, list[str]] = {}
    for edge_type, direction in spreads:
        types.setdefault(direction, []).append(edge_type)
    return types


def _step_rows(
    connection: sqlite3.Connection,
    direction: Direction,
    types: Sequence[str],
    uids: Sequence[str],
    tenant: str,
    limit: int,
) -> sqlite3.Cursor:
    near, far = ("source", "target") if direction is Direction.OUT else ("target", "source")
    # The inner limit reads only as many of a hub's edges as it returns: the index orders them by weight.
    sql = (
        f"WITH wanted (type) AS (VALUES {', '.join(['(?)'] * len(types))}) "  # noqa: S608
        "SELECT o.uid, e.id, e.type, e.weight, e.created_at, e.created_by, e.properties, n.uid "
        "FROM node o CROSS JOIN wanted CROSS JOIN edge e ON e.rowid IN "
        f"(SELECT x.rowid FROM edge x WHERE x.{near} = o.pk AND x.type = wanted.type ORDER BY x.weight DESC LIMIT ?) "
        f"JOIN node n ON n.pk = e.{far} WHERE o.uid IN ({marks(len(uids))}) AND o.tenant = ?"
    )
    return connection.execute(sql, (*types, limit, *map(pack, uids), tenant))
