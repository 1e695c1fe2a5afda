"""Items and statements by time, and the times of items' statements, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import batched

from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Node
from vicw_shared.model.chain import in_time_order
from vicw_shared.model.core5 import LASTS
from vicw_shared.model.stated_times import Interval, stated_interval
from vicw_shared.ports import PassageTimes
from vicw_stores.sqlite.rows import NODE_COLUMNS, marks, node_of, pack, unpack

_BATCH = 500
_STATED = "label = 'Event' AND content_hash IS NULL AND timestamp_inferred = 0 AND timestamp IS NOT NULL"


def read_between(
    connection: sqlite3.Connection,
    tenant: str,
    span: Interval,
    contexts: Sequence[str] | None,
    limit: int,
    *,
    earliest: bool,
    stated: bool,
) -> list[Node]:
    """Return the items of a span, or its statements (``stated``): ``limit`` per context are read by an index."""
    condition, ties = (_STATED, "uid") if stated else ("arrival IS NOT NULL", "arrival")
    order = f"timestamp, {ties}" if earliest else f"timestamp DESC, {ties}{'' if stated else ' DESC'}"
    events: list[Node] = []
    for context in _contexts(connection, tenant, contexts):
        rows = connection.execute(
            f"SELECT {NODE_COLUMNS} FROM node WHERE tenant = ? AND context = ? AND {condition} "  # noqa: S608
            f"AND retired_at IS NULL AND timestamp >= ? AND timestamp < ? ORDER BY {order} LIMIT ?",
            (tenant, context, *map(to_us, span), limit),
        )
        events += map(node_of, rows)
    return in_time_order(events, earliest=earliest)[:limit]


def _contexts(connection: sqlite3.Connection, tenant: str, contexts: Sequence[str] | None) -> Iterator[str]:
    if contexts is not None:
        return iter(dict.fromkeys(contexts))
    roots = connection.execute("SELECT DISTINCT context FROM node WHERE label = 'Context' AND tenant = ?", (tenant,))
    return iter([name for (name,) in roots.fetchall()])


def read_stated_times(
    connection: sqlite3.Connection, tenant: str, items: Sequence[str]
) -> dict[str, list[PassageTimes]]:
    """Return the times of the statements of these items, an entry for each passage that has any."""
    uids = {pack(uid): uid for uid in items}
    stated: dict[tuple[str, str], list[Interval]] = {}
    untimed: set[tuple[str, str]] = set()
    for batch in batched(uids, _BATCH):
        rows = connection.execute(
            "SELECT i.uid, k.uid, s.timestamp_inferred, s.timestamp, s.qdrant_id = s.uid, "  # noqa: S608
            f"CASE WHEN s.timestamp_inferred = 0 THEN json_extract(s.metadata, '$.{LASTS}') END FROM node i "
            "JOIN edge p ON p.source = i.pk AND p.type = 'EVIDENCED_BY' JOIN node k ON k.pk = p.target "
            "JOIN edge e ON e.target = k.pk AND e.type = 'EVIDENCED_BY' JOIN node s ON s.pk = e.source "
            f"WHERE i.uid IN ({marks(len(batch))}) AND i.tenant = ? AND s.label = 'Event' AND s.content_hash IS NULL",
            (*batch, tenant),
        )
        for item, passage, inferred, timestamp, is_statement, lasts in rows:
            key = uids[item], unpack(passage)
            if not inferred and timestamp is not None:
                stated.setdefault(key, []).append(stated_interval(from_us(timestamp), lasts))
            elif is_statement:
                untimed.add(key)
    times: dict[str, list[PassageTimes]] = {}
    for item, passage in dict.fromkeys([*stated, *untimed]):
        key = item, passage
        times.setdefault(item, []).append(PassageTimes(passage, tuple(sorted(stated.get(key, ()))), key in untimed))
    return times
