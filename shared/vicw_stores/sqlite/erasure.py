"""Erasures in the graph's file: their records, the removal of receipts and steps, and scrubbing of free pages."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from itertools import batched

from vicw_shared.errors import UnavailableError
from vicw_shared.ports import ErasurePart
from vicw_stores.sqlite.database import SqliteDatabase, Writer
from vicw_stores.sqlite.outbox_rows import put_entries
from vicw_stores.sqlite.rows import marks, pack
from vicw_stores.sqlite.term_counts import drop_terms

_BATCH = 500
_TRIES = 120
_PAUSE_SECONDS = 0.5
_BUSY_MS = 200
_COUNT = "INSERT INTO meta VALUES ('erased', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"


class SqliteErasures:
    """Erasures over the database of a graph."""

    def __init__(self, database: SqliteDatabase, write: Writer) -> None:
        self._database = database
        self._write = write

    async def erasures(self) -> list[ErasurePart]:
        sql = "SELECT id, number, tenant, body FROM erasure ORDER BY id, number"
        rows = await self._database.read(lambda c: c.execute(sql).fetchall())
        return [ErasurePart(erasure, number, tenant, json.loads(body)) for erasure, number, tenant, body in rows]

    async def pending(self, tenant: str) -> int:
        sql = "SELECT count(*) FROM erasure WHERE tenant = ? AND number = 0"
        return await self._database.read(lambda c: int(c.execute(sql, (tenant,)).fetchone()[0]))

    async def erased(self) -> int:
        row = await self._database.read(lambda c: c.execute("SELECT value FROM meta WHERE key = 'erased'").fetchone())
        return int(row[0]) if row else 0

    async def count_erasure(self) -> None:
        await self._write(lambda c: c.execute(_COUNT))

    async def end_erasure(self, erasure: str) -> None:
        await self._write(lambda c: c.execute("DELETE FROM erasure WHERE id = ?", (erasure,)))

    async def scrub(self) -> None:
        """Rewrite the file, so that no free page, index or log holds removed data.

        Takes the time and the space of a copy; reads go on meanwhile, writes wait. Raises StorageFullError, which
        leaves the file unchanged; UnavailableError if others read an old state for so long that it cannot be removed.
        """
        await self._write.alone(_rewrite)
        for _ in range(_TRIES):
            if await self._write.alone(_checkpoint):
                return
            await asyncio.sleep(_PAUSE_SECONDS)  # writes go on while an export or a backup reads
        raise UnavailableError(
            "graph", "a long read of the store prevents the removal of what was erased; run it again"
        )


def put_erasure_record(connection: sqlite3.Connection, note: ErasurePart) -> None:
    """Store a part of an erasure's record, replacing one with the same number."""
    body = json.dumps(note.body, ensure_ascii=False)
    row = (note.erasure, note.number, note.tenant, body)
    connection.execute("INSERT OR REPLACE INTO erasure VALUES (?, ?, ?, ?)", row)


def drop_receipts(connection: sqlite3.Connection, tenant: str, keys: Sequence[str]) -> None:
    """Remove a tenant's receipts with these keys."""
    connection.executemany("DELETE FROM receipt WHERE tenant = ? AND key = ?", [(tenant, key) for key in keys])


def drop_steps(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Remove steps of the sleep cycle."""
    connection.executemany("DELETE FROM step WHERE id = ?", [(step_id,) for step_id in ids])


def _rewrite(connection: sqlite3.Connection) -> None:
    # The index keeps the words of a removed row until its segments are merged; only a new index has none of them.
    connection.execute("INSERT INTO fulltext (fulltext) VALUES ('rebuild')")
    connection.execute("VACUUM")


def _checkpoint(connection: sqlite3.Connection) -> bool:
    """Empty the log into the file; return whether nothing is left in it. It waits only briefly for running reads."""
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    try:
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")
    return not busy


def drop_nodes(connection: sqlite3.Connection, tenant: str, uids: Sequence[str]) -> None:
    """Remove these nodes of a tenant. Payloads that repeat an edge to one of them become pending."""
    for batch in batched(dict.fromkeys(uids), _BATCH):
        part = [pack(uid) for uid in batch]
        rows = connection.execute(
            f"SELECT pk, uid FROM node WHERE uid IN ({marks(len(part))}) AND tenant = ?",  # noqa: S608
            (*part, tenant),
        ).fetchall()
        keys, removed = [(pk,) for pk, _ in rows], [(uid,) for _, uid in rows]
        payload_entries: list[tuple[bytes, str, str]] = []
        for (pk,) in keys:
            payload_entries += connection.execute(
                "SELECT DISTINCT k.uid, k.tenant, 'payload' FROM edge e JOIN edge x ON x.source = e.source "
                "AND x.type = 'EVIDENCED_BY' JOIN node k ON k.pk = x.target AND k.label = 'Chunk' "
                "WHERE e.target = ? AND e.type IN ('ABOUT', 'TAGGED')",
                (pk,),
            ).fetchall()
        drop_terms(connection, [pk for pk, _ in rows])
        connection.executemany("DELETE FROM edge WHERE source = ?", keys)
        connection.executemany("DELETE FROM edge WHERE target = ?", keys)
        connection.executemany("DELETE FROM outbox WHERE point = ?", removed)
        connection.executemany("DELETE FROM unread WHERE item = ?", removed)
        connection.executemany("DELETE FROM passage_change WHERE point = ?", removed)
        connection.executemany("DELETE FROM item_use WHERE item = ?", removed)
        connection.executemany("DELETE FROM node WHERE pk = ?", keys)
        put_entries(connection, [row for row in payload_entries if (row[0],) not in removed])
