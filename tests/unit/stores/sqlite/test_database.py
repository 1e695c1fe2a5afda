"""Reads of the embedded graph, of several statements each, beside writes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from vicw_stores.sqlite.database import SqliteDatabase


@pytest.fixture
def database(store: Path) -> SqliteDatabase:
    def prepare(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE told (number INTEGER)")

    store.mkdir(parents=True)
    return SqliteDatabase(store / "some.sqlite3", prepare)


async def test_all_statements_of_a_read_see_the_same_data_whatever_is_written_meanwhile(
    database: SqliteDatabase, store: Path
) -> None:
    other = database.connect()

    def work(connection: sqlite3.Connection) -> list[int]:
        seen = []
        for number in range(3):
            seen += connection.execute("SELECT count(*) FROM told").fetchone()
            other.execute("INSERT INTO told VALUES (?)", (number,))
        return seen

    assert await database.read(work) == [0, 0, 0]
    assert await database.read(lambda c: c.execute("SELECT count(*) FROM told").fetchone()) == (3,)
    database.close()


async def test_a_read_that_fails_leaves_its_connection_usable(database: SqliteDatabase) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("SELECT count(*) FROM told").fetchone()
        raise ValueError("of this read")

    for _ in range(9):  # more than there are connections
        with pytest.raises(ValueError, match="of this read"):
            await database.read(fail)
    assert await database.read(lambda c: c.execute("SELECT count(*) FROM told").fetchone()) == (0,)
    database.close()
