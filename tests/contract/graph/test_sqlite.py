"""What is the embedded graph's own: its file, its lock, its schema."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.stores.graph_records import AT, edge, node, put
from vicw_core.index.full_text import index_word
from vicw_core.index.sparse import question_terms
from vicw_shared.errors import DataDirError, SchemaVersionError, StorageFullError
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.ports import Scope, Steps, TextHit
from vicw_shared.ports.item_filter import OneOf
from vicw_shared.text import fold_case
from vicw_shared.uids import make_uid
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore
from vicw_stores.sqlite.audit import FOLLOWER
from vicw_stores.sqlite.database import SqliteDatabase
from vicw_stores.sqlite.full_text import find_candidates
from vicw_stores.sqlite.item_list import read_passing_items
from vicw_stores.sqlite.items import read_by_text_key
from vicw_stores.sqlite.schema import FIRST, latest
from vicw_stores.sqlite.steps import read_steps

REGISTRY = EdgeRegistry.with_core_types()


async def test_low_disk_space_refuses_writes_and_allows_reads(store: Path) -> None:
    with DataDir(store, min_free_mb=10**9) as data_dir:
        graph = SqliteGraphStore(data_dir, REGISTRY)
        with pytest.raises(StorageFullError, match="VICW_MIN_FREE_MB"):
            await put(graph, [node("x")])
        assert await graph.nodes("t", [make_uid("x")]) == {}
        await graph.close()


def test_a_data_directory_is_opened_by_one_process_only(store: Path, tmp_path: Path) -> None:
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
        await SqliteGraphStore(data_dir, REGISTRY).close()
        with sqlite3.connect(store / "graph.sqlite3") as connection:
            assert connection.execute("PRAGMA user_version").fetchone()[0] == latest()
            connection.execute("PRAGMA user_version = 999")
        connection.close()
        with pytest.raises(SchemaVersionError, match="999"):
            SqliteGraphStore(data_dir, REGISTRY)


async def test_a_schema_of_before_the_first_release_is_refused(store: Path) -> None:
    with DataDir(store) as data_dir:
        with sqlite3.connect(store / "graph.sqlite3") as connection:
            connection.execute("CREATE TABLE node (pk)")
            connection.execute(f"PRAGMA user_version = {FIRST - 1}")
        connection.close()
        with pytest.raises(SchemaVersionError, match=r"before 0\.1\.0"):
            SqliteGraphStore(data_dir, REGISTRY)


async def test_fulltext_searches_rare_words_first_and_fills_up_with_common_ones(store: Path) -> None:
    texts = {**dict.fromkeys("abcde", "the keeper slept"), "f": "a letter from paris", "g": "one letter of a keeper"}
    texts |= dict.fromkeys("hijklmnopq", "snow")
    items = [node(name, content_hash="h", qdrant_id=make_uid(f"{name}/0")) for name in texts]
    items[0] = replace(items[0], context="elsewhere")
    chunks = [node(f"{name}/0", Label.CHUNK, text=text) for name, text in texts.items()]
    searches: list[str] = []
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, REGISTRY)
        database = SqliteDatabase(store / "graph.sqlite3")
        await put(graph, [*items, *chunks], [edge("EVIDENCED_BY", name, f"{name}/0") for name in texts])

        async def found(text: str, limit: int, **scope: Any) -> list[str]:
            def find(connection: sqlite3.Connection) -> list[TextHit]:
                connection.set_trace_callback(searches.append)
                return find_candidates(connection, Scope(tenant="t", now=AT, **scope), text, limit, rare=3)

            searches.clear()
            hits = await database.read(find)
            names = {make_uid(f"{name}/0"): name for name in texts}
            return [names[hit.uid] for hit in hits]

        assert await found("keeper letter", 2) == ["g", "f"]
        letter, keeper = map(index_word, question_terms("letter keeper"))
        ranked = [sql.partition("MATCH ")[2] for sql in searches if "bm25" in sql]
        assert ranked == [f"'\"{letter}\"'", f'\'("{letter}") AND ("{keeper}")\''], (
            "what has nothing but a common word was read"
        )
        assert (await found("keeper letter", 9))[:2] == ["g", "f"]
        assert set(await found("keeper letter", 9)) == set("abcdefg")
        assert set(await found("keeper", 9)) == set("abcdeg")
        assert await found("keeper paris", 9, contexts=("elsewhere",)) == ["a"]
        assert await found("keeper letter", 9, contexts=("nowhere",)) == []
        database.close()
        await graph.close()


async def test_a_store_opened_beside_a_server_does_not_migrate_the_schema(store: Path) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, REGISTRY)
        beside = SqliteGraphStore(DataDir(store), REGISTRY, beside=True)
        assert await beside.record.store_id() == await graph.record.store_id()
        await beside.close()
        await graph.close()
        with sqlite3.connect(store / "graph.sqlite3") as connection:
            connection.execute(f"PRAGMA user_version = {latest() - 1}")
        connection.close()
        with pytest.raises(SchemaVersionError, match="vicw serve"):
            SqliteGraphStore(DataDir(store), REGISTRY, beside=True)


@pytest.mark.parametrize("contexts", [None, ["c", "d"]])
async def test_text_keys_are_read_from_their_index(store: Path, contexts: list[str] | None) -> None:
    with DataDir(store) as data_dir:
        await SqliteGraphStore(data_dir, REGISTRY).close()
        with sqlite3.connect(store / "graph.sqlite3") as connection:
            asked: list[str] = []
            connection.set_trace_callback(asked.append)
            assert read_by_text_key(connection, "t", ["k", "l"], contexts, 9) == {}
            connection.set_trace_callback(None)
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {asked[0]}")]
        connection.close()
    assert [step for step in plan if step.startswith("SEARCH node USING") and "node_text_key (tenant=? AND" in step]
    assert not [step for step in plan if step.startswith("SCAN n")]


async def test_steps_of_a_task_are_read_from_their_index(store: Path) -> None:
    with DataDir(store) as data_dir:
        await SqliteGraphStore(data_dir, REGISTRY).close()
        with sqlite3.connect(store / "graph.sqlite3") as connection:
            asked: list[str] = []
            connection.set_trace_callback(asked.append)
            assert read_steps(connection, Steps(tenant=None, task="forget"), None, 9) == []
            connection.set_trace_callback(None)
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {asked[0]}")]
        connection.close()
    assert plan == ["SEARCH step USING INDEX step_of_task (task=?)"], "in order, too"


@pytest.mark.parametrize(("chain", "index"), [(NEXT, "node_flow"), (HAPPENED_AFTER, "node_clock")])
async def test_the_follower_in_a_chain_is_read_from_its_index(store: Path, chain: str, index: str) -> None:
    with DataDir(store) as data_dir:
        await SqliteGraphStore(data_dir, REGISTRY).close()
        with sqlite3.connect(store / "graph.sqlite3") as connection:
            values = (1,) * FOLLOWER[chain].count("?")
            (search, sort) = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {FOLLOWER[chain]}", values)]
        connection.close()
    assert search.startswith(f"SEARCH node USING INDEX {index} (tenant=? AND context=?")
    assert ">" in search, "from a place on"
    # Only what is at one place is put in order; newer engines name that otherwise.
    assert sort in {"USE TEMP B-TREE FOR RIGHT PART OF ORDER BY", "USE TEMP B-TREE FOR LAST TERM OF ORDER BY"}


@pytest.mark.parametrize("condition", [OneOf("tags", ("sea",)), OneOf("user", ("u1",))], ids=["tag", "user"])
async def test_live_items_are_read_by_a_tag_or_a_user_that_is_required(store: Path, condition: OneOf) -> None:
    with DataDir(store) as data_dir:
        await SqliteGraphStore(data_dir, REGISTRY).close()
        with sqlite3.connect(store / "graph.sqlite3") as connection:
            connection.create_function("fold", 1, fold_case, deterministic=True)
            asked: list[str] = []
            connection.set_trace_callback(asked.append)
            assert read_passing_items(connection, "t", condition, 9, None, live=True) == []
            assert read_passing_items(connection, "t", condition, 9, None) == []
            connection.set_trace_callback(None)
            plans = [[row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")] for sql in asked]
        connection.close()
    counted, live, either = plans
    by_name = "SEARCH w USING PRIMARY KEY (tenant=? AND kind=? AND text=?)"
    assert by_name in counted and by_name in live
    assert "SEARCH i USING INTEGER PRIMARY KEY (rowid=?)" in live
    assert either[0].startswith("SEARCH i USING INDEX node_listed_"), "what tags a retired item may be retired, too"
