"""What is the embedded graph's own: its file, its lock, its schema."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from contract.graphs import node, put
from vicw_shared.adapters.data_dir import DataDir
from vicw_shared.adapters.sqlite import SqliteGraphStore
from vicw_shared.adapters.sqlite.schema import MIGRATIONS
from vicw_shared.errors import DataDirError, SchemaVersionError, StorageFullError
from vicw_shared.uids import make_uid


async def test_too_little_room_refuses_writes_and_reads_go_on(store: Path) -> None:
    with DataDir(store, min_free_mb=10**9) as data_dir:
        graph = SqliteGraphStore(data_dir)
        with pytest.raises(StorageFullError, match="VICW_MIN_FREE_MB"):
            await put(graph, [node("x")])
        assert await graph.nodes("t", [make_uid("x")]) == {}
        await graph.close()


def test_one_process_opens_a_data_directory(store: Path, tmp_path: Path) -> None:
    with DataDir(store):
        assert store.stat().st_mode & 0o777 == 0o700
        with pytest.raises(DataDirError, match=r"in use by another VICW process \(pid \d+\)"):
            DataDir(store).open()
    with DataDir(store):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(DataDirError, match="cannot be used"):
        DataDir(tmp_path / "file").open()


async def test_a_newer_schema_is_refused(store: Path) -> None:
    with DataDir(store) as data_dir:
        await SqliteGraphStore(data_dir).close()
        with sqlite3.connect(store / "graph.sqlite3") as connection:
            assert connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
            connection.execute("PRAGMA user_version = 999")
        connection.close()
        with pytest.raises(SchemaVersionError, match="999"):
            SqliteGraphStore(data_dir)
