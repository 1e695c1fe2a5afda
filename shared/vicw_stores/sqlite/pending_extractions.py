"""SqlitePendingExtractions: pending extractions in the graph's file, written in the graph's transactions."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import batched

from vicw_shared.clock import MICROSECONDS, from_us, now, to_us
from vicw_shared.ports import Backlog, IndexFailure, PendingExtraction
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import SqliteDatabase, Writer
from vicw_stores.sqlite.rows import marks, pack, unpack

_BATCH = 500
_PUT = "INSERT OR REPLACE INTO unread (item, tenant, context) VALUES (?, ?, ?)"
_DEQUEUE = "DELETE FROM unread WHERE item = ? AND tenant = ?"
_NEXT = "SELECT min(tenant) FROM unread WHERE due_at <= ? AND tenant > ?"
_DUE = "SELECT item, tenant, context, tries FROM unread WHERE tenant = ? AND due_at <= ? ORDER BY due_at, seq LIMIT ?"
_POSTPONE = (
    "UPDATE unread SET due_at = :due_at, tries = tries + (:error IS NOT NULL), error = ifnull(:error, error), "
    "failed_at = CASE WHEN :error IS NULL THEN failed_at ELSE ifnull(failed_at, :now) END WHERE item = :item"
)
_REPLAY = "UPDATE unread SET due_at = 0, tries = 0, error = NULL, failed_at = NULL WHERE tries > 0"


@measured("sqlite", inside="unread")
class SqlitePendingExtractions:
    """PendingExtractions over the database of a graph that one process has open."""

    def __init__(self, database: SqliteDatabase, write: Writer) -> None:
        self._database = database
        self._write = write
        # Claims belong to this process and end with it: no other process has the store open.
        self._claiming = asyncio.Lock()
        self._claims: dict[str, float] = {}
        self._last_tenant = ""

    async def claim(self, limit: int, *, seconds: float, items: Sequence[str] | None = None) -> list[PendingExtraction]:
        async with self._claiming:
            instant, clock = to_us(now()), time.monotonic()
            self._claims = {item: until for item, until in self._claims.items() if until > clock}

            def work(connection: sqlite3.Connection) -> list[PendingExtraction]:
                if items is None:
                    return self._next(connection, limit, instant)
                due_items = [entry for entry, due in _find(connection, items) if due is not None and due <= instant]
                return [entry for entry in due_items if entry.item not in self._claims][:limit]

            claimed = await self._database.read(work)
            self._claims |= {entry.item: clock + seconds for entry in claimed}
            return claimed

    def _next(self, connection: sqlite3.Connection, limit: int, instant: int) -> list[PendingExtraction]:
        """Return due, unclaimed items of the next tenant that has any, wrapping around."""
        after, wrapped = self._last_tenant, not self._last_tenant
        while True:
            (tenant,) = connection.execute(_NEXT, (instant, after)).fetchone()
            if tenant is None:
                if wrapped:
                    return []
                after, wrapped = "", True
                continue
            rows = connection.execute(_DUE, (tenant, instant, limit + len(self._claims)))
            unclaimed = [entry for entry in map(_entry, rows) if entry.item not in self._claims][:limit]
            if unclaimed:
                self._last_tenant = tenant
                return unclaimed
            after = tenant

    async def renew(self, item: str, *, seconds: float) -> None:
        if item in self._claims:
            self._claims[item] = time.monotonic() + seconds

    async def postpone(self, item: str, *, seconds: float | None, error: str | None = None) -> None:
        instant = to_us(now())
        due_at = instant + round(seconds * MICROSECONDS) if seconds is not None else None
        values = {"item": pack(item), "now": instant, "due_at": due_at, "error": error}
        await self._write(lambda c: c.execute(_POSTPONE, values))
        self._claims.pop(item, None)

    async def drop(self, item: str) -> None:
        await self._write(lambda c: c.execute("DELETE FROM unread WHERE item = ?", (pack(item),)))

    async def of(self, tenant: str, items: Sequence[str]) -> dict[str, PendingExtraction]:
        entries = await self._database.read(lambda c: _find(c, items))
        return {entry.item: replace(entry, dead=due is None) for entry, due in entries if entry.tenant == tenant}

    async def failures(self, tenant: str | None, limit: int) -> list[IndexFailure]:
        sql = (
            "SELECT u.item, u.tenant, u.context, n.source_id, u.tries, u.error, u.failed_at, u.due_at IS NULL "
            "FROM unread u LEFT JOIN node n ON n.uid = u.item WHERE u.tries > 0 AND (u.tenant = ? OR ? IS NULL) "
            "ORDER BY u.tries DESC, u.seq LIMIT ?"
        )

        def work(connection: sqlite3.Connection) -> list[IndexFailure]:
            return [
                IndexFailure(
                    unpack(uid), owner, context, unpack(uid), source, tries, error or "", from_us(since), bool(dead)
                )
                for uid, owner, context, source, tries, error, since, dead in connection.execute(
                    sql, (tenant, tenant, limit)
                )
            ]

        return await self._database.read(work)

    async def replay(self, items: Sequence[str] | None = None, *, tenant: str | None = None) -> int:
        tenant_filter, values = ("", ()) if tenant is None else (" AND tenant = ?", (tenant,))

        def work(connection: sqlite3.Connection) -> int:
            if items is None:
                return connection.execute(_REPLAY + tenant_filter, values).rowcount
            return sum(
                connection.execute(
                    f"{_REPLAY}{tenant_filter} AND item IN ({marks(len(part))})", (*values, *map(pack, part))
                ).rowcount
                for part in batched(dict.fromkeys(items), _BATCH)
            )

        return await self._write(work)

    async def backlog(self, tenant: str | None = None) -> Backlog:
        tenant_filter = "" if tenant is None else "AND tenant = :tenant"
        sql = (
            f"SELECT (SELECT count(*) FROM unread WHERE due_at IS NOT NULL {tenant_filter}), "  # noqa: S608
            f"count(due_at), count(*) - count(due_at) FROM unread WHERE tries > 0 {tenant_filter}"
        )
        return await self._database.read(lambda c: Backlog(*c.execute(sql, {"tenant": tenant}).fetchone()))


def queue_extractions(connection: sqlite3.Connection, tenant: str, context: str, items: Sequence[str]) -> None:
    """Queue these items for extraction."""
    connection.executemany(_PUT, [(pack(item), tenant, context) for item in items])


def dequeue_extraction(connection: sqlite3.Connection, tenant: str, item: str) -> bool:
    """Remove an item from the queue; return whether it was queued."""
    return connection.execute(_DEQUEUE, (pack(item), tenant)).rowcount > 0


def _find(connection: sqlite3.Connection, items: Sequence[str]) -> list[tuple[PendingExtraction, int | None]]:
    """Return the queued items among these, with their due time (None: dead)."""
    entries: list[tuple[PendingExtraction, int | None]] = []
    for part in batched(items, _BATCH):
        rows = connection.execute(
            f"SELECT item, tenant, context, tries, due_at FROM unread WHERE item IN ({marks(len(part))}) ORDER BY seq",  # noqa: S608
            tuple(map(pack, part)),
        )
        entries += [(_entry(row[:4]), row[4]) for row in rows]
    return entries


def _entry(row: Sequence[object]) -> PendingExtraction:
    uid, tenant, context, tries = row
    assert isinstance(uid, bytes) and isinstance(tries, int)
    return PendingExtraction(unpack(uid), str(tenant), str(context), tries)
