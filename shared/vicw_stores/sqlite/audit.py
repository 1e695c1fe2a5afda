"""Consistency check reads on SQLite: pages over all records."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import batched

from vicw_shared.model import Label, Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT, chain_key
from vicw_shared.ports import MAX_UNEXPECTED, ChainLink, Counters, PendingPoint, TermScope
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite import outbox_rows
from vicw_stores.sqlite.rows import marks, pack, unpack
from vicw_stores.sqlite.scans import SqliteScans
from vicw_stores.sqlite.term_statistics import read_wrong_counts, read_wrong_terms
from vicw_stores.sqlite.total_check import read_wrong_totals
from vicw_stores.sqlite.transaction import read_counters

_BATCH = 500
_ORDER = {NEXT: "unstepped, step, timestamp, flow_step", HAPPENED_AFTER: "timestamp, arrival"}
"""Order of each chain: the columns of its index."""
_ENDS = {NEXT: ("source", "target"), HAPPENED_AFTER: ("target", "source")}
"""Columns of the earlier and the later Event in the edges of each chain."""


def _follower(chain: str) -> str:
    columns = f"{_ORDER[chain]}, uid"
    flow = " AND flow_id = ? AND flow_step IS NOT NULL" if chain == NEXT else ""
    return (
        f"SELECT uid FROM node WHERE tenant = ? AND context = ?{flow} "  # noqa: S608
        "AND arrival IS NOT NULL AND retired_at IS NULL AND timestamp IS NOT NULL "
        f"AND ({columns}) > ({marks(columns.count(',') + 1)}) ORDER BY {columns} LIMIT 1"
    )


def _joined(chain: str) -> str:
    earlier, later = _ENDS[chain]
    return (
        f"SELECT l.uid FROM edge e JOIN node l ON l.pk = e.{later} "  # noqa: S608
        f"WHERE e.{earlier} = ? AND e.type = '{chain}'"
    )


FOLLOWER = {chain: _follower(chain) for chain in _ORDER}
"""Look-up of the follower in each chain, by the chain's index."""
_JOINED = {chain: _joined(chain) for chain in _ORDER}


@measured("sqlite")
class SqliteAudit(SqliteScans):
    """GraphAudit over the database of a graph."""

    async def count(self, label: Label) -> int:
        sql = "SELECT count(*) FROM node WHERE label = ?"
        return await self._database.read(lambda c: int(c.execute(sql, (label.value,)).fetchone()[0]))

    async def point_states(self, uids: Sequence[str]) -> dict[str, bool]:
        return await self._database.read(lambda c: outbox_rows.point_states(c, uids))

    async def wrong_terms(self, points: Sequence[PendingPoint]) -> set[str]:
        return await self._database.read(lambda c: read_wrong_terms(c, points))

    async def wrong_counts(self) -> list[TermScope]:
        terms = await self._database.read(read_wrong_counts)
        return sorted({*terms, *await self._database.read(read_wrong_totals)})

    async def belongs_to_counts(self, uids: Sequence[str]) -> dict[str, int]:
        def work(connection: sqlite3.Connection) -> dict[str, int]:
            counts: dict[str, int] = {}
            for batch in batched(uids, _BATCH):
                rows = connection.execute(
                    "SELECT n.uid, count(t.pk) FROM node n "  # noqa: S608
                    "LEFT JOIN edge e ON e.source = n.pk AND e.type = 'BELONGS_TO' LEFT JOIN node t ON t.pk = e.target "
                    f"WHERE n.uid IN ({marks(len(batch))}) GROUP BY n.uid",
                    tuple(map(pack, batch)),
                )
                counts.update((unpack(uid), count) for uid, count in rows)
            return counts

        return await self._database.read(work)

    async def merge_edges(self, uids: Sequence[str]) -> list[tuple[str, str]]:
        def work(connection: sqlite3.Connection) -> list[tuple[str, str]]:
            edges: list[tuple[str, str]] = []
            for batch in batched(uids, _BATCH):
                rows = connection.execute(
                    "SELECT s.uid, t.uid FROM node s JOIN edge e ON e.source = s.pk AND e.type = 'MERGED_INTO' "  # noqa: S608
                    f"JOIN node t ON t.pk = e.target WHERE s.uid IN ({marks(len(batch))})",
                    tuple(map(pack, batch)),
                )
                edges += [(unpack(source), unpack(target)) for source, target in rows]
            return edges

        return await self._database.read(work)

    async def chain_links(self, chain: str, events: Sequence[Node]) -> dict[str, ChainLink]:
        def work(connection: sqlite3.Connection) -> dict[str, ChainLink]:
            links = ((event.uid, _link(connection, chain, event)) for event in events)
            return {uid: link for uid, link in links if link is not None}

        return await self._database.read(work)

    async def uncounted(self, events: Sequence[Node]) -> set[str]:
        by_context: dict[tuple[str, str], list[Node]] = {}
        for event in events:
            by_context.setdefault((event.tenant, event.context), []).append(event)

        def work(connection: sqlite3.Connection) -> set[str]:
            behind: set[str] = set()
            for (tenant, context), group in by_context.items():
                flows = sorted({event.flow_id for event in group if event.flow_id is not None})
                counters = read_counters(connection, tenant, context, flows)
                behind |= {event.uid for event in group if _is_behind(counters, event)}
            return behind

        return await self._database.read(work)


def _link(connection: sqlite3.Connection, chain: str, event: Node) -> ChainLink | None:
    uid = pack(event.uid)
    stored = connection.execute("SELECT pk FROM node WHERE uid = ?", (uid,)).fetchone()
    if stored is None:
        return None
    follower: bytes | None = None
    if (key := chain_key(chain, event)) is not None:
        flow = (event.flow_id,) if chain == NEXT else ()
        width = _ORDER[chain].count(",") + 1
        values = (event.tenant, event.context, *flow, *key[:width], uid)
        row = connection.execute(FOLLOWER[chain], values).fetchone()
        follower = row[0] if row else None
    joined, unexpected = False, set[bytes]()
    for (later,) in connection.execute(_JOINED[chain], stored):
        if later == follower:
            joined = True
        elif len(unexpected) < MAX_UNEXPECTED:
            unexpected.add(later)
    return ChainLink(unpack(follower) if follower is not None else None, joined, tuple(map(unpack, unexpected)))


def _is_behind(counters: Counters, event: Node) -> bool:
    steps = counters.flow_steps.get(event.flow_id, 0) if event.flow_id is not None else None
    return counters.arrival < (event.arrival or 0) or (steps is not None and steps < (event.flow_step or 0))
