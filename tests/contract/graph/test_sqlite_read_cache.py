"""What was read of the embedded graph lately is kept until a write touches it, and nobody can tell."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import REGISTRY as METRICS

from support.stores.graph_records import AT, edge, node, put
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.uids import make_uid
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore, cache

REGISTRY = EdgeRegistry.with_core_types()
NEXT = [("NEXT", Direction.OUT), ("NEXT", Direction.IN), ("ABOUT", Direction.OUT)]
A, B, C = (make_uid(name) for name in "abc")


@pytest.fixture
async def graph(store: Path) -> AsyncIterator[SqliteGraphStore]:
    with DataDir(store) as data_dir:
        opened = SqliteGraphStore(data_dir, REGISTRY)
        await put(opened, [node("a"), node("b"), node("c")], [edge("NEXT", "a", "b", 0.3), edge("NEXT", "b", "c")])
        yield opened
        await opened.close()


async def neighbours_of(graph: SqliteGraphStore, uid: str, tenant: str = "t") -> list[tuple[str, float]]:
    return [(found.node.name, found.edge.weight) for found in await graph.expand(tenant, [uid], NEXT, 10)]


def count_uncached_reads(what: str) -> float:
    return METRICS.get_sample_value("vicw_graph_cache_reads_total", {"what": what, "found": "read"}) or 0.0


async def test_a_cached_read_is_not_repeated(graph: SqliteGraphStore) -> None:
    first = await neighbours_of(graph, A), await graph.nodes("t", [A, B])
    nodes, edges = count_uncached_reads("nodes"), count_uncached_reads("edges")
    assert (await neighbours_of(graph, A), await graph.nodes("t", [A, B])) == first
    assert (count_uncached_reads("nodes"), count_uncached_reads("edges")) == (nodes, edges)


async def test_a_changed_node_is_read_at_once_alone_and_as_a_neighbour(graph: SqliteGraphStore) -> None:
    assert await neighbours_of(graph, A) == [("b", 0.3)]
    await put(graph, [replace(node("b"), name="new", retired_at=AT)])
    assert (await graph.nodes("t", [B]))[B].retired_at == AT
    assert await neighbours_of(graph, A) == [("new", 0.3)]


async def test_edge_changes_are_read_at_both_ends(graph: SqliteGraphStore) -> None:
    assert (await neighbours_of(graph, A), await neighbours_of(graph, C)) == ([("b", 0.3)], [("b", 0.5)])
    await put(graph, [], [edge("NEXT", "a", "c", 0.9)])
    assert await neighbours_of(graph, A) == [("c", 0.9), ("b", 0.3)]
    assert await neighbours_of(graph, C) == [("a", 0.9), ("b", 0.5)]
    await put(graph, [], [edge("NEXT", "a", "c", 0.1)])
    assert await neighbours_of(graph, A) == [("b", 0.3), ("c", 0.1)]

    async def drop(transaction: GraphTransaction) -> None:
        await transaction.drop_edges([edge("NEXT", "a", "c")])

    await graph.write("t", "c", drop)
    assert (await neighbours_of(graph, A), await neighbours_of(graph, C)) == ([("b", 0.3)], [("b", 0.5)])


async def test_a_rolled_back_write_does_not_change_cached_reads(graph: SqliteGraphStore) -> None:
    assert await neighbours_of(graph, A) == [("b", 0.3)]

    async def fail(transaction: GraphTransaction) -> None:
        await transaction.put_nodes([replace(node("b"), name="never")])
        raise RuntimeError("undone")

    with pytest.raises(RuntimeError):
        await graph.write("t", "c", fail)
    assert await neighbours_of(graph, A) == [("b", 0.3)]


async def test_cached_reads_are_not_shared_between_tenants(graph: SqliteGraphStore) -> None:
    assert await neighbours_of(graph, A)
    assert await neighbours_of(graph, A, "other") == []
    assert await graph.nodes("other", [A, B]) == {}
    assert await neighbours_of(graph, A) == [("b", 0.3)], "and its question takes nothing from those whose it is"


async def test_marks_of_the_indexer_evict_cached_nodes(graph: SqliteGraphStore) -> None:
    chunk = node("k", Label.CHUNK, text="words", qdrant_id=make_uid("k"))
    await put(graph, [chunk])
    assert not (await graph.nodes("t", [chunk.uid]))[chunk.uid].indexed
    await graph.outbox.acknowledge(await graph.outbox.claim(10, seconds=60))
    assert (await graph.nodes("t", [chunk.uid]))[chunk.uid].indexed
    await graph.outbox.requeue([chunk.uid])
    assert not (await graph.nodes("t", [chunk.uid]))[chunk.uid].indexed


async def test_a_read_that_began_before_a_write_ended_is_not_cached(
    graph: SqliteGraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (await graph.nodes("t", [C]))[C]
    kept, connection = cache.ReadCache(10), sqlite3.connect(":memory:")

    def slow(*_: object) -> dict[str, Node]:
        kept.commit(connection)  # a write ends while this reads what was before it
        return {C: before}

    connection.execute("CREATE TEMP TABLE touched (uid BLOB)")
    connection.isolation_level = None
    connection.execute("BEGIN")
    monkeypatch.setattr(cache, "read_nodes", slow)
    assert kept.nodes(connection, "t", [C]) == {C: before}
    monkeypatch.setattr(cache, "read_nodes", lambda *_: {C: replace(before, name="after")})
    assert kept.nodes(connection, "t", [C])[C].name == "after"


@pytest.mark.parametrize("most", [0, 1, 5, 40])
async def test_random_reads_and_writes_answer_as_without_a_cache(store: Path, most: int) -> None:
    chance, names = random.Random(most), [f"n{number}" for number in range(20)]
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, REGISTRY, cached_nodes=most)
        plain = SqliteGraphStore(DataDir(store), REGISTRY, beside=True)
        await put(graph, [node(name) for name in names])
        for turn in range(150):
            some = [make_uid(name) for name in chance.sample(names, 6)]
            for limit in (2, 10):
                asked = ("t", some, NEXT, limit)
                assert await graph.expand(*asked) == await plain.expand(*asked)
            assert await graph.nodes("t", some) == await plain.nodes("t", some)
            await change(graph, chance, names, turn)
        await plain.close()
        await graph.close()


async def change(graph: SqliteGraphStore, chance: random.Random, names: Sequence[str], turn: int) -> None:
    first, second = chance.sample(names, 2)
    new = edge(chance.choice(["NEXT", "ABOUT"]), first, second, turn % 3 / 3)

    async def work(transaction: GraphTransaction) -> None:
        if chance.random() < 0.3:
            await transaction.put_nodes([replace(node(first), importance=chance.random())])
        if chance.random() < 0.6:
            await transaction.put_edges([new])
        else:
            await transaction.drop_edges([new])

    await graph.write("t", "c", work)


async def test_the_read_cache_keeps_to_its_capacity(store: Path) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, REGISTRY, cached_nodes=10)
        names = [f"n{number}" for number in range(200)]
        await put(graph, [node(name) for name in names], [edge("NEXT", "n0", name) for name in names[1:]])
        for name in names:
            await graph.expand("t", [make_uid(name)], NEXT, 20)
            await graph.nodes("t", [make_uid(name)])
        kept = graph._cache
        assert len(kept._nodes) <= 10
        held = sum(1 + len(steps) for of in kept._steps.values() for steps in of.values())
        assert held == kept._size <= 10 * cache.EDGES_PER_NODE
        await graph.close()


async def test_a_new_entry_evicts_only_the_oldest(store: Path) -> None:
    with DataDir(store) as data_dir:
        graph = SqliteGraphStore(data_dir, REGISTRY, cached_nodes=20)
        uids = [make_uid(f"n{number}") for number in range(21)]
        await put(graph, [node(f"n{number}") for number in range(21)])
        for uid in uids:
            await graph.nodes("t", [uid])
        nodes = count_uncached_reads("nodes")
        await graph.nodes("t", uids[1:])
        assert count_uncached_reads("nodes") == nodes, "dropping many at once would block other readers"
        await graph.nodes("t", uids[:1])
        assert count_uncached_reads("nodes") == nodes + 1
        await graph.close()
