"""What every store of items that have still to be read must do."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph, node, put
from vicw_shared.clock import now
from vicw_shared.model import Node
from vicw_shared.ports import Backlog, GraphTransaction, Nodes, PendingExtraction

LONG, SHORT = 60.0, 1.0


async def queue_items(graph: Graph, *names: str, tenant: str = "t") -> list[Node]:
    """Store items of these names that have to be read."""
    items = [replace(node(name, content_hash="h", source_id=f"id of {name}"), tenant=tenant) for name in names]

    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes(items)
        await transaction.queue_extractions([item.uid for item in items])

    await graph.write(tenant, "c", work)
    return items


async def dequeue(graph: Graph, item: str, tenant: str = "t") -> bool:
    return await graph.write(tenant, "c", lambda transaction: transaction.dequeue_extraction(item))


async def names(graph: Graph, claimed: list[PendingExtraction]) -> list[str]:
    found: dict[str, Node] = {}
    for one in claimed:
        found |= await graph.nodes(one.tenant, [one.item])
    return [found[one.item].name for one in claimed]


async def test_an_extraction_is_pending_until_it_is_dequeued_once(graph: Graph) -> None:
    (item,) = await queue_items(graph, "a")
    assert (await graph.pending_extractions.backlog(), list(await graph.pending_extractions.of("t", [item.uid]))) == (
        Backlog(1, 0),
        [item.uid],
    )
    assert await graph.pending_extractions.of("u", [item.uid]) == {}
    assert not await dequeue(graph, item.uid, tenant="u"), "it is another tenant's"
    assert await graph.pending_extractions.claim(9, seconds=LONG) == [PendingExtraction(item.uid, "t", "c")]
    assert await dequeue(graph, item.uid)
    assert not await dequeue(graph, item.uid), "it is read once"
    assert (await graph.pending_extractions.backlog(), await graph.pending_extractions.of("t", [item.uid])) == (
        Backlog(0, 0),
        {},
    )


async def test_extractions_queued_by_a_failed_transaction_are_not_pending(graph: Graph) -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.queue_extractions([node("a").uid])
        raise ValueError("no")

    with contextlib.suppress(ValueError):
        await graph.write("t", "c", work)
    assert await graph.pending_extractions.backlog() == Backlog(0, 0)


async def test_a_claimed_extraction_is_held_until_its_lease_expires(graph: Graph) -> None:
    await queue_items(graph, "a", "b", "c")
    first = await graph.pending_extractions.claim(2, seconds=SHORT)
    second = await graph.pending_extractions.claim(9, seconds=SHORT)
    assert (len(first), len(second)) == (2, 1)
    async with asyncio.timeout(5):
        while not (again := await graph.pending_extractions.claim(9, seconds=LONG)):  # noqa: ASYNC110 - time alone makes it due
            await asyncio.sleep(0.05)
    assert {one.item for one in again} <= {one.item for one in (*first, *second)}


async def test_a_renewed_extraction_lease_is_held_longer(graph: Graph) -> None:
    (item,) = await queue_items(graph, "a")
    await graph.pending_extractions.claim(1, seconds=3)
    await graph.pending_extractions.renew(item.uid, seconds=LONG)
    await asyncio.sleep(3.1)
    assert await graph.pending_extractions.claim(1, seconds=LONG) == []


async def test_concurrent_extraction_claims_do_not_overlap(graph: Graph) -> None:
    await queue_items(graph, *(f"n{n}" for n in range(20)))
    parts = await asyncio.gather(*(graph.pending_extractions.claim(3, seconds=LONG) for _ in range(8)))
    claimed = [one.item for part in parts for one in part]
    assert len(claimed) == len(set(claimed)) == 20


async def test_extractions_are_claimed_oldest_first_and_by_tenant_in_turn(graph: Graph) -> None:
    await queue_items(graph, "a", "b", "c", "d")
    await queue_items(graph, "small", tenant="u")
    await queue_items(graph, "smaller", tenant="v")
    turns = [await names(graph, await graph.pending_extractions.claim(1, seconds=LONG)) for _ in range(7)]
    assert {turn[0] for turn in turns[:3]} == {"a", "small", "smaller"}
    assert turns[3:] == [["b"], ["c"], ["d"], []]


async def test_a_claim_may_be_restricted_to_items_that_a_request_waits_for(graph: Graph) -> None:
    await queue_items(graph, "before")
    (item,) = await queue_items(graph, "wanted")
    assert await names(graph, await graph.pending_extractions.claim(9, seconds=LONG, items=[item.uid])) == ["wanted"]
    assert await graph.pending_extractions.claim(9, seconds=LONG, items=[item.uid]) == [], "it is held"
    await graph.pending_extractions.postpone(item.uid, seconds=LONG, error="nonsense")
    assert await graph.pending_extractions.claim(9, seconds=LONG, items=[item.uid]) == [], "it rests"
    assert await names(graph, await graph.pending_extractions.claim(9, seconds=LONG)) == ["before"]


async def test_a_failed_extraction_is_postponed_and_listed(graph: Graph) -> None:
    (item,) = await queue_items(graph, "a")
    for tries in range(2):
        (claimed,) = await graph.pending_extractions.claim(1, seconds=LONG)
        assert claimed.tries == tries
        await graph.pending_extractions.postpone(item.uid, seconds=0, error=f"nonsense {tries}")
    (claimed,) = await graph.pending_extractions.claim(1, seconds=LONG)
    await graph.pending_extractions.postpone(item.uid, seconds=LONG)
    (failure,) = await graph.pending_extractions.failures("t", 9)
    assert (failure.item, failure.source_id, failure.tries, failure.error) == (item.uid, "id of a", 2, "nonsense 1")
    assert (failure.tenant, failure.context, failure.dead) == ("t", "c", False)
    assert abs(failure.since - now()) < timedelta(minutes=1)
    assert await graph.pending_extractions.failures("u", 9) == []
    assert (await graph.pending_extractions.backlog("t"), await graph.pending_extractions.backlog("u")) == (
        Backlog(1, 1),
        Backlog(0, 0),
    )
    assert (await graph.pending_extractions.of("t", [item.uid]))[item.uid].tries == 2


async def test_a_dead_extraction_is_not_tried_until_it_is_replayed(graph: Graph) -> None:
    first, second = await queue_items(graph, "a", "b")
    await graph.pending_extractions.claim(2, seconds=LONG)
    for item in (first, second):
        await graph.pending_extractions.postpone(item.uid, seconds=None, error="refused")
    assert await graph.pending_extractions.claim(9, seconds=LONG) == []
    assert [one.dead for one in (await graph.pending_extractions.of("t", [first.uid, second.uid])).values()] == [
        True,
        True,
    ]
    assert await graph.pending_extractions.backlog() == Backlog(0, 0, 2)
    assert [failure.dead for failure in await graph.pending_extractions.failures(None, 9)] == [True, True]
    assert await graph.pending_extractions.replay(tenant="u") == 0
    assert await graph.pending_extractions.replay([first.uid, node("nobody").uid]) == 1
    assert await graph.pending_extractions.claim(9, seconds=LONG) == [PendingExtraction(first.uid, "t", "c")]
    assert await graph.pending_extractions.replay(tenant="t") == 1
    assert await graph.pending_extractions.replay() == 0


async def test_a_dead_extraction_can_be_dequeued_or_dropped(graph: Graph) -> None:
    first, second = await queue_items(graph, "a", "b")
    await graph.pending_extractions.postpone(first.uid, seconds=None, error="refused")
    assert await dequeue(graph, first.uid)
    await graph.pending_extractions.drop(second.uid)
    await graph.pending_extractions.drop(second.uid)
    await graph.pending_extractions.postpone(second.uid, seconds=0, error="late")
    await graph.pending_extractions.renew(second.uid, seconds=LONG)
    assert await graph.pending_extractions.backlog() == Backlog(0, 0)


async def test_a_requeued_extraction_starts_without_failures(graph: Graph) -> None:
    (item,) = await queue_items(graph, "a")
    await graph.pending_extractions.postpone(item.uid, seconds=None, error="refused")
    await queue_items(graph, "a")
    assert await graph.pending_extractions.claim(9, seconds=LONG) == [PendingExtraction(item.uid, "t", "c")]


async def test_pending_extractions_are_not_scanned_as_graph_nodes(graph: Graph) -> None:
    (item,) = await queue_items(graph, "a")
    await put(graph, [node("b")])
    pages = await graph.scan(Nodes(item.label), limit=9)
    assert {one.name for one in pages} == {"a", "b"}
    assert all(one.created_at == AT for one in pages)
