"""Outbox on Neo4j: properties of Chunks.

An entry is part of its Chunk and is removed with it: the points of a removed Chunk are deleted by the code that removed
it, by an indexer that wrote them later, or by the reconciler. DELETE entries exist only for Chunks that prove no item.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from neo4j import Record

from vicw_shared.clock import MICROSECONDS, from_us
from vicw_shared.ports import Backlog, IndexFailure, PendingKind, PendingPoint, TermScope, UnindexedCounts
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import nodes, outbox, term_counts
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement
from vicw_stores.neo4j.keys import home_key, tenant_key
from vicw_stores.neo4j.rows import is_node, node_of
from vicw_stores.neo4j.term_counts import merge_records, put_terms, recount

_PAGE = 2000
_ERROR_CHARS = 1000


@measured("neo4j")
class Neo4jOutbox:
    """Outbox on one database. All times are by the server's clock."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def claim(self, limit: int, *, seconds: float, items: Sequence[str] | None = None) -> list[PendingPoint]:
        async def work(run: RunStatement) -> list[PendingPoint]:
            ((last_tenant, now),) = await run(outbox.LOCK_CLAIMS)
            if items is None:
                uids = await _next_round_robin(run, limit, last_tenant or "", now)
            else:
                uids = [r["uid"] for r in await run(outbox.DUE_OF_ITEMS, items=list(items), now=now, limit=limit)]
            if not uids:
                return []
            until = now + round(seconds * MICROSECONDS)
            rows = await run(outbox.CLAIM, uids=uids, now=now, until=until, resting=items is not None)
            points = {row["uid"]: point_of(row) for row in rows}
            return [points[uid] for uid in uids if uid in points]

        return await self._database.write(work) if limit > 0 else []

    async def renew(self, points: Sequence[PendingPoint], *, seconds: float) -> int:
        if not points:
            return 0
        extension = round(seconds * MICROSECONDS)
        (row,) = await self._database.write(lambda run: run(outbox.RENEW_CLAIM, points=_rows(points), rest=extension))
        return int(row["count"])

    async def acknowledge(self, points: Sequence[PendingPoint]) -> set[str]:
        ids = {part.point_id for point in points for part in point.parts}

        async def work(run: RunStatement) -> tuple[set[str], list[TermScope]]:
            full = await put_terms(run, points, await run(term_counts.UNCHANGED, points=_rows(points)))
            await run(outbox.ACKNOWLEDGE, points=_rows(points))
            return ids - {row["uid"] for row in await run(nodes.POINT_STATES, uids=sorted(ids))}, full

        if not points:
            return set()
        orphans, full = await self._database.write(work)
        await merge_records(self._database, full)
        return orphans

    async def postpone(
        self, points: Sequence[PendingPoint], *, seconds: float | None, error: str | None = None
    ) -> None:
        if points:
            message = error[:_ERROR_CHARS] if error is not None else None
            delay = round(seconds * MICROSECONDS) if seconds is not None else None
            await self._database.write(
                lambda run: run(outbox.POSTPONE, points=_rows(points), rest=delay, error=message)
            )

    async def count_unindexed(self, tenant: str, item_uids: Sequence[str]) -> UnindexedCounts:
        (row,) = await self._database.read(outbox.COUNT_UNINDEXED, items=list(item_uids), tenant=tenant)
        return UnindexedCounts(row["waiting"], row["dead"])

    async def waiting(self, tenant: str, *, contexts: Sequence[str] | None = None, limit: int) -> list[str]:
        homes = [home_key(tenant, context) for context in contexts or ()]
        query = outbox.waiting(of_contexts=contexts is not None)
        rows = await self._database.read(query, homes=homes, tenant_key=tenant_key(tenant), limit=limit)
        return [row["uid"] for row in rows]

    async def failures(
        self, tenant: str | None, limit: int, *, items: Sequence[str] | None = None
    ) -> list[IndexFailure]:
        query = outbox.failures(of_items=items is not None, of_tenant=tenant is not None)
        rows = await self._database.read(query, items=list(items or ()), tenant=tenant, limit=limit)
        return [IndexFailure(**row.data() | {"since": from_us(row["since"])}) for row in rows]

    async def backlog(self, tenant: str | None = None) -> Backlog:
        key = tenant_key(tenant) if tenant is not None else None
        (row,) = await self._database.read(outbox.backlog(of_tenant=tenant is not None), tenant_key=key)
        return Backlog(row["waiting"], row["failing"], row["dead"])

    async def requeue(self, chunk_uids: Sequence[str], kind: PendingKind = PendingKind.UPSERT) -> int:
        query = outbox.REQUEUE if kind is PendingKind.UPSERT else outbox.REQUEUE_PAYLOADS
        (row,) = await self._database.write(lambda run: run(query, uids=list(chunk_uids)))
        return int(row["count"])

    async def replay(self, points: Sequence[str] | None = None, *, tenant: str | None = None) -> int:
        of_tenant = tenant is not None
        if points is None:
            return await self._write_pages(outbox.replay(of_points=False, of_tenant=of_tenant), tenant=tenant)
        query, uids = outbox.replay(of_points=True, of_tenant=of_tenant), list(points)
        (row,) = await self._database.write(lambda run: run(query, uids=uids, tenant=tenant, limit=len(uids)))
        return int(row["count"])

    async def recount(self, scope: TermScope) -> None:
        await self._database.write(lambda run: recount(run, scope))

    async def any_indexed(self) -> bool:
        return bool(await self._database.read(nodes.ANY_INDEXED))

    async def _write_pages(self, query: str, **values: Any) -> int:
        """Write page by page: a single transaction for all entries would exceed the server's memory."""
        count, after = 0, ""
        while True:

            async def work(run: RunStatement, after: str = after) -> Record:
                (row,) = await run(query, after=after, limit=_PAGE, **values)
                return row

            row = await self._database.write(work)
            if not row["count"]:
                return count
            count, after = count + row["count"], row["last"]
            await asyncio.sleep(0)

    async def queued(self, chunk_uids: Sequence[str], *, failing: bool = True) -> set[str]:
        rows = await self._database.read(outbox.QUEUED, uids=list(chunk_uids), failing=failing)
        return {row["uid"] for row in rows}


async def _next_round_robin(run: RunStatement, limit: int, last_tenant: str, now: int) -> list[str]:
    """Return due entries of the tenants after ``last_tenant``, then of the others, round-robin, one per tenant."""
    served: list[tuple[str, str]] = []
    start, wrapped = last_tenant, False
    while len(served) < limit:
        (row,) = await run(outbox.tenants(), turn=start, now=now)
        tenants = [name for name in row["tenants"] if name is not None]
        ended = None in row["tenants"]
        if wrapped:
            tenants = [name for name in tenants if name <= last_tenant]
            ended = ended or not tenants or tenants[-1] >= last_tenant
        if tenants:
            served += _interleave(tenants, await run(outbox.DUE, tenants=tenants, now=now, limit=limit))
            start = tenants[-1]
        if ended:
            if wrapped or not last_tenant:
                break
            start, wrapped = "", True
    served = served[:limit]
    if served:
        await run(outbox.SET_LAST_TENANT, turn=served[-1][1])
    return [uid for uid, _ in served]


def _interleave(tenants: Sequence[str], rows: Sequence[Record]) -> list[tuple[str, str]]:
    """Return entries with their tenants: the oldest of each tenant, then the second of each, and so on."""
    queues: dict[str, list[tuple[str, str]]] = {name: [] for name in tenants}
    for row in sorted(rows, key=lambda row: row["due"]):
        queues[row["tenant"]].append((row["uid"], row["tenant"]))
    return [entry for layer in zip_longest(*queues.values()) for entry in layer if entry is not None]


def point_of(row: Record) -> PendingPoint:
    """Return an entry with the data of its payload."""
    marks: list[list[str]] = row["marks"] or []
    if not is_node(row["item"]):  # the Chunk proves no item, so no search may find it
        return PendingPoint(row["seq"], row["uid"], PendingKind.DELETE, None, None, tries=row["tries"] or 0)
    return PendingPoint(
        seq=row["seq"],
        point_id=row["uid"],
        kind=PendingKind(row["kind"]),
        chunk=node_of(row["chunk"]),
        item=node_of(row["item"]),
        about=tuple(name for names in row["about"] or () for name in names),
        tags=tuple(name for kind, *names in marks if kind != "bucket" for name in names),
        buckets=tuple(name for kind, *names in marks if kind == "bucket" for name in names),
        tries=row["tries"] or 0,
        statements=tuple(
            node_of(statement)
            for statement in sorted(filter(is_node, row["statements"]), key=lambda statement: str(statement["uid"]))
        ),
    )


def _rows(points: Sequence[PendingPoint]) -> list[dict[str, Any]]:
    return [{"uid": point.point_id, "seq": point.seq, "kind": point.kind.value} for point in points]
