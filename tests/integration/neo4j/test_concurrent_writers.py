"""Many writers of several processes, each with a driver of its own, on one graph."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from support.servers.neo4j.server import Neo4jServer
from support.stores.graph_records import AT, edge, node, put
from support.stores.neo4j import open_neo4j
from vicw_core.graph.chains import Chains
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.chain import clock_key, next_key
from vicw_shared.ports import Edges, GraphTransaction, Nodes, PendingPoint, Receipt
from vicw_shared.uids import make_uid
from vicw_stores.neo4j import Neo4jGraphStore

REGISTRY = EdgeRegistry.with_core_types()
WRITERS, EACH = 16, 4


async def append(graph: Neo4jGraphStore, name: str, seconds: int) -> None:
    """Put one Event into the flow, as a request does."""

    async def work(transaction: GraphTransaction) -> None:
        counters = await transaction.counters(["f"])
        event = node(
            name,
            Label.EVENT,
            flow_id="f",
            flow_step=counters.flow_steps["f"] + 1,
            arrival=counters.arrival + 1,
            timestamp=AT + timedelta(seconds=seconds),
        )
        linked = await Chains(transaction, REGISTRY, AT).place([event])
        await transaction.put_nodes([event, node("shared")])
        await transaction.put_edges([*linked, edge("ABOUT", name, "shared")])
        await transaction.put_receipt(Receipt(name, "print", AT, {}))
        await transaction.forget_receipts(AT + timedelta(days=1), limit=9)

    await graph.write("t", "c", work)


async def test_steps_are_gap_free_and_the_chains_whole(server: Neo4jServer) -> None:
    async with AsyncExitStack() as stack:
        graphs = [await stack.enter_async_context(open_neo4j(server)) for _ in range(4)]

        async def writer(number: int) -> None:
            for turn in range(EACH):
                # Times that collide and run backwards: every place in a chain is contended.
                await append(graphs[number % len(graphs)], f"{number}/{turn}", (number * 7 + turn * 3) % 5)

        await asyncio.gather(*(writer(number) for number in range(WRITERS)))
        events = await graphs[0].scan(Nodes(Label.EVENT), limit=1000)
        edges = [found for found, _, _ in await graphs[0].scan(Edges(), limit=10_000)]
    count = WRITERS * EACH
    assert sorted(event.flow_step or 0 for event in events) == list(range(1, count + 1))
    assert sorted(event.arrival or 0 for event in events) == list(range(1, count + 1))
    assert {(e.source, e.target) for e in edges if e.type == "NEXT"} == chain(sorted(events, key=next_key))
    clock = chain(sorted(events, key=clock_key, reverse=True))
    assert {(e.source, e.target) for e in edges if e.type == "HAPPENED_AFTER"} == clock


def chain(events: Sequence[Node]) -> set[tuple[str, str]]:
    return set(pairwise(event.uid for event in events))


async def test_a_transaction_in_a_deadlock_is_retried(server: Neo4jServer) -> None:
    tries = 0
    async with open_neo4j(server) as graph:
        await put(graph, [node("x"), node("y")])

        async def writer(context: str, first: str, second: str) -> None:
            async def work(transaction: GraphTransaction) -> None:
                nonlocal tries
                tries += 1
                await transaction.put_nodes([node(first, text=context)])
                await asyncio.sleep(0.3)
                await transaction.put_nodes([node(second, text=context)])

            await graph.write("t", context, work)

        await asyncio.gather(writer("one", "x", "y"), writer("two", "y", "x"))
        texts = await graph.texts("t", [make_uid("x"), make_uid("y")])
    assert tries == 3
    assert len(set(texts.values())) == 1


async def test_concurrent_deletion_of_the_same_receipts_does_not_fail(server: Neo4jServer) -> None:
    async with open_neo4j(server) as graph:

        async def keep(transaction: GraphTransaction) -> None:
            for number in range(20):
                await transaction.put_receipt(Receipt(f"k{number}", "print", AT, {}))

        async def forget(transaction: GraphTransaction) -> None:
            await transaction.forget_receipts(AT + timedelta(days=1), limit=20)
            await asyncio.sleep(0.1)

        await graph.write("t", "c", keep)
        await asyncio.gather(*(graph.write("t", f"c{number}", forget) for number in range(4)))
        assert await graph.record.receipt("t", "k0") is None


async def test_workers_of_several_processes_share_the_outbox_and_lose_nothing(server: Neo4jServer) -> None:
    async with AsyncExitStack() as stack:
        graphs = [await stack.enter_async_context(open_neo4j(server)) for _ in range(4)]
        chunks = [node(f"k{n}", Label.CHUNK, text="first") for n in range(60)]
        items = [node(f"i{n}", content_hash="h", qdrant_id=chunk.uid) for n, chunk in enumerate(chunks)]
        await put(graphs[0], [*items, *chunks], [edge("EVIDENCED_BY", f"i{n}", f"k{n}") for n in range(60)])
        written: dict[str, str] = {}
        held: set[str] = set()

        async def work(graph: Neo4jGraphStore) -> None:
            while page := await graph.outbox.claim(5, seconds=30):
                points = {point.point_id for point in page}
                assert not held & points, "two hold one entry"
                held.update(points)
                await asyncio.sleep(0.01)
                written.update((point.point_id, _text(point)) for point in page)
                held.difference_update(points)
                await graph.outbox.acknowledge(page)

        async def change() -> None:
            for start in range(0, 60, 10):
                await put(graphs[1], [replace(chunk, text="second") for chunk in chunks[start : start + 10]])

        await asyncio.gather(*(work(graph) for graph in graphs * 2), change())
        await work(graphs[0])
        assert written == {chunk.uid: "second" for chunk in chunks}
        assert (await graphs[2].outbox.backlog()).waiting == 0
        assert all(item.indexed for item in await graphs[3].scan(Nodes(Label.ENTITY), limit=100))


def _text(point: PendingPoint) -> str:
    assert point.chunk is not None
    return point.chunk.text or ""


async def test_a_late_acknowledgement_of_an_expired_claim_queues_a_rewrite(graph: Neo4jGraphStore) -> None:
    chunk = node("k", Label.CHUNK, text="first")
    await put(graph, [node("i", content_hash="h", qdrant_id=chunk.uid), chunk], [edge("EVIDENCED_BY", "i", "k")])
    (late,) = await graph.outbox.claim(1, seconds=0.05)
    await asyncio.sleep(0.1)
    await put(graph, [replace(chunk, text="second")])
    (prompt,) = await graph.outbox.claim(1, seconds=30)
    await graph.outbox.acknowledge([late])
    await graph.outbox.acknowledge([prompt])
    (again,) = await graph.outbox.claim(1, seconds=30)
    assert _text(again) == "second"
    await graph.outbox.acknowledge([again])
    await graph.outbox.acknowledge([again])
    assert (await graph.outbox.backlog()).waiting == 0
