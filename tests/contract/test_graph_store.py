"""What every GraphStore must do. A further engine is one more parameter of ``graph``."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vicw_shared.adapters.data_dir import DataDir
from vicw_shared.adapters.sqlite import SqliteGraphStore
from vicw_shared.adapters.sqlite.schema import MIGRATIONS
from vicw_shared.errors import DataDirError, NotFoundError, SchemaVersionError, StorageFullError
from vicw_shared.model import Edge, Label, Node, Sensitivity
from vicw_shared.model.chain import clock_key, next_key
from vicw_shared.ports import Direction, GraphTransaction, ItemRef, ModelIdentity, PendingKind, Receipt
from vicw_shared.uids import edge_id, make_uid

AT = datetime(2025, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


def node(name: str, label: Label = Label.ENTITY, **fields: object) -> Node:
    base = Node(
        uid=make_uid(name), label=label, tenant="t", context="c", name=name, subtype="s", domain="d", created_at=AT
    )
    return replace(base, **fields)  # type: ignore[arg-type]


def edge(edge_type: str, source: str, target: str, weight: float = 0.5, by: str = "test") -> Edge:
    a, b = make_uid(source), make_uid(target)
    return Edge(
        id=edge_id(edge_type, a, b),
        type=edge_type,
        source=a,
        target=b,
        weight=weight,
        created_at=AT,
        created_by=by,
        properties={"certainty": 0.5},
    )


@pytest.fixture(params=["sqlite"])
async def graph(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[SqliteGraphStore]:
    with DataDir(store) as data_dir:
        opened = SqliteGraphStore(data_dir)
        yield opened
        await opened.close()


async def put(graph: SqliteGraphStore, nodes: Sequence[Node], edges: Sequence[Edge] = (), tenant: str = "t") -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes(nodes)
        await transaction.put_edges(edges)

    await graph.write(tenant, "c", work)


async def test_a_node_comes_back_as_it_went(graph: SqliteGraphStore) -> None:
    full = node(
        "x",
        Label.EVENT,
        qdrant_id=make_uid("p"),
        title="T",
        text="text \U0001f98a",
        speaker="Ana",
        source="s",
        source_id="id",
        version=3,
        content_hash="h",
        tags=("a", "B"),
        bucket="b",
        metadata={"k": [1, {"z": None}]},
        timestamp=datetime(1, 1, 1, tzinfo=UTC),
        timestamp_inferred=True,
        retired_at=AT,
        valid_to=AT,
        expires_at=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        flow_id="f",
        flow_step=2,
        own_step=-7,
        arrival=9,
        sensitivity=Sensitivity.SENSITIVE,
        portable=False,
        importance=0.25,
        protected=True,
    )
    await put(graph, [full, node("bare")])
    assert await graph.nodes("t", [full.uid, make_uid("bare"), make_uid("none")]) == {
        full.uid: full,
        make_uid("bare"): node("bare"),
    }
    assert await graph.nodes("other", [full.uid]) == {}


async def test_work_that_raises_leaves_nothing(graph: SqliteGraphStore) -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes([node("x")])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await graph.write("t", "c", work)
    assert await graph.nodes("t", [make_uid("x")]) == {}
    with pytest.raises(NotFoundError):
        await put(graph, [node("a")], [edge("RELATED_TO", "a", "missing")])
    assert await graph.nodes("t", [make_uid("a")]) == {}


async def test_a_cancelled_write_frees_the_store(graph: SqliteGraphStore) -> None:
    started = asyncio.Event()

    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes([node("x")])
        started.set()
        await asyncio.sleep(0.2)

    task = asyncio.create_task(graph.write("t", "c", work))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await put(graph, [node("y")])
    assert make_uid("y") in await graph.nodes("t", [make_uid("y")])


async def test_a_tenant_cannot_touch_anothers_nodes(graph: SqliteGraphStore) -> None:
    await put(graph, [node("x", text="mine")])
    await put(graph, [replace(node("x", text="stolen"), tenant="u")], tenant="u")
    assert (await graph.nodes("t", [make_uid("x")]))[make_uid("x")].text == "mine"
    with pytest.raises(NotFoundError):
        await put(graph, [replace(node("y"), tenant="u")], [edge("RELATED_TO", "y", "x")], tenant="u")


async def test_expand_follows_one_type_one_way_heaviest_first(graph: SqliteGraphStore) -> None:
    edges = [edge("RELATED_TO", "a", n, w) for n, w in (("b", 0.2), ("c", 0.9), ("d", 0.5))]
    await put(graph, [node(n) for n in "abcd"], [*edges, edge("DEPENDS_ON", "a", "b"), edge("RELATED_TO", "b", "a")])
    out = await graph.expand("t", [make_uid("a")], [("RELATED_TO", Direction.OUT)], 2)
    assert [(n.node.name, n.edge.weight) for n in out] == [("c", 0.9), ("d", 0.5)]
    (back,) = await graph.expand("t", [make_uid("a")], [("RELATED_TO", Direction.IN)], 9)
    assert (back.node.name, back.origin, back.edge.properties) == ("b", make_uid("a"), {"certainty": 0.5})
    assert await graph.expand("u", [make_uid("a")], [("RELATED_TO", Direction.OUT)], 9) == []


async def test_an_edge_put_again_keeps_its_provenance(graph: SqliteGraphStore) -> None:
    await put(graph, [node("a"), node("b")], [edge("RELATED_TO", "a", "b", 0.2, by="first")])
    later = replace(edge("RELATED_TO", "a", "b", 0.8, by="second"), created_at=AT + timedelta(days=1))
    await put(graph, [], [later])
    (found,) = await graph.expand("t", [make_uid("a")], [("RELATED_TO", Direction.OUT)], 9)
    assert (found.edge.weight, found.edge.created_by, found.edge.created_at) == (0.8, "first", AT)


async def test_counters_gaps_and_latest_versions(graph: SqliteGraphStore) -> None:
    def turn(n: int, day: int) -> Node:
        return node(
            f"n{n}", Label.EVENT, flow_id="f", flow_step=n, arrival=n, timestamp=AT + timedelta(days=day), source_id="i"
        )

    stored = [turn(1, 1), turn(2, 5), replace(turn(3, 3), retired_at=AT)]
    stored = [replace(n, version=v) for v, n in enumerate(stored, 1)]
    await put(graph, stored)

    async def work(transaction: GraphTransaction) -> None:
        counters = await transaction.counters(["f", "g"])
        assert (counters.arrival, dict(counters.flow_steps)) == (3, {"f": 3, "g": 0})
        new = [turn(4, 0), turn(5, 2), turn(6, 4), turn(7, 9)]
        gaps = await transaction.gaps("f", [next_key(n) for n in new])
        one, two = stored[0].uid, stored[1].uid
        assert [(g.before, g.after, g.count) for g in gaps] == [(None, one, 1), (one, two, 2), (two, None, 1)]
        clock = await transaction.gaps(None, [clock_key(n) for n in new[1:3]])
        assert [(g.before, g.after, g.count) for g in clock] == [(one, two, 2)]
        assert (await transaction.items(["i"]))["i"].version == 3

    await graph.write("t", "c", work)


async def test_receipts_are_per_tenant(graph: SqliteGraphStore) -> None:
    receipt = Receipt("k", "print", AT, {"a": 1})

    async def keep(transaction: GraphTransaction) -> None:
        await transaction.remember(receipt)
        assert await transaction.receipt("k") == receipt

    await graph.write("t", "c", keep)
    assert await graph.receipt("t", "k") == receipt
    assert await graph.receipt("u", "k") is None


async def test_receipts_are_forgotten_by_age_and_tenant(graph: SqliteGraphStore) -> None:
    async def keep(transaction: GraphTransaction) -> None:
        for days in (0, 1, 2):
            await transaction.remember(Receipt(f"k{days}", "print", AT + timedelta(days=days), {}))

    await graph.write("t", "c", keep)
    await graph.write("u", "c", keep)
    await graph.write("t", "c", lambda transaction: transaction.forget_receipts(AT + timedelta(days=1)))

    assert [await graph.receipt("t", f"k{days}") is not None for days in (0, 1, 2)] == [False, True, True]
    assert await graph.receipt("u", "k0") is not None


async def test_what_an_item_told_is_found_by_it(graph: SqliteGraphStore) -> None:
    told = replace(edge("RELATED_TO", "a", "b"), properties={"item": "x"})
    await put(graph, [node("a"), node("b")], [told, edge("DEPENDS_ON", "a", "b")])

    async def work(transaction: GraphTransaction) -> None:
        assert [found.id for found in await transaction.told_by(["x", "y"])] == [told.id]
        assert await transaction.told_by(["y"]) == []

    await graph.write("t", "c", work)


@pytest.mark.parametrize("edge_type", ["ABOUT", "TAGGED"])
async def test_an_edge_that_filters_look_at_makes_the_payload_pending(graph: SqliteGraphStore, edge_type: str) -> None:
    target = node("sea", Label.CONCEPT, subtype="tag")
    chunk = node("chunk", Label.CHUNK, text="proof")
    await put(graph, [node("item", content_hash="h"), chunk, target], [edge("EVIDENCED_BY", "item", "chunk")])
    await graph.settle([(await graph.pending(10))[0].seq])
    assert await graph.queued([chunk.uid]) == set()

    said = edge(edge_type, "item", "sea")
    await put(graph, [], [said])
    (pending,) = await graph.pending(10)
    assert await graph.queued([chunk.uid, target.uid]) == {chunk.uid}
    assert (pending.kind, pending.about[:1], pending.tags) == (
        PendingKind.PAYLOAD,
        ("sea",) if edge_type == "ABOUT" else (),
        ("sea",) if edge_type == "TAGGED" else (),
    )
    await graph.settle([pending.seq])

    await graph.write("t", "c", lambda transaction: transaction.drop_edges([said.id]))
    (pending,) = await graph.pending(10)
    assert (pending.kind, pending.about, pending.tags) == (PendingKind.PAYLOAD, (), ())


async def test_an_item_is_indexed_when_the_passage_that_stands_for_it_is(graph: SqliteGraphStore) -> None:
    first, second = (node(name, Label.CHUNK, text=name) for name in ("first", "second"))
    item = node("item", content_hash="h", qdrant_id=first.uid)
    await put(
        graph, [item, first, second], [edge("EVIDENCED_BY", "item", "first"), edge("EVIDENCED_BY", "item", "second")]
    )

    async def indexed() -> bool:
        return (await graph.nodes("t", [item.uid]))[item.uid].indexed

    by_point = {point.point_id: point.seq for point in await graph.pending(10)}
    await graph.settle([by_point[second.uid]])
    assert not await indexed()
    await graph.settle([by_point[first.uid]])
    assert await indexed()
    await graph.requeue([first.uid])
    assert not await indexed()
    await graph.settle([point.seq for point in await graph.pending(10)])
    assert await indexed()
    await graph.requeue()
    assert not await indexed()


async def test_a_chunk_is_pending_until_settled(graph: SqliteGraphStore) -> None:
    item, whom = node("item", content_hash="h"), node("Ana")
    chunk = node("chunk", Label.CHUNK, text="proof")
    await put(graph, [item, whom, chunk], [edge("EVIDENCED_BY", "item", "chunk"), edge("ABOUT", "item", "Ana")])
    (pending,) = await graph.pending(10)
    assert (pending.kind, pending.chunk, pending.item) == (PendingKind.UPSERT, chunk, item)
    assert pending.about == ("Ana", whom.uid)
    assert (await graph.owners("t", [chunk.uid])) == {chunk.uid: ItemRef(item.uid, "d", AT, None, None, None, None)}
    assert (await graph.unsettled("t", [item.uid]), await graph.any_indexed()) == (1, False)
    await graph.settle([pending.seq])
    assert (await graph.unsettled("t", [item.uid]), await graph.pending(10)) == (0, [])
    assert await graph.any_indexed()
    await put(graph, [replace(chunk, indexed=True, retired_at=AT)])
    (pending,) = await graph.pending(10)
    assert pending.kind is PendingKind.PAYLOAD
    assert await graph.requeue([chunk.uid]) == 1
    (pending,) = await graph.pending(10)
    assert pending.kind is PendingKind.UPSERT, "one row a point, and the vector is what is missing"
    await graph.settle([pending.seq])
    assert (await graph.waiting(), await graph.requeue(), await graph.waiting()) == (0, 1, 1)


async def test_the_fulltext_index_is_written(graph: SqliteGraphStore, store: Path) -> None:
    await put(graph, [node("Harbour Master", tags=("Sea",)), node("k", Label.CHUNK, text="the lighthouses burned")])
    await put(graph, [node("Harbour Master", tags=("Land",))])

    def found(term: str) -> int:
        with sqlite3.connect(store / "graph.sqlite3") as connection:
            sql = "SELECT count(*) FROM fulltext WHERE fulltext MATCH ?"
            count = connection.execute(sql, (f'"{term}"',)).fetchone()[0]
        connection.close()
        return int(count)

    assert [found(t) for t in ("harbours", "lighthouse", "land", "sea")] == [1, 1, 1, 0]


async def test_the_model_is_remembered(graph: SqliteGraphStore) -> None:
    assert await graph.model() is None
    identity = ModelIdentity("m", 3, "d", 1)
    await graph.set_model(identity)
    assert await graph.model() == identity


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
