"""Neo4jPendingExtractions: pending extractions, as records beside the items."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_shared.clock import MICROSECONDS, from_us
from vicw_shared.ports import Backlog, IndexFailure, PendingExtraction
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import pending_extractions
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement
from vicw_stores.neo4j.keys import pending_extraction_record, tenant_key

_ERROR_CHARS = 1000


@measured("neo4j", inside="unread")
class Neo4jPendingExtractions:
    """PendingExtractions on one database. All times are by the server's clock."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def claim(self, limit: int, *, seconds: float, items: Sequence[str] | None = None) -> list[PendingExtraction]:
        async def work(run: RunStatement) -> list[PendingExtraction]:
            ((last_tenant, now),) = await run(pending_extractions.LOCK_CLAIMS)
            values = {"now": now, "until": now + round(seconds * MICROSECONDS), "limit": limit}
            if items is not None:
                rows = await run(pending_extractions.CLAIM_ITEMS, records=_records(items), **values)
                return [PendingExtraction(**row.data()) for row in rows]
            tenant = await _next_tenant(run, last_tenant or "", now)
            if tenant is None:
                return []
            await run(pending_extractions.SET_LAST_TENANT, turn=tenant)
            return [
                PendingExtraction(**row.data()) for row in await run(pending_extractions.CLAIM, tenant=tenant, **values)
            ]

        return await self._database.write(work) if limit > 0 else []

    async def renew(self, item: str, *, seconds: float) -> None:
        extension = round(seconds * MICROSECONDS)
        await self._database.write(
            lambda run: run(pending_extractions.RENEW, record=pending_extraction_record(item), rest=extension)
        )

    async def postpone(self, item: str, *, seconds: float | None, error: str | None = None) -> None:
        delay = round(seconds * MICROSECONDS) if seconds is not None else None
        values = {"rest": delay, "error": error[:_ERROR_CHARS] if error is not None else None}
        await self._database.write(
            lambda run: run(pending_extractions.POSTPONE, record=pending_extraction_record(item), **values)
        )

    async def drop(self, item: str) -> None:
        await self._database.write(lambda run: run(pending_extractions.DROP, record=pending_extraction_record(item)))

    async def of(self, tenant: str, items: Sequence[str]) -> dict[str, PendingExtraction]:
        rows = await self._database.read(pending_extractions.FIND, records=_records(items), tenant=tenant)
        return {row["item"]: PendingExtraction(**row.data()) for row in rows}

    async def failures(self, tenant: str | None, limit: int) -> list[IndexFailure]:
        query = pending_extractions.failures(of_tenant=tenant is not None)
        rows = await self._database.read(query, tenant=tenant, limit=limit)
        return [IndexFailure(**row.data() | {"since": from_us(row["since"])}) for row in rows]

    async def replay(self, items: Sequence[str] | None = None, *, tenant: str | None = None) -> int:
        query = pending_extractions.replay(of_items=items is not None, of_tenant=tenant is not None)
        values = {"records": _records(items or ()), "tenant": tenant}
        (row,) = await self._database.write(lambda run: run(query, **values))
        return int(row["count"])

    async def backlog(self, tenant: str | None = None) -> Backlog:
        key = tenant_key(tenant) if tenant is not None else None
        (row,) = await self._database.read(pending_extractions.backlog(of_tenant=tenant is not None), tenant_key=key)
        return Backlog(row["waiting"], row["failing"], row["dead"])


async def queue_extractions(run: RunStatement, tenant: str, context: str, items: Sequence[str]) -> None:
    """Queue these items for extraction."""
    rows = [
        {"ordinal": number, "record": pending_extraction_record(item), "item": item}
        for number, item in enumerate(items)
    ]
    await run(pending_extractions.PUT, rows=rows, tenant=tenant, tenant_key=tenant_key(tenant), context=context)


async def dequeue_extraction(run: RunStatement, tenant: str, item: str) -> bool:
    """Remove an item from the queue; return whether it was queued."""
    (row,) = await run(pending_extractions.DEQUEUE, record=pending_extraction_record(item), tenant=tenant)
    return bool(row["count"])


async def _next_tenant(run: RunStatement, last_tenant: str, now: int) -> str | None:
    """Return the next tenant with due items after ``last_tenant``, wrapping around."""
    for after in dict.fromkeys((last_tenant, "")):
        for row in await run(pending_extractions.NEXT_TENANT, turn=after, now=now):
            return str(row["tenant"])
    return None


def _records(items: Sequence[str]) -> list[str]:
    return [pending_extraction_record(item) for item in items]
