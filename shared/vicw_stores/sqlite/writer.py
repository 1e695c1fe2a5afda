"""Writer of the graph's file: runs write transactions one after the other."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable

from vicw_core.background import finish
from vicw_stores.sqlite.database import SqliteDatabase


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
