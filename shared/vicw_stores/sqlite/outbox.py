"""SqliteOutbox: the outbox in the graph's file, written in the graph's transactions."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence

from vicw_shared.clock import MICROSECONDS, now, to_us
from vicw_shared.ports import Backlog, IndexFailure, PendingKind, PendingPoint, TermScope, UnindexedCounts
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite import outbox_rows
from vicw_stores.sqlite.database import SqliteDatabase, Writer
from vicw_stores.sqlite.rows import pack
from vicw_stores.sqlite.term_statistics import recount
from vicw_stores.sqlite.total_check import recount_items


@measured("sqlite")
class SqliteOutbox:
    """Outbox over the database of a graph that one process has open."""

    def __init__(self, database: SqliteDatabase, write: Writer) -> None:
        self._database = database
        self._write = write
        self._claiming = asyncio.Lock()
        # Claims belong to this process and end with it: no other process has the store open.
        self._claims: dict[bytes, float] = {}
        self._last_tenant = ""

    async def claim(self, limit: int, *, seconds: float, items: Sequence[str] | None = None) -> list[PendingPoint]:
        async with self._claiming:
            instant, clock = to_us(now()), time.monotonic()
            self._claims = {point: until for point, until in self._claims.items() if until > clock}

            def work(connection: sqlite3.Connection) -> list[PendingPoint]:
                if items is None:
                    seqs, self._last_tenant = outbox_rows.find_due(
                        connection, limit, instant, self._claims, self._last_tenant
                    )
                else:
                    seqs = outbox_rows.find_of_items(connection, items, limit, self._claims)
                return outbox_rows.read(connection, seqs)

            points = await self._database.read(work)
            self._claims |= {pack(point.point_id): clock + seconds for point in points}
            return points

    async def renew(self, points: Sequence[PendingPoint], *, seconds: float) -> int:
        clock = time.monotonic()
        claimed = [uid for uid in (pack(p.point_id) for p in points) if self._claims.get(uid, clock) > clock]
        self._claims.update(dict.fromkeys(claimed, clock + seconds))
        return len(claimed)

    async def acknowledge(self, points: Sequence[PendingPoint]) -> set[str]:
        orphans = await self._write(lambda c: outbox_rows.acknowledge(c, points))
        self._release(points)
        return orphans

    async def postpone(
        self, points: Sequence[PendingPoint], *, seconds: float | None, error: str | None = None
    ) -> None:
        instant, delay = to_us(now()), round(seconds * MICROSECONDS) if seconds is not None else None
        await self._write(lambda c: outbox_rows.postpone(c, points, instant, delay, error))
        self._release(points)

    def _release(self, points: Sequence[PendingPoint]) -> None:
        for point in points:
            self._claims.pop(pack(point.point_id), None)

    async def count_unindexed(self, tenant: str, item_uids: Sequence[str]) -> UnindexedCounts:
        return await self._database.read(lambda c: outbox_rows.count_unindexed(c, tenant, item_uids))

    async def waiting(self, tenant: str, *, contexts: Sequence[str] | None = None, limit: int) -> list[str]:
        if contexts is not None and not contexts:
            return []
        return await self._database.read(lambda c: outbox_rows.find_waiting(c, tenant, contexts, limit))

    async def failures(
        self, tenant: str | None, limit: int, *, items: Sequence[str] | None = None
    ) -> list[IndexFailure]:
        return await self._database.read(lambda c: outbox_rows.failures(c, tenant, limit, items))

    async def replay(self, points: Sequence[str] | None = None, *, tenant: str | None = None) -> int:
        return await self._write(lambda c: outbox_rows.replay(c, points, tenant))

    async def backlog(self, tenant: str | None = None) -> Backlog:
        tenant_filter = "" if tenant is None else "AND tenant = :tenant"
        sql = (
            f"SELECT (SELECT count(*) FROM outbox WHERE due_at IS NOT NULL {tenant_filter}), "  # noqa: S608
            f"count(due_at), count(*) - count(due_at) FROM outbox WHERE tries > 0 {tenant_filter}"
        )
        return await self._database.read(lambda c: Backlog(*c.execute(sql, {"tenant": tenant}).fetchone()))

    async def requeue(self, chunk_uids: Sequence[str], kind: PendingKind = PendingKind.UPSERT) -> int:
        return await self._write(lambda c: outbox_rows.queue(c, chunk_uids, kind))

    async def queued(self, chunk_uids: Sequence[str], *, failing: bool = True) -> set[str]:
        return await self._database.read(lambda c: outbox_rows.find_queued(c, chunk_uids, failing=failing))

    async def recount(self, scope: TermScope) -> None:
        def work(connection: sqlite3.Connection) -> None:
            recount(connection, scope)
            recount_items(connection, scope)

        await self._write(work)

    async def any_indexed(self) -> bool:
        sql = "SELECT EXISTS (SELECT 1 FROM node WHERE label = 'Chunk' AND indexed)"
        return await self._database.read(lambda c: bool(c.execute(sql).fetchone()[0]))
