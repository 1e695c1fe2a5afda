"""Item look-ups outside a write, item views, and live texts by text key, on SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from itertools import batched

from vicw_shared.clock import to_us
from vicw_shared.model import Node
from vicw_shared.model.core5 import SYSTEM_VERSION
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.ports import ItemRef, ItemView
from vicw_shared.text import fold_case
from vicw_stores.sqlite.rows import (
    ITEM_COLUMNS,
    NODE_COLUMNS,
    PART_COLUMNS,
    columns_of,
    item_ref,
    marks,
    node_of,
    pack,
    part_of,
    unpack,
)

_BATCH = 500


def read_items(connection: sqlite3.Connection, tenant: str, source_id: str, contexts: Sequence[str]) -> list[Node]:
    """Return the latest version of an item in each context that has one."""
    latest: dict[str, Node] = {}
    for batch in batched(contexts, _BATCH):
        rows = connection.execute(
            f"SELECT {NODE_COLUMNS} FROM node WHERE tenant = ? AND context IN ({marks(len(batch))}) "  # noqa: S608
            "AND source_id = ? AND label <> 'Chunk' ORDER BY version",
            (tenant, *batch, source_id),
        )
        latest |= {node.context: node for node in map(node_of, rows)}
    return [latest[context] for context in sorted(latest)]


def read_expired(connection: sqlite3.Connection, before: datetime, limit: int) -> list[Node]:
    """Return live items with ``expires_at`` at or before an instant, the longest expired first."""
    rows = connection.execute(
        f"SELECT {NODE_COLUMNS} FROM node WHERE expires_at IS NOT NULL AND content_hash IS NOT NULL "  # noqa: S608
        "AND retired_at IS NULL AND expires_at <= ? AND label <> 'Chunk' ORDER BY expires_at, pk LIMIT ?",
        (to_us(before), limit),
    )
    return list(map(node_of, rows))


def read_owners(connection: sqlite3.Connection, tenant: str, chunk_uids: Sequence[str]) -> dict[str, ItemRef]:
    """Return the item that each Chunk proves."""
    owners: dict[str, ItemRef] = {}
    packed = {pack(uid): uid for uid in chunk_uids}
    for batch in batched(packed, _BATCH):
        rows = connection.execute(
            f"SELECT k.uid, {ITEM_COLUMNS} FROM node k "  # noqa: S608
            "JOIN edge e ON e.target = k.pk AND e.type = 'EVIDENCED_BY' "
            "JOIN node i ON i.pk = e.source AND i.content_hash IS NOT NULL "
            # Filtered by the item's tenant, since the item's row is read anyway and the passage's is not.
            f"WHERE k.uid IN ({marks(len(batch))}) AND i.tenant = ?",
            (*batch, tenant),
        )
        owners.update((packed[row[0]], item_ref(row[1:])) for row in rows)
    for batch in batched([pack(uid) for uid, item in owners.items() if item.is_macro], _BATCH):
        rows = connection.execute(
            f"SELECT k.uid, {PART_COLUMNS} FROM node k "  # noqa: S608
            f"WHERE k.uid IN ({marks(len(batch))}) AND k.version <> {SYSTEM_VERSION}",
            batch,
        )
        owners.update((packed[uid], part_of(owners[packed[uid]], row)) for uid, *row in rows)
    return owners


LIVE = "content_hash IS NOT NULL AND label <> 'Chunk' AND retired_at IS NULL"


def read_item_views(connection: sqlite3.Connection, tenant: str, uids: Sequence[str]) -> list[ItemView]:
    """Return the live items among ``uids``, in uid order."""
    views: list[ItemView] = []
    for batch in batched(sorted(set(uids)), _BATCH):
        rows = connection.execute(
            f"SELECT pk, {NODE_COLUMNS} FROM node WHERE uid IN ({marks(len(batch))}) "  # noqa: S608
            f"AND tenant = ? AND {LIVE} ORDER BY uid",
            (*map(pack, batch), tenant),
        )
        views += with_edges(connection, rows.fetchall())
    return views


def with_edges(connection: sqlite3.Connection, rows: Sequence[Sequence[object]]) -> list[ItemView]:
    """Return the views of these items (pk, then NODE_COLUMNS)."""
    passages: dict[object, list[Node]] = {}
    names: dict[tuple[object, str], set[str]] = {}
    for batch in batched((row[0] for row in rows), _BATCH):
        proofs = connection.execute(
            f"SELECT e.source, {columns_of('k')} FROM edge e JOIN node k ON k.pk = e.target "  # noqa: S608
            f"WHERE e.source IN ({marks(len(batch))}) AND e.type = 'EVIDENCED_BY' ORDER BY k.uid",
            batch,
        )
        for item, *passage in proofs:
            passages.setdefault(item, []).append(node_of(passage))
        named = connection.execute(
            "SELECT e.source, e.type, e.told_by, i.uid, t.name, t.uid, t.subtype, t.aliases FROM edge e "  # noqa: S608
            "JOIN node t ON t.pk = e.target JOIN node i ON i.pk = e.source "
            f"WHERE e.source IN ({marks(len(batch))}) AND e.type IN ('ABOUT', 'TAGGED', 'AUTO_TAGGED')",
            batch,
        )
        for item, kind, source_item, item_uid, name, uid, subtype, aliases in named:
            if kind == "ABOUT":
                names.setdefault((item, kind), set()).update((name, *json.loads(aliases), unpack(uid)))
            elif kind == AUTO_TAGGED:
                names.setdefault((item, kind), set()).add(name)
            elif source_item is None or source_item == unpack(item_uid):
                names.setdefault((item, "bucket" if fold_case(subtype) == "bucket" else "tag"), set()).add(name)
    return [
        ItemView(
            node_of(row[1:]),
            tuple(passages.get(row[0], ())),
            *(tuple(sorted(names.get((row[0], kind), ()))) for kind in ("tag", "bucket", "ABOUT", AUTO_TAGGED)),
        )
        for row in rows
    ]


def read_by_text_key(
    connection: sqlite3.Connection, tenant: str, keys: Sequence[str], contexts: Sequence[str] | None, limit: int
) -> dict[str, list[Node]]:
    """Return the live nodes with each of these keys, at most ``limit`` per key, oldest first."""
    within = "" if contexts is None else f"AND context IN ({marks(len(contexts))}) "
    nodes: dict[str, list[Node]] = {}
    for batch in batched(dict.fromkeys(keys), _BATCH):
        rows = connection.execute(
            f"WITH wanted (key) AS (VALUES {', '.join(['(?)'] * len(batch))}) "  # noqa: S608
            f"SELECT {columns_of('n')} FROM wanted w CROSS JOIN node n ON n.pk IN ("
            "SELECT pk FROM node WHERE tenant = ? AND text_key = w.key AND text_key IS NOT NULL "
            f"AND retired_at IS NULL {within}ORDER BY created_at, pk LIMIT ?) ORDER BY n.created_at, n.pk",
            (*batch, tenant, *(contexts or ()), limit),
        )
        for node in map(node_of, rows):
            nodes.setdefault(node.text_key or "", []).append(node)
    return nodes
