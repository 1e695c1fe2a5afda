"""Version of the words of the full text, and their conversion, in the graph's file."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vicw_core.index import sparse
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import SqliteDatabase, Writer
from vicw_stores.sqlite.outbox_rows import read_chunks
from vicw_stores.sqlite.rows import marks, pack
from vicw_stores.sqlite.term_counts import put_terms
from vicw_stores.sqlite.words import head_words, text_words

_PUT = "INSERT OR REPLACE INTO meta VALUES ('words', ?)"
_FIRST = 1
"""Version of the words of a store that has no record of it."""


@measured("sqlite")
class SqliteWords:
    """StoredWords over the database of a graph."""

    def __init__(self, database: SqliteDatabase, write: Writer) -> None:
        self._database = database
        self._write = write
        self._lock: tuple[str, float] | None = None

    async def converted(self) -> str | None:
        return await self._database.read(read_converted)

    async def lock(self, holder: str, *, seconds: float) -> bool:
        # In memory, like claims: no other process has the store open.
        if self._lock is not None and self._lock[0] != holder and self._lock[1] > time.monotonic():
            return False
        self._lock = (holder, time.monotonic() + seconds)
        return True

    async def renew(self, chunks: Sequence[str], *, holder: str) -> bool:
        def work(connection: sqlite3.Connection) -> None:
            _renew(connection, chunks)
            put_terms(connection, read_chunks(connection, chunks))
            _record(connection, {"version": sparse.VERSION, "place": max(chunks)})

        return await self._run(holder, work)

    async def complete(self, *, holder: str) -> bool:
        return await self._run(holder, record_current)

    async def _run(self, holder: str, work: Callable[[sqlite3.Connection], None]) -> bool:
        if self._lock is None or self._lock[0] != holder:
            return False
        await self._write(work)
        return True


def read_converted(connection: sqlite3.Connection) -> str | None:
    """Return the uid up to which the words of the Chunks are of this program's version ("": none); None: of all."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'words'").fetchone()
    record: dict[str, Any] = json.loads(row[0]) if row else {"version": _FIRST, "place": None}
    place: str | None = record["place"]
    return place if record["version"] == sparse.VERSION else ""


def record_current(connection: sqlite3.Connection) -> None:
    """Record that all words of the store are of this program's version."""
    _record(connection, {"version": sparse.VERSION, "place": None})


def _record(connection: sqlite3.Connection, record: Mapping[str, object]) -> None:
    connection.execute(_PUT, (json.dumps(record),))


def _renew(connection: sqlite3.Connection, chunks: Sequence[str]) -> None:
    rows = connection.execute(
        "SELECT k.pk, k.text, i.name, i.title, i.tags, i.bucket FROM node k LEFT JOIN node i "  # noqa: S608
        "ON i.qdrant_id = k.uid AND i.content_hash IS NOT NULL AND i.label <> 'Chunk' "
        f"WHERE k.uid IN ({marks(len(chunks))}) AND k.label = 'Chunk'",
        tuple(map(pack, chunks)),
    ).fetchall()
    # Without an item of its own, a consolidated one's first passage keeps the head that it had.
    entries = [(head_words(*head) if head[0] is not None else None, text_words(text), pk) for pk, text, *head in rows]
    connection.executemany("UPDATE fulltext SET head = ifnull(?, head), text = ? WHERE rowid = ?", entries)
