"""Item look-ups outside a write, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from itertools import batched

from vicw_shared.adapters.sqlite.rows import (
    ITEM_COLUMNS,
    NODE_COLUMNS,
    PART_COLUMNS,
    item_ref,
    marks,
    node_of,
    pack,
    part_of,
)
from vicw_shared.clock import to_us
from vicw_shared.model import Node
from vicw_shared.model.chain import latest_first
from vicw_shared.model.core5 import OF_NOBODY
from vicw_shared.ports import ItemRef

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


def read_between(
    connection: sqlite3.Connection,
    tenant: str,
    span: tuple[datetime, datetime],
    contexts: Sequence[str] | None,
    limit: int,
) -> list[Node]:
    """Return Events of a span, latest first, read by the HAPPENED_AFTER chain's index: ``limit`` per context."""
    if contexts is None:
        roots = connection.execute(
            "SELECT DISTINCT context FROM node WHERE label = 'Context' AND tenant = ?", (tenant,)
        )
        contexts = [name for (name,) in roots.fetchall()]
    start, end = map(to_us, span)
    events: list[Node] = []
    for context in dict.fromkeys(contexts):
        rows = connection.execute(
            f"SELECT {NODE_COLUMNS} FROM node WHERE tenant = ? AND context = ? AND arrival IS NOT NULL "  # noqa: S608
            "AND retired_at IS NULL AND timestamp >= ? AND timestamp < ? ORDER BY timestamp DESC, arrival DESC LIMIT ?",
            (tenant, context, start, end, limit),
        )
        events += map(node_of, rows)
    return latest_first(events)[:limit]


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
            f"WHERE k.uid IN ({marks(len(batch))}) AND k.version <> {OF_NOBODY}",
            batch,
        )
        owners.update((packed[uid], part_of(owners[packed[uid]], row)) for uid, *row in rows)
    return owners
