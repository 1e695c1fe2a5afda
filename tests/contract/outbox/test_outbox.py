"""What every Outbox must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_shared.clock import now
from vicw_shared.model import Label, Node
from vicw_shared.ports import Backlog, IndexFailure, ItemRef, Passages, PendingKind, PendingPoint, UnindexedCounts

LONG, SHORT = 60.0, 1.0


async def claim(graph: Graph, limit: int = 10) -> list[PendingPoint]:
    """Claim what is due, to hold it for the rest of the test."""
    return await graph.outbox.claim(limit, seconds=LONG)


async def claim_soon(graph: Graph) -> list[PendingPoint]:
    """Claim what will be due in a moment."""
    async with asyncio.timeout(5):
        while not (page := await claim(graph)):  # noqa: ASYNC110 - time alone makes it due
            await asyncio.sleep(0.05)
    return page


async def put_item(
    graph: Graph, name: str, tenant: str = "t", passages: int = 1, source_id: str | None = None
) -> tuple[Node, list[Node]]:
    item = replace(node(name, content_hash="h", source_id=source_id), tenant=tenant)
    chunks = [replace(node(f"{name} {n}", Label.CHUNK, text=name), tenant=tenant) for n in range(passages)]
    edges = [edge("EVIDENCED_BY", name, chunk.name) for chunk in chunks]
    await put(graph, [replace(item, qdrant_id=chunks[0].uid), *chunks], edges, tenant)
    return item, chunks


@pytest.mark.parametrize("edge_type", ["ABOUT", "TAGGED"])
async def test_a_tag_or_about_edge_queues_a_payload_update(graph: Graph, edge_type: str) -> None:
    target = node("sea", Label.CONCEPT, subtype="tag")
    chunk = node("chunk", Label.CHUNK, text="proof")
    await put(graph, [node("item", content_hash="h"), chunk, target], [edge("EVIDENCED_BY", "item", "chunk")])
    await graph.outbox.acknowledge([(await claim(graph))[0]])
    assert await graph.outbox.queued([chunk.uid]) == set()

    said = edge(edge_type, "item", "sea")
    await put(graph, [], [said])
    (pending,) = await claim(graph)
    assert await graph.outbox.queued([chunk.uid, target.uid]) == {chunk.uid}
    assert (pending.kind, pending.about[:1], pending.tags) == (
        PendingKind.PAYLOAD,
        ("sea",) if edge_type == "ABOUT" else (),
        ("sea",) if edge_type == "TAGGED" else (),
    )
    await graph.outbox.acknowledge([pending])

    await graph.write("t", "c", lambda transaction: transaction.drop_edges([said]))
    (pending,) = await claim(graph)
    assert (pending.kind, pending.about, pending.tags) == (PendingKind.PAYLOAD, (), ())


def statement(name: str) -> Node:
    """A node with a point of its own that is no passage."""
    said = node(name, Label.EVENT, subtype="statement", text=name)
    return replace(said, qdrant_id=said.uid)


async def test_a_claimed_passage_includes_its_statements(graph: Graph) -> None:
    item, (chunk, other) = await put_item(graph, "i", passages=2)
    told = node("told", Label.EVENT, subtype="statement", text="of a caller's own")
    said = [statement("it rains"), statement("it pours")]
    proofs = [edge("EVIDENCED_BY", name, chunk.name) for name in ("it rains", "it pours", "told")]
    await put(graph, [*said, told], proofs)

    by_point = {point.point_id: point for point in await claim(graph)}
    assert {one.uid for one in by_point[chunk.uid].statements} == {one.uid for one in said}
    assert by_point[other.uid].statements == ()
    parts = by_point[chunk.uid].parts
    assert [part.point_id for part in parts] == [part.chunk.uid for part in parts if part.chunk]
    assert parts[0].chunk == by_point[chunk.uid].chunk
    assert all(part.item is not None and part.item.uid == item.uid for part in parts)
    assert {p.point_id: p.parts for p in await graph.scan(Passages(), limit=9)}.keys() == by_point.keys()

    points = [chunk.uid, *(one.uid for one in said)]
    assert await graph.audit.point_states([*points, told.uid, item.uid]) == dict.fromkeys(points, False)
    await graph.outbox.acknowledge([by_point[chunk.uid]])
    assert await graph.audit.point_states(points) == dict.fromkeys(points, True)
    assert not (await graph.nodes("t", [told.uid]))[told.uid].indexed
    await graph.outbox.requeue([chunk.uid])
    assert await graph.audit.point_states(points) == dict.fromkeys(points, False)


async def test_what_waits_for_its_point_is_listed_by_context(graph: Graph) -> None:
    _, chunks = await put_item(graph, "i", passages=2)
    elsewhere = node("elsewhere", Label.CHUNK, text="elsewhere", context="other")
    await put(graph, [elsewhere])
    here = {chunk.uid for chunk in chunks}

    async def listed(contexts: list[str] | None, limit: int = 9) -> set[str]:
        return set(await graph.outbox.waiting("t", contexts=contexts, limit=limit))

    assert await listed(None) == here | {elsewhere.uid}
    assert (await listed(["c"]), await listed(["other", "c"])) == (here, here | {elsewhere.uid})
    assert len(await listed(["c"], limit=1)) == 1
    assert await listed([]) == await listed(["nowhere"]) == set()
    assert await graph.outbox.waiting("another", limit=9) == []
    by_point = {point.point_id: point for point in await claim(graph)}
    assert await listed(["c"]) == here, "a claim has written nothing yet"
    await graph.outbox.acknowledge([by_point[chunks[0].uid]])
    await graph.outbox.postpone([by_point[chunks[1].uid]], seconds=None, error="too long")
    assert await listed(["c"]) == set(), "one is found, the other given up"
    await graph.outbox.requeue([chunks[0].uid], PendingKind.PAYLOAD)
    assert await listed(["c"]) == set()


async def test_an_item_is_indexed_when_its_main_passage_is(graph: Graph) -> None:
    first, second = (node(name, Label.CHUNK, text=name) for name in ("first", "second"))
    item = node("item", content_hash="h", qdrant_id=first.uid)
    await put(
        graph, [item, first, second], [edge("EVIDENCED_BY", "item", "first"), edge("EVIDENCED_BY", "item", "second")]
    )

    async def indexed() -> bool:
        return (await graph.nodes("t", [item.uid]))[item.uid].indexed

    by_point = {point.point_id: point for point in await claim(graph)}
    await graph.outbox.acknowledge([by_point[second.uid]])
    assert not await indexed()
    await graph.outbox.acknowledge([by_point[first.uid]])
    assert await indexed()
    await graph.outbox.requeue([first.uid])
    assert not await indexed()
    await graph.outbox.acknowledge(await claim(graph))
    assert await indexed()
    await graph.outbox.requeue([second.uid])
    assert await indexed(), "another stands for it"


async def test_a_chunk_is_pending_until_it_is_acknowledged(graph: Graph) -> None:
    item, whom = node("item", content_hash="h"), node("Ana")
    chunk = node("chunk", Label.CHUNK, text="proof")
    await put(graph, [item, whom, chunk], [edge("EVIDENCED_BY", "item", "chunk"), edge("ABOUT", "item", "Ana")])
    (pending,) = await claim(graph)
    assert (pending.kind, pending.chunk, pending.item) == (PendingKind.UPSERT, chunk, item)
    assert pending.about == ("Ana", whom.uid)
    assert (await graph.owners("t", [chunk.uid])) == {chunk.uid: ItemRef.of(item)}
    assert (await graph.outbox.count_unindexed("t", [item.uid]), await graph.outbox.any_indexed()) == (
        UnindexedCounts(1, 0),
        False,
    )
    await graph.outbox.acknowledge([pending])
    assert (await graph.outbox.count_unindexed("t", [item.uid]), await claim(graph)) == (UnindexedCounts(0, 0), [])
    assert await graph.outbox.any_indexed()
    await put(graph, [replace(chunk, indexed=True, retired_at=AT)])
    (pending,) = await claim(graph)
    assert pending.kind is PendingKind.PAYLOAD
    await graph.outbox.postpone([pending], seconds=0)
    assert await graph.outbox.requeue([chunk.uid]) == 1
    (pending,) = await claim(graph)
    assert pending.kind is PendingKind.UPSERT, "one row a point, and the vector is what is missing"
    await graph.outbox.acknowledge([pending])
    assert await graph.outbox.backlog() == Backlog(0, 0)
    assert (await graph.outbox.requeue([chunk.uid]), await graph.outbox.backlog()) == (1, Backlog(1, 0))


async def test_a_claimed_entry_is_held_until_its_lease_expires(graph: Graph) -> None:
    await put_item(graph, "a", passages=3)
    first = await graph.outbox.claim(2, seconds=SHORT)
    second = await graph.outbox.claim(10, seconds=SHORT)
    assert (len(first), len(second), await graph.outbox.claim(10, seconds=SHORT)) == (2, 1, [])
    again = await claim_soon(graph)
    assert {p.point_id for p in again} <= {p.point_id for p in (*first, *second)}


async def test_a_renewed_outbox_lease_is_held_longer(graph: Graph) -> None:
    await put_item(graph, "a")
    held = await graph.outbox.claim(1, seconds=3)  # the first claim of a server that has just started takes a while
    assert await graph.outbox.renew(held, seconds=LONG) == 1
    await asyncio.sleep(3.1)
    assert await claim(graph) == []
    await graph.outbox.acknowledge(held)
    assert await graph.outbox.backlog() == Backlog(0, 0)
    assert await graph.outbox.renew(held, seconds=LONG) == 0, "it is not held any longer"


async def test_concurrent_outbox_claims_do_not_overlap(graph: Graph) -> None:
    await put_item(graph, "a", passages=40)
    parts = await asyncio.gather(*(graph.outbox.claim(7, seconds=LONG) for _ in range(8)))
    claimed = [point.point_id for part in parts for point in part]
    assert len(claimed) == len(set(claimed)) == 40


async def test_acknowledging_a_stale_claim_keeps_the_newer_change_pending(graph: Graph) -> None:
    _, (chunk,) = await put_item(graph, "a")
    (old,) = await claim(graph)
    await put(graph, [replace(chunk, text="changed")])
    assert await claim(graph) == [], "two must not write one point at the same time"
    await graph.outbox.acknowledge([old])
    assert not (await graph.nodes("t", [chunk.uid]))[chunk.uid].indexed
    (new,) = await claim(graph)
    assert new.chunk is not None
    assert (new.chunk.text, new.seq != old.seq) == ("changed", True)


async def test_an_outbox_claim_is_shared_between_tenants(graph: Graph) -> None:
    await put_item(graph, "large", "t", passages=30)
    await put_item(graph, "small", "u", passages=2)
    page = await claim(graph, 8)
    assert len(page) == 8
    assert (await graph.outbox.backlog("u"), await graph.outbox.backlog("t")) == (Backlog(2, 0), Backlog(30, 0))
    assert await graph.outbox.backlog("nobody") == Backlog(0, 0)
    assert sum(point.chunk is not None and point.chunk.tenant == "u" for point in page) == 2
    assert len(await claim(graph, 100)) == 24


async def test_successive_claims_reach_more_tenants_than_the_claim_size(graph: Graph) -> None:
    for number in range(6):
        await put_item(graph, f"of {number}", f"tenant {number}", passages=3)
    seen = [point.chunk.tenant for _ in range(3) for point in await claim(graph, 2) if point.chunk is not None]
    assert len(set(seen)) == 6


async def test_tenants_without_due_entries_do_not_delay_others(graph: Graph) -> None:
    for number in range(12):
        await put_item(graph, f"resting {number}", f"tenant {number}")
    await graph.outbox.postpone(await claim(graph, 20), seconds=LONG, error="refused")
    await put_item(graph, "first", "tenant 3", passages=2)
    await put_item(graph, "second", "tenant 8", passages=2)
    turns = [[point.item.name for point in await claim(graph, 1) if point.item is not None] for _ in range(5)]
    assert sorted(turns[:2]) == sorted(turns[2:4]) == [["first"], ["second"]]
    assert turns[4] == []


async def test_outbox_entries_are_claimed_oldest_first(graph: Graph) -> None:
    for name in "abc":
        await put_item(graph, name)
    names = [point.item.name for point in await claim(graph, 2) if point.item is not None]
    assert names == ["a", "b"]


async def test_a_claim_may_be_restricted_to_items(graph: Graph) -> None:
    await put_item(graph, "before", passages=3)
    item, chunks = await put_item(graph, "wanted", passages=2)
    page = await graph.outbox.claim(10, seconds=LONG, items=[item.uid])
    assert {point.point_id for point in page} == {chunk.uid for chunk in chunks}
    assert await graph.outbox.claim(10, seconds=LONG, items=[item.uid]) == [], "they are held"
    await graph.outbox.postpone(page, seconds=LONG, error="the embedder fails at it")
    assert len(await claim(graph)) == 3
    assert len(await graph.outbox.claim(10, seconds=LONG, items=[item.uid])) == 2, "they rest, and somebody waits"


async def test_a_postponed_entry_is_due_later_and_counts_its_failures(graph: Graph) -> None:
    item, (chunk,) = await put_item(graph, "a", source_id="its id")
    (point,) = await claim(graph)
    await graph.outbox.postpone([point], seconds=0)
    (point,) = await claim(graph)
    assert (point.tries, await graph.outbox.failures(None, 10), await graph.outbox.backlog()) == (0, [], Backlog(1, 0))
    await graph.outbox.postpone([point], seconds=SHORT, error="refused")
    assert await claim(graph) == []
    (failure,) = await graph.outbox.failures("t", 10)
    assert abs(failure.since - now()) < timedelta(minutes=1)
    assert failure == IndexFailure(chunk.uid, "t", "c", item.uid, "its id", 1, "refused", failure.since, dead=False)
    assert await graph.outbox.failures("t", 10, items=[item.uid]) == [failure]
    assert (await graph.outbox.failures("t", 10, items=[chunk.uid]), await graph.outbox.failures("u", 10)) == ([], [])
    assert (await claim_soon(graph))[0].tries == 1
    await graph.outbox.requeue([chunk.uid])
    assert await graph.outbox.failures("t", 10) == [], "told to try again is a new start"


async def test_an_entry_whose_item_changed_meanwhile_is_due_at_once_when_postponed(graph: Graph) -> None:
    _, (chunk,) = await put_item(graph, "a")
    (old,) = await claim(graph)
    await put(graph, [replace(chunk, text="changed")])
    await graph.outbox.postpone([old], seconds=LONG, error="refused")
    (new,) = await claim(graph)
    assert (new.tries, new.chunk and new.chunk.text) == (0, "changed")


async def bury(graph: Graph, tries: int = 1) -> PendingPoint:
    """Let the one entry that is due fail so often, and never be due again."""
    for _ in range(tries - 1):
        await graph.outbox.postpone(await claim(graph), seconds=0, error="refused")
    (point,) = await claim(graph)
    await graph.outbox.postpone([point], seconds=None, error="refused again")
    return point


async def test_a_payload_update_is_requeued_without_its_vector(graph: Graph) -> None:
    item, chunks = await put_item(graph, "a", passages=2)
    first, second = sorted(chunk.uid for chunk in chunks)
    assert await graph.outbox.requeue([first], PendingKind.PAYLOAD) == 1
    held = await claim(graph)
    assert {point.kind for point in held} == {PendingKind.UPSERT}, "it needs more than that"
    await graph.outbox.acknowledge(held)
    assert await graph.outbox.requeue([first, second, item.uid], PendingKind.PAYLOAD) == 2
    assert await graph.outbox.requeue([], PendingKind.PAYLOAD) == 0
    found = await graph.nodes("t", [item.uid, first, second])
    assert all(node.indexed for node in found.values()), "their vectors are what they were"
    pending = await claim(graph)
    assert {(point.point_id, point.kind) for point in pending} == {
        (first, PendingKind.PAYLOAD),
        (second, PendingKind.PAYLOAD),
    }
    await graph.outbox.requeue([first], PendingKind.PAYLOAD)
    await graph.outbox.acknowledge(pending)
    (again,) = await claim(graph)
    assert (again.point_id, again.kind) == (first, PendingKind.PAYLOAD), "what was queued meanwhile is due"
    await graph.outbox.requeue([first])
    await graph.outbox.postpone([again], seconds=0)
    (again,) = await claim(graph)
    assert again.kind is PendingKind.UPSERT


async def test_a_dead_entry_is_kept_and_not_claimed(graph: Graph) -> None:
    item, _ = await put_item(graph, "a")
    dead = await bury(graph, tries=3)
    await put_item(graph, "b")
    (other,) = await claim(graph)
    assert other.point_id != dead.point_id
    await graph.outbox.acknowledge([other])
    assert (await claim(graph), await graph.outbox.claim(10, seconds=LONG, items=[item.uid])) == ([], [])
    assert await graph.outbox.count_unindexed("t", [item.uid]) == UnindexedCounts(0, 1)
    assert (await graph.outbox.backlog(), await graph.outbox.backlog("t"), await graph.outbox.backlog("u")) == (
        Backlog(0, 0, 1),
        Backlog(0, 0, 1),
        Backlog(0, 0, 0),
    )
    (failure,) = await graph.outbox.failures(None, 10)
    assert (failure.point_id, failure.dead, failure.tries, failure.error) == (dead.point_id, True, 3, "refused again")
    assert await graph.outbox.queued([dead.point_id]) == {dead.point_id}, (
        "it is not forgotten, and need not be found anew"
    )
    assert await graph.outbox.queued([dead.point_id, other.point_id], failing=False) == set()
    await graph.outbox.replay([dead.point_id])
    assert await graph.outbox.queued([dead.point_id, other.point_id], failing=False) == {dead.point_id}


async def test_an_outbox_failure_keeps_the_time_of_its_first_failure(graph: Graph) -> None:
    await put_item(graph, "a")
    await graph.outbox.postpone(await claim(graph), seconds=0, error="refused")
    (first,) = await graph.outbox.failures("t", 10)
    await asyncio.sleep(0.05)
    await bury(graph)
    (second,) = await graph.outbox.failures("t", 10)
    assert (first.since, first.tries, second.tries) == (second.since, 1, 2)


async def test_a_changed_item_revives_its_dead_outbox_entry(graph: Graph) -> None:
    item, (chunk,) = await put_item(graph, "a")
    await bury(graph)
    await put(graph, [replace(chunk, text="changed")])
    assert (await graph.outbox.failures("t", 10), await graph.outbox.count_unindexed("t", [item.uid])) == (
        [],
        UnindexedCounts(1, 0),
    )
    (new,) = await claim(graph)
    assert (new.tries, new.kind, new.chunk and new.chunk.text) == (0, PendingKind.UPSERT, "changed")
    await graph.outbox.postpone([new], seconds=None, error="refused")
    await graph.outbox.requeue([chunk.uid])
    assert await graph.outbox.backlog() == Backlog(1, 0)


async def test_a_replayed_entry_is_due_as_if_it_had_never_failed(graph: Graph) -> None:
    item, (chunk,) = await put_item(graph, "a")
    await bury(graph, tries=2)
    assert (await graph.outbox.replay([item.uid]), await graph.outbox.replay([])) == (0, 0), (
        "neither is an entry that failed"
    )
    assert await graph.outbox.replay([chunk.uid, chunk.uid]) == 1
    assert (await graph.outbox.failures("t", 10), await graph.outbox.replay()) == ([], 0)
    (point,) = await claim(graph)
    assert (point.point_id, point.tries, point.kind) == (chunk.uid, 0, PendingKind.UPSERT)
    await graph.outbox.acknowledge([point])
    assert (await graph.outbox.count_unindexed("t", [item.uid]), await graph.outbox.backlog()) == (
        UnindexedCounts(0, 0),
        Backlog(0, 0),
    )


async def test_postponed_entries_may_be_replayed_by_tenant_or_all(graph: Graph) -> None:
    for name, tenant in (("a", "t"), ("b", "t"), ("c", "u"), ("d", "u")):
        _, (chunk,) = await put_item(graph, name, tenant)
        (point,) = await claim(graph)
        await graph.outbox.postpone([point], seconds=LONG if name in "ac" else None, error="refused")
        assert await graph.outbox.replay([chunk.uid], tenant="another") == 0
    assert [(await graph.outbox.backlog(name)).dead for name in ("t", "u")] == [1, 1]
    assert (await graph.outbox.replay(tenant="t"), await graph.outbox.backlog("t")) == (2, Backlog(2, 0))
    assert len(await claim(graph)) == 2
    assert (await graph.outbox.replay(), await graph.outbox.replay()) == (2, 0)
    assert len(await claim(graph)) == 2


async def test_dead_entries_over_one_transaction_batch_are_all_replayed(graph: Graph) -> None:
    count = 2001
    await put_item(graph, "large", passages=count)
    await graph.outbox.postpone(await claim(graph, count), seconds=None, error="refused")
    assert (await graph.outbox.backlog(), await graph.outbox.replay()) == (Backlog(0, 0, count), count)
    assert await graph.outbox.backlog() == Backlog(count, 0)
