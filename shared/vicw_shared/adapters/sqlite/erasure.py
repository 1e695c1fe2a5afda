"""Erasures in the graph's file: their records, the removal of receipts and steps, and scrubbing of free pages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from vicw_shared.adapters.sqlite.database import SqliteDatabase
from vicw_shared.ports import ErasureNote

_COUNT = "INSERT INTO meta VALUES ('erased', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"


class SqliteErasures:
    """Erasures over the database of a graph."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def erasures(self) -> list[ErasureNote]:
        sql = "SELECT id, number, tenant, body FROM erasure ORDER BY id, number"
        rows = await self._database.read(lambda c: c.execute(sql).fetchall())
        return [ErasureNote(erasure, number, tenant, json.loads(body)) for erasure, number, tenant, body in rows]

    async def erased(self) -> int:
        row = await self._database.read(lambda c: c.execute("SELECT value FROM meta WHERE key = 'erased'").fetchone())
        return int(row[0]) if row else 0

    async def count_erasure(self) -> None:
        await self._database.write(lambda c: c.execute(_COUNT))

    async def end_erasure(self, erasure: str) -> None:
        await self._database.write(lambda c: c.execute("DELETE FROM erasure WHERE id = ?", (erasure,)))

    async def scrub(self) -> None:
        """Rewrite the file, so that no free page, index or log holds removed data.

        Takes the time and the space of a copy. Raises StorageFullError, which leaves the file unchanged.
        """
        await self._database.write(_scrub)


def put_erasure_record(connection: sqlite3.Connection, note: ErasureNote) -> None:
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


def _scrub(connection: sqlite3.Connection) -> None:
    # The index keeps the words of a removed row until its segments are merged; only a new index has none of them.
    connection.execute("INSERT INTO fulltext (fulltext) VALUES ('rebuild')")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
