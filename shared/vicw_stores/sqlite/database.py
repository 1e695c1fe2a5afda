"""Connections and threads: one writer, a few readers, transactions, and the translation of SQLite's errors."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from vicw_core.background import finish
from vicw_shared.errors import StorageFullError, UnavailableError, VicwError
from vicw_shared.text import fold_case
from vicw_stores.sqlite.item_filter import stored_terms
from vicw_stores.sqlite.names import node_terms
from vicw_stores.sqlite.schema import migrate
from vicw_stores.sqlite.words import head_words, text_words, trigger_rows

MAPPED_MB = 256
_READERS = 3  # questions must not wait for reads of the indexer or of a check
_FULL = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
}


class SqliteDatabase:
    """Runs functions of a connection in threads of its own, so that the event loop never waits for the disk.

    A commit is durable once it returns (WAL, ``synchronous=FULL``).
    """

    def __init__(
        self, path: Path, prepare: Callable[[sqlite3.Connection], None] = migrate, *, mapped_mb: int = MAPPED_MB
    ) -> None:
        """Open the file; ``prepare`` migrates its schema to this program's version, or raises.

        Each connection maps at most ``mapped_mb`` MiB of the file into memory.
        """
        self._path = path
        self._mapped_bytes = mapped_mb * 2**20
        self._writer_thread = ThreadPoolExecutor(1, thread_name_prefix="sqlite-writer")
        self._reader_threads = ThreadPoolExecutor(_READERS, thread_name_prefix="sqlite-reader")
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._closed = False
        with translated():
            self._writer = self.connect()
            try:
                prepare(self._writer)
            except BaseException:
                self.close()  # a connection left open would keep its lock
                raise

    async def write[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` on the writer's connection. The caller begins and ends transactions."""
        return await self._run(self._writer_thread, lambda: work(self._writer))

    async def read[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` on a reader's connection: each of its statements sees the data committed when it began."""

        def framed() -> T:
            connection = self._reader()
            connection.execute("BEGIN")
            try:
                return work(connection)
            finally:
                connection.rollback()  # nothing was written; an error may have ended it already

        return await self._run(self._reader_threads, framed)

    def close(self) -> None:
        """Wait for running work, then close. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        self._writer_thread.shutdown()
        self._reader_threads.shutdown()
        for connection in self._open:
            connection.close()

    async def _run[T](self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._closed:
            raise UnavailableError("graph", "the store is closed")
        with translated():
            return await asyncio.get_running_loop().run_in_executor(pool, work)

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self.connect()
        return connection

    def connect(self) -> sqlite3.Connection:
        """Open another connection; it is closed with the database at the latest."""
        connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=30
        )
        connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
            f"PRAGMA mmap_size = {self._mapped_bytes}; PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY;"
        )
        connection.create_function("fold", 1, fold_case, deterministic=True)
        connection.create_function("head_words", 4, head_words, deterministic=True)
        connection.create_function("metadata_terms", 1, stored_terms, deterministic=True)
        connection.create_function("node_terms", 5, node_terms, deterministic=True)
        connection.create_function("text_words", 1, text_words, deterministic=True)
        connection.create_function("trigger_rows", 3, trigger_rows, deterministic=True)
        self._open.append(connection)
        return connection


class Writer:
    """Wraps writes in transactions; a write that raises is rolled back."""

    def __init__(self, database: SqliteDatabase, commit: Callable[[sqlite3.Connection], None]) -> None:
        self._database = database
        self._commit = commit
        self._writing = asyncio.Lock()

    async def __call__[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` as one transaction of its own."""

        def framed(connection: sqlite3.Connection) -> T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                self._commit(connection)
            except BaseException:
                connection.rollback()
                raise
            return result

        async with self._writing:
            return await finish(self._database.write(framed))

    async def run[T](self, work: Callable[[], Awaitable[T]]) -> T:
        """Run ``work``, which writes in several steps, as one transaction."""
        async with self._writing:
            # A cancelled request still has to end its transaction, which would otherwise block the next one.
            return await finish(self._transact(work))

    async def alone[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` outside of any transaction, while no other write runs."""
        async with self._writing:
            return await finish(self._database.write(work))

    async def _transact[T](self, work: Callable[[], Awaitable[T]]) -> T:
        await self._database.write(lambda c: c.execute("BEGIN IMMEDIATE"))
        try:
            result = await work()
            await self._database.write(self._commit)
        except BaseException:
            await self._database.write(lambda c: c.rollback())
            raise
        return result


@contextmanager
def translated() -> Iterator[None]:
    """Translate SQLite's errors into the error tree; other exceptions pass."""
    try:
        yield
    except VicwError:
        raise
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code in _FULL:
            raise StorageFullError("The disk is full. Make room; nothing of this request was stored") from error
        raise UnavailableError("graph", f"SQLite: {error}") from error
