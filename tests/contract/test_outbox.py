"""What every Outbox must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from contract.graphs import AT, Graph, edge, node, put
from vicw_shared.model import Label, Node
from vicw_shared.ports import Backlog, ItemRef, PendingKind, PendingPoint

LONG, SHORT = 60.0, 1.0


async def claim(graph: Graph, limit: int = 10) -> list[PendingPoint]:
    """Claim what is due, to hold it for the rest of the test."""
    return await graph.claim(limit, seconds=LONG)


async def claim_soon(graph: Graph) -> list[PendingPoint]:
    """Claim what will be due in a moment."""
    async with asyncio.timeout(5):
        while not (page := await claim(graph)):  # noqa: ASYNC110 - time alone makes it due
            await asyncio.sleep(0.05)
    return page


async def put_item(graph: Graph, name: str, tenant: str = "t", passages: int = 1) -> tuple[Node, list[Node]]:
    item = replace(node(name, content_hash="h"), tenant=tenant)
    chunks = [replace(node(f"{name} {n}", Label.CHUNK, text=name), tenant=tenant) for n in range(passages)]
    edges = [edge("EVIDENCED_BY", name, chunk.name) for chunk in chunks]
    await put(graph, [replace(item, qdrant_id=chunks[0].uid), *chunks], edges, tenant)
    return item, chunks


@pytest.mark.parametrize("edge_type", ["ABOUT", "TAGGED"])
async def test_an_edge_that_filters_look_at_makes_the_payload_pending(graph: Graph, edge_type: str) -> None:
    target = node("sea", Label.CONCEPT, subtype="tag")
    chunk = node("chunk", Label.CHUNK, text="proof")
    await put(graph, [node("item", content_hash="h"), chunk, target], [edge("EVIDENCED_BY", "item", "chunk")])
    await graph.settle([(await claim(graph))[0]])
    assert await graph.queued([chunk.uid]) == set()

    said = edge(edge_type, "item", "sea")
    await put(graph, [], [said])
    (pending,) = await claim(graph)
    assert await graph.queued([chunk.uid, target.uid]) == {chunk.uid}
    assert (pending.kind, pending.about[:1], pending.tags) == (
        PendingKind.PAYLOAD,
        ("sea",) if edge_type == "ABOUT" else (),
        ("sea",) if edge_type == "TAGGED" else (),
    )
    await graph.settle([pending])

    await graph.write("t", "c", lambda transaction: transaction.drop_edges([said]))
    (pending,) = await claim(graph)
    assert (pending.kind, pending.about, pending.tags) == (PendingKind.PAYLOAD, (), ())


async def test_an_item_is_indexed_when_the_passage_that_stands_for_it_is(graph: Graph) -> None:
    first, second = (node(name, Label.CHUNK, text=name) for name in ("first", "second"))
    item = node("item", content_hash="h", qdrant_id=first.uid)
    await put(
        graph, [item, first, second], [edge("EVIDENCED_BY", "item", "first"), edge("EVIDENCED_BY", "item", "second")]
    )

    async def indexed() -> bool:
        return (await graph.nodes("t", [item.uid]))[item.uid].indexed

    by_point = {point.point_id: point for point in await claim(graph)}
    await graph.settle([by_point[second.uid]])
    assert not await indexed()
    await graph.settle([by_point[first.uid]])
    assert await indexed()
    await graph.requeue([first.uid])
    assert not await indexed()
    await graph.settle(await claim(graph))
    assert await indexed()
    await graph.requeue()
    assert not await indexed()


async def test_a_chunk_is_pending_until_settled(graph: Graph) -> None:
    item, whom = node("item", content_hash="h"), node("Ana")
    chunk = node("chunk", Label.CHUNK, text="proof")
    await put(graph, [item, whom, chunk], [edge("EVIDENCED_BY", "item", "chunk"), edge("ABOUT", "item", "Ana")])
    (pending,) = await claim(graph)
    assert (pending.kind, pending.chunk, pending.item) == (PendingKind.UPSERT, chunk, item)
    assert pending.about == ("Ana", whom.uid)
    assert (await graph.owners("t", [chunk.uid])) == {chunk.uid: ItemRef(item.uid, "d", AT, None, None, None, None)}
    assert (await graph.unsettled("t", [item.uid]), await graph.any_indexed()) == (1, False)
    await graph.settle([pending])
    assert (await graph.unsettled("t", [item.uid]), await claim(graph)) == (0, [])
    assert await graph.any_indexed()
    await put(graph, [replace(chunk, indexed=True, retired_at=AT)])
    (pending,) = await claim(graph)
    assert pending.kind is PendingKind.PAYLOAD
    await graph.postpone([pending], seconds=0)
    assert await graph.requeue([chunk.uid]) == 1
    (pending,) = await claim(graph)
    assert pending.kind is PendingKind.UPSERT, "one row a point, and the vector is what is missing"
    await graph.settle([pending])
    assert (await graph.backlog(), await graph.requeue(), await graph.backlog()) == (Backlog(0, 0), 1, Backlog(1, 0))


async def test_what_is_claimed_is_held_until_the_lease_is_over(graph: Graph) -> None:
    await put_item(graph, "a", passages=3)
    first = await graph.claim(2, seconds=SHORT)
    second = await graph.claim(10, seconds=SHORT)
    assert (len(first), len(second), await graph.claim(10, seconds=SHORT)) == (2, 1, [])
    again = await claim_soon(graph)
    assert {p.point_id for p in again} <= {p.point_id for p in (*first, *second)}


async def test_a_renewed_claim_is_held_longer(graph: Graph) -> None:
    await put_item(graph, "a")
    held = await graph.claim(1, seconds=0.5)
    assert await graph.renew(held, seconds=LONG) == 1
    await asyncio.sleep(0.6)
    assert await claim(graph) == []
    await graph.settle(held)
    assert await graph.backlog() == Backlog(0, 0)
    assert await graph.renew(held, seconds=LONG) == 0, "it is not held any longer"


async def test_claims_at_the_same_time_share_nothing(graph: Graph) -> None:
    await put_item(graph, "a", passages=40)
    parts = await asyncio.gather(*(graph.claim(7, seconds=LONG) for _ in range(8)))
    claimed = [point.point_id for part in parts for point in part]
    assert len(claimed) == len(set(claimed)) == 40


async def test_a_change_under_way_is_not_acknowledged_with_what_was_before(graph: Graph) -> None:
    _, (chunk,) = await put_item(graph, "a")
    (old,) = await claim(graph)
    await put(graph, [replace(chunk, text="changed")])
    assert await claim(graph) == [], "two must not write one point at the same time"
    await graph.settle([old])
    assert not (await graph.nodes("t", [chunk.uid]))[chunk.uid].indexed
    (new,) = await claim(graph)
    assert new.chunk is not None
    assert (new.chunk.text, new.seq != old.seq) == ("changed", True)


async def test_tenants_take_turns(graph: Graph) -> None:
    await put_item(graph, "large", "t", passages=30)
    await put_item(graph, "small", "u", passages=2)
    page = await claim(graph, 8)
    assert len(page) == 8
    assert (await graph.backlog("u"), await graph.backlog("t")) == (Backlog(2, 0), Backlog(30, 0))
    assert await graph.backlog("nobody") == Backlog(0, 0)
    assert sum(point.chunk is not None and point.chunk.tenant == "u" for point in page) == 2
    assert len(await claim(graph, 100)) == 24


async def test_more_tenants_than_a_claim_takes_have_their_turn(graph: Graph) -> None:
    for number in range(6):
        await put_item(graph, f"of {number}", f"tenant {number}", passages=3)
    seen = [point.chunk.tenant for _ in range(3) for point in await claim(graph, 2) if point.chunk is not None]
    assert len(set(seen)) == 6


async def test_the_oldest_come_first(graph: Graph) -> None:
    for name in "abc":
        await put_item(graph, name)
    names = [point.item.name for point in await claim(graph, 2) if point.item is not None]
    assert names == ["a", "b"]


async def test_items_that_somebody_waits_for_are_claimed_alone(graph: Graph) -> None:
    await put_item(graph, "before", passages=3)
    item, chunks = await put_item(graph, "wanted", passages=2)
    page = await graph.claim(10, seconds=LONG, items=[item.uid])
    assert {point.point_id for point in page} == {chunk.uid for chunk in chunks}
    assert await graph.claim(10, seconds=LONG, items=[item.uid]) == [], "they are held"
    await graph.postpone(page, seconds=LONG, error="the embedder fails at it")
    assert len(await claim(graph)) == 3
    assert len(await graph.claim(10, seconds=LONG, items=[item.uid])) == 2, "they rest, and somebody waits"


async def test_what_is_given_back_is_due_later_and_counts_its_failures(graph: Graph) -> None:
    item, (chunk,) = await put_item(graph, "a")
    (point,) = await claim(graph)
    await graph.postpone([point], seconds=0)
    (point,) = await claim(graph)
    assert (point.tries, await graph.failures(None, 10), await graph.backlog()) == (0, [], Backlog(1, 0))
    await graph.postpone([point], seconds=SHORT, error="refused")
    assert await claim(graph) == []
    (failure,) = await graph.failures("t", 10)
    assert (failure.point_id, failure.item, failure.tries, failure.error) == (chunk.uid, item.uid, 1, "refused")
    assert await graph.failures("t", 10, items=[item.uid]) == [failure]
    assert (await graph.failures("t", 10, items=[chunk.uid]), await graph.failures("u", 10)) == ([], [])
    assert (await claim_soon(graph))[0].tries == 1
    await graph.requeue([chunk.uid])
    assert await graph.failures("t", 10) == [], "told to try again is a new start"


async def test_what_changed_meanwhile_is_due_when_it_is_given_back(graph: Graph) -> None:
    _, (chunk,) = await put_item(graph, "a")
    (old,) = await claim(graph)
    await put(graph, [replace(chunk, text="changed")])
    await graph.postpone([old], seconds=LONG, error="refused")
    (new,) = await claim(graph)
    assert (new.tries, new.chunk and new.chunk.text) == (0, "changed")
