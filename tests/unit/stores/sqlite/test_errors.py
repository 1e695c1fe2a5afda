"""What SQLite says, in our words; and a migration that fails leaves what was there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from vicw_shared.errors import MissingRecordError, StateConflictError, StorageFullError, UnavailableError, VicwError
from vicw_stores.sqlite import schema
from vicw_stores.sqlite.database import SqliteDatabase, translated


@pytest.fixture
def path(store: Path) -> Path:
    store.mkdir()
    return store / "graph.sqlite3"


def sqlite_error(code: int | None, kind: type[sqlite3.Error] = sqlite3.OperationalError) -> sqlite3.Error:
    error = kind("as the engine puts it")
    if code is not None:
        error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("raised", "becomes", "status"),
    [
        (sqlite_error(sqlite3.SQLITE_FULL), StorageFullError, 507),
        (sqlite_error(sqlite3.SQLITE_IOERR_WRITE), StorageFullError, 507),
        (sqlite_error(sqlite3.SQLITE_IOERR_FSYNC), StorageFullError, 507),
        (sqlite_error(sqlite3.SQLITE_IOERR_TRUNCATE), StorageFullError, 507),
        (sqlite_error(sqlite3.SQLITE_IOERR_SHMSIZE), StorageFullError, 507),
        (sqlite_error(sqlite3.SQLITE_IOERR_READ), UnavailableError, 503),
        (sqlite_error(sqlite3.SQLITE_BUSY), UnavailableError, 503),
        (sqlite_error(sqlite3.SQLITE_CANTOPEN), UnavailableError, 503),
        (sqlite_error(sqlite3.SQLITE_READONLY), UnavailableError, 503),
        (sqlite_error(sqlite3.SQLITE_CORRUPT, sqlite3.DatabaseError), UnavailableError, 503),
        (sqlite_error(sqlite3.SQLITE_NOTADB, sqlite3.DatabaseError), UnavailableError, 503),
        (sqlite_error(sqlite3.SQLITE_CONSTRAINT, sqlite3.IntegrityError), UnavailableError, 503),
        (sqlite_error(None, sqlite3.ProgrammingError), UnavailableError, 503),
    ],
)
def test_sqlite_errors_map_to_vicw_errors_with_their_status(
    raised: sqlite3.Error, becomes: type[VicwError], status: int
) -> None:
    with pytest.raises(VicwError) as caught, translated():
        raise raised
    assert (type(caught.value), caught.value.status) == (becomes, status)
    assert caught.value.__cause__ is raised
    if becomes is UnavailableError:
        assert "as the engine puts it" in caught.value.detail


@pytest.mark.parametrize(
    "ours", [StateConflictError("x"), MissingRecordError("x"), StorageFullError("x"), ValueError("x")]
)
def test_vicw_and_unrelated_errors_pass_untranslated(ours: Exception) -> None:
    with pytest.raises(type(ours)) as caught, translated():
        raise ours
    assert caught.value is ours


async def test_a_full_database_raises_storage_full_and_stays_usable(path: Path) -> None:
    with closing(SqliteDatabase(path)) as database:
        await database.write(lambda c: c.execute("PRAGMA max_page_count = 1").fetchone())
        with pytest.raises(StorageFullError, match="nothing of this request was stored"):
            await database.write(lambda c: c.execute("INSERT INTO meta VALUES ('k', ?)", ("x" * 1_000_000,)))
        assert await database.read(lambda c: c.execute("SELECT count(*) FROM meta WHERE key = 'k'").fetchone()) == (0,)
        await database.write(lambda c: c.execute("PRAGMA max_page_count = 100000").fetchone())
        await database.write(lambda c: c.execute("INSERT INTO meta VALUES ('k', 'v')"))


async def test_a_migration_that_fails_half_way_leaves_the_store_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteDatabase(path)) as database:
        await database.write(lambda c: c.execute("INSERT INTO meta VALUES ('k', 'v')"))
    before = contents(path)
    half = "CREATE TABLE half (x); UPDATE meta SET value = 'spoilt'; INSERT INTO nowhere VALUES (1);"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, half))

    with pytest.raises(UnavailableError, match="nowhere"):
        SqliteDatabase(path)

    assert contents(path) == before
    monkeypatch.undo()
    with closing(SqliteDatabase(path)) as database:
        assert await database.read(lambda c: c.execute("SELECT value FROM meta").fetchone()) == ("v",)


async def test_a_successful_migration_runs_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteDatabase(path).close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE later (x);"))
    for _ in range(2):
        with closing(SqliteDatabase(path)) as database:
            version = await database.read(lambda c: c.execute("PRAGMA user_version").fetchone())
            assert version == (schema.latest(),)
            assert await database.read(lambda c: c.execute("SELECT count(*) FROM later").fetchone()) == (0,)


def contents(path: Path) -> tuple[int, list[str], list[tuple[str, str]]]:
    """Return the schema's version, all definitions and the meta table."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        definitions = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
        return version, sorted(definitions), connection.execute("SELECT key, value FROM meta").fetchall()
