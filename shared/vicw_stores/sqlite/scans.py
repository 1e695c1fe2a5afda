"""Scans on SQLite: one query per kind of record, each in index order."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.chain import ChainKey
from vicw_shared.model.names import ATTRIBUTE, TermKind
from vicw_shared.ports import (
    Changes,
    EdgeEnds,
    Edges,
    Flow,
    FlowEvents,
    Flows,
    Items,
    ItemView,
    NamedNodes,
    Nodes,
    PassageChange,
    Passages,
    PendingPoint,
    Scan,
    Steps,
)
from vicw_shared.ports.scan import PAGE
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import SqliteDatabase
from vicw_stores.sqlite.items import LIVE, with_edges
from vicw_stores.sqlite.outbox_rows import read_passages
from vicw_stores.sqlite.rows import NODE_COLUMNS, columns_of, edge_of, node_of, pack, unpack
from vicw_stores.sqlite.steps import read_steps

LAST = "\U0010ffff"
_NODES = f"SELECT {NODE_COLUMNS} FROM node WHERE label = ? AND uid > ? ORDER BY uid LIMIT ?"  # noqa: S608
_EDGES = (
    "SELECT e.id, e.type, ifnull(s.uid, zeroblob(16)), ifnull(t.uid, zeroblob(16)), e.weight, e.created_at, "
    "e.created_by, e.properties, s.label, t.label "
    "FROM edge e LEFT JOIN node s ON s.pk = e.source LEFT JOIN node t ON t.pk = e.target "
    "WHERE e.id > ? ORDER BY e.id LIMIT ?"
)
_ITEMS = (
    f"SELECT pk, {NODE_COLUMNS} FROM node WHERE tenant = ? AND label = ? AND uid > ? AND {LIVE} "  # noqa: S608
    "ORDER BY uid LIMIT ?"
)
_CHANGES = (
    "SELECT point, at, seq FROM passage_change WHERE tenant = ? AND (at, point) > (?, ?) ORDER BY at, point LIMIT ?"
)
_FLOW = (
    "SELECT tenant, context, flow_id FROM node INDEXED BY node_flow WHERE arrival IS NOT NULL AND flow_id IS NOT NULL "
    "AND retired_at IS NULL AND (tenant, context, flow_id) > (?, ?, ?) ORDER BY tenant, context, flow_id LIMIT 1"
)


@measured("sqlite")
class SqliteScans:
    """Scans over the database of a graph."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def scan[Record, Place](
        self, what: Scan[Record, Place], *, after: Place | None = None, limit: int = PAGE
    ) -> list[Record]:
        read = _READERS[type(what)]
        return await self._database.read(lambda c: read(c, what, after, limit))


def _nodes(connection: sqlite3.Connection, what: Nodes, after: str | None, limit: int) -> list[Node]:
    rows = connection.execute(_NODES, (what.label.value, pack(after) if after else b"", limit))
    return list(map(node_of, rows))


def _passages(connection: sqlite3.Connection, _: Passages, after: str | None, limit: int) -> list[PendingPoint]:
    return read_passages(connection, pack(after) if after else b"", limit)


def _edges(connection: sqlite3.Connection, _: Edges, after: Edge | None, limit: int) -> list[EdgeEnds]:
    rows = connection.execute(_EDGES, (pack(after.id) if after else b"", limit))
    return [EdgeEnds(edge_of(r), r[8] and Label(r[8]), r[9] and Label(r[9])) for r in rows]


def _items(connection: sqlite3.Connection, what: Items, after: str | None, limit: int) -> list[ItemView]:
    rows = connection.execute(_ITEMS, (what.tenant, what.label.value, pack(after) if after else b"", limit))
    return with_edges(connection, rows.fetchall())


def _changes(
    connection: sqlite3.Connection, what: Changes, after: PassageChange | None, limit: int
) -> list[PassageChange]:
    behind = (to_us(after.at), pack(after.uid)) if after is not None else (to_us(what.since) - 1, b"\xff" * 17)
    rows = connection.execute(_CHANGES, (what.tenant, *behind, limit))
    return [PassageChange(unpack(point), from_us(at), seq) for point, at, seq in rows]


def _flows(connection: sqlite3.Connection, what: Flows, after: Flow | None, limit: int) -> list[Flow]:
    """Return flows in the order of their items' index: one look-up per flow, however many items it has."""
    flows: list[Flow] = []
    place = (after.tenant, after.context, after.flow_id) if after is not None else (*(what.within or ("", "")), "")
    while len(flows) < limit and (row := connection.execute(_FLOW, place).fetchone()) is not None:
        place = row
        if what.within is not None and row[:2] != what.within:
            break
        flows.append(Flow(*row))
    return flows


def _thread(connection: sqlite3.Connection, what: FlowEvents, after: ChainKey | None, limit: int) -> list[Node]:
    """Return a flow's items in the order of its chain's index."""
    parts, beyond, way = (
        ("unstepped", "step", "timestamp", "flow_step"),
        *(("<", " DESC") if what.descending else (">", "")),
    )
    behind = f"AND ({', '.join(parts)}) {beyond} (?, ?, ?, ?) " if after is not None else ""
    rows = connection.execute(
        f"SELECT {NODE_COLUMNS} FROM node WHERE tenant = ? AND context = ? AND flow_id = ? "  # noqa: S608
        f"AND arrival IS NOT NULL AND flow_id IS NOT NULL AND retired_at IS NULL {behind}"
        f"ORDER BY {', '.join(part + way for part in parts)} LIMIT ?",
        (what.flow.tenant, what.flow.context, what.flow.flow_id, *(after or ()), limit),
    )
    return list(map(node_of, rows))


def _named(connection: sqlite3.Connection, what: NamedNodes, after: tuple[str, str] | None, limit: int) -> list[Node]:
    """Return a context's named nodes in index order, ties by uid."""
    where, values = "t.text >= ? AND t.text < ?", [what.prefix, what.prefix + LAST]
    if after is not None:
        where, values = f"{where} AND t.text >= ? AND (t.text, n.uid) > (?, ?)", [*values, after[0], after[0]]
    rows = connection.execute(
        f"SELECT {columns_of('n')} FROM term t CROSS JOIN node n ON n.pk = t.node "  # noqa: S608
        f"WHERE t.tenant = ? AND t.context = ? AND t.kind = {TermKind.NAME:d} AND {where} "
        f"AND fold(n.subtype) {'<>' if what.subtype is None else '='} ? ORDER BY t.text, n.uid LIMIT ?",
        (what.tenant, what.context, *values, *([pack(after[1])] if after else []), what.subtype or ATTRIBUTE, limit),
    )
    return list(map(node_of, rows))


_READERS: dict[type[Scan[Any, Any]], Callable[[sqlite3.Connection, Any, Any, int], list[Any]]] = {
    Nodes: _nodes,
    Passages: _passages,
    Edges: _edges,
    Items: _items,
    Changes: _changes,
    Flows: _flows,
    FlowEvents: _thread,
    NamedNodes: _named,
    Steps: read_steps,
}
