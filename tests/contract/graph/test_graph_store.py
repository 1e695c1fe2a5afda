"""What every GraphStore must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_shared.errors import MissingRecordError, UnknownTypeError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node, Sensitivity
from vicw_shared.model.chain import clock_key, next_key
from vicw_shared.ports import Direction, GraphTransaction, ModelIdentity, Receipt, Spread
from vicw_shared.uids import make_uid


async def test_a_stored_node_is_read_back_unchanged(graph: Graph) -> None:
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
        superseded_at=AT,
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


async def test_a_failed_write_is_rolled_back(graph: Graph) -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes([node("x")])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await graph.write("t", "c", work)
    assert await graph.nodes("t", [make_uid("x")]) == {}
    with pytest.raises(MissingRecordError):
        await put(graph, [node("a")], [edge("RELATED_TO", "a", "missing")])
    assert await graph.nodes("t", [make_uid("a")]) == {}


async def test_an_unregistered_edge_type_is_refused_and_its_write_rolled_back(
    graph: Graph,
) -> None:
    with pytest.raises(UnknownTypeError, match="'INVENTED' is not registered"):
        await put(graph, [node("a"), node("b")], [edge("RELATED_TO", "a", "b"), edge("INVENTED", "a", "b")])
    assert await graph.nodes("t", [make_uid("a"), make_uid("b")]) == {}


async def test_a_cancelled_write_frees_the_store(graph: Graph) -> None:
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


async def test_a_tenant_cannot_change_another_tenants_nodes(graph: Graph) -> None:
    await put(graph, [node("x", text="mine")])
    await put(graph, [replace(node("x", text="stolen"), tenant="u")], tenant="u")
    assert (await graph.nodes("t", [make_uid("x")]))[make_uid("x")].text == "mine"
    with pytest.raises(MissingRecordError):
        await put(graph, [replace(node("y"), tenant="u")], [edge("RELATED_TO", "y", "x")], tenant="u")


async def test_an_unregistered_edge_type_has_no_edges(graph: Graph) -> None:
    told = edge("ABOUT", "a", "b")
    await put(graph, [node("a"), node("b")], [told])
    a = make_uid("a")
    assert await graph.expand("t", [a], [("HATES", Direction.OUT)], 9) == []
    found = await graph.expand("t", [a], [("HATES", Direction.OUT), ("ABOUT", Direction.OUT)], 9)
    assert [neighbour.edge.type for neighbour in found] == ["ABOUT"]

    async def work(transaction: GraphTransaction) -> list[list[Edge]]:
        await transaction.drop_edges([edge("HATES", "a", "b")])
        return [await transaction.edges([a], types) for types in (["HATES"], ["HATES", "ABOUT"])]

    assert await graph.write("t", "c", work) == [[], [told]]


@pytest.mark.parametrize("many", [False, True], ids=["few spreads", "all spreads"])
async def test_expand_finds_the_same_neighbours_along_few_and_many_spreads(graph: Graph, many: bool) -> None:
    """One way to read serves a node of few edges, another a hub; an edge to itself leads out and in."""
    spokes, hub = [f"s{number}" for number in range(300)], make_uid("hub")
    edges = [edge("RELATED_TO", "hub", spoke, 0.9 if spoke == "s150" else 0.5) for spoke in spokes]
    few = [edge("RELATED_TO", "few", n, w) for n, w in (("s1", 0.2), ("s2", 0.9), ("s3", 0.5), ("few", 0.7))]
    other = [edge("DEPENDS_ON", "s4", "hub"), edge("DEPENDS_ON", "few", "s4"), edge("RELATED_TO", "s5", "few", 0.4)]
    await put(graph, [node(n) for n in ("hub", "few", *spokes)], [*edges, *few, *other])
    asked: list[Spread] = [("RELATED_TO", Direction.IN), ("DEPENDS_ON", Direction.IN), ("RELATED_TO", Direction.OUT)]
    rest = [(t.name, way) for t in EdgeRegistry.with_core_types() for way in Direction if t.name != "DEPENDS_ON"]
    spreads = list(dict.fromkeys([*asked, *rest])) if many else asked
    found = await graph.expand("t", [hub, make_uid("few"), hub], spreads, 3)
    assert {one.origin for one in found} == {hub, make_uid("few")}
    assert [one.node.name for one in found if one.origin == make_uid("few")] == ["few", "s5", "s2", "few", "s3"]
    of_hub = [one for one in found if one.origin == hub]
    assert [one.node.name for one in of_hub if one.edge.type == "DEPENDS_ON"] == ["s4"]
    related = [one.node.name for one in of_hub if one.edge.type == "RELATED_TO"]
    assert (len(set(related)), related[0]) == (3, "s150"), "the heaviest of all"
    some = await graph.expand("t", [hub], spreads, 3, among=10)
    assert len({one.node.uid for one in some if one.edge.type == "RELATED_TO"}) == 3
    leads = [
        await graph.weighted_neighbours("t", [hub], ("RELATED_TO", Direction.OUT), 3, among=among)
        for among in (None, 10)
    ]
    assert [len(led) for led in leads] == [3, 3]
    assert "s150" in {lead.name for lead in leads[0]}, "among the heaviest of all"


async def test_of_edges_with_equal_weights_the_oldest_come_first(graph: Graph) -> None:
    """What a limit leaves out must not depend on the engine: mentions all have the same weight."""
    hub, spokes = make_uid("hub"), [f"s{number}" for number in range(40)]
    await put(graph, [node("hub")])
    for minute, spoke in enumerate(reversed(spokes)):
        at = AT + timedelta(minutes=minute)
        await put(graph, [node(spoke, created_at=at)], [replace(edge("RELATED_TO", spoke, "hub"), created_at=at)])
    oldest = spokes[::-1][:5]
    few, all_types = [("RELATED_TO", Direction.IN)], [(t.name, Direction.IN) for t in EdgeRegistry.with_core_types()]
    for spreads in (few, all_types):
        assert {one.node.name for one in await graph.expand("t", [hub], spreads, 5)} == set(oldest)
    assert {lead.name for lead in await graph.weighted_neighbours("t", [hub], few[0], 5)} == set(oldest)


async def test_expand_follows_one_type_one_way_heaviest_first(graph: Graph) -> None:
    edges = [edge("RELATED_TO", "a", n, w) for n, w in (("b", 0.2), ("c", 0.9), ("d", 0.5))]
    await put(graph, [node(n) for n in "abcd"], [*edges, edge("DEPENDS_ON", "a", "b"), edge("RELATED_TO", "b", "a")])
    out = await graph.expand("t", [make_uid("a")], [("RELATED_TO", Direction.OUT)], 2)
    assert [(n.node.name, n.edge.weight) for n in out] == [("c", 0.9), ("d", 0.5)]
    (back,) = await graph.expand("t", [make_uid("a")], [("RELATED_TO", Direction.IN)], 9)
    assert (back.node.name, back.origin, back.edge.properties) == ("b", make_uid("a"), {"certainty": 0.5})
    assert await graph.expand("u", [make_uid("a")], [("RELATED_TO", Direction.OUT)], 9) == []


async def test_an_edge_put_again_keeps_its_provenance(graph: Graph) -> None:
    await put(graph, [node("a"), node("b")], [edge("RELATED_TO", "a", "b", 0.2, by="first")])
    later = replace(edge("RELATED_TO", "a", "b", 0.8, by="second"), created_at=AT + timedelta(days=1))
    await put(graph, [], [later])
    (found,) = await graph.expand("t", [make_uid("a")], [("RELATED_TO", Direction.OUT)], 9)
    assert (found.edge.weight, found.edge.created_by, found.edge.created_at) == (0.8, "first", AT)


async def test_a_transaction_reads_counters_gaps_and_latest_versions(graph: Graph) -> None:
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
        assert [found.uid for found in await transaction.latest(clock_key(new[3]), 9)] == [two, one]
        assert [found.uid for found in await transaction.latest(clock_key(stored[1]), 9)] == [one]
        assert [found.uid for found in await transaction.latest(clock_key(new[3]), 1)] == [two]

    await graph.write("t", "c", work)


async def test_receipts_are_per_tenant(graph: Graph) -> None:
    receipt = Receipt("k", "print", AT, {"a": 1})

    async def keep(transaction: GraphTransaction) -> None:
        await transaction.put_receipt(receipt)
        assert await transaction.receipt("k") == receipt

    await graph.write("t", "c", keep)
    assert await graph.record.receipt("t", "k") == receipt
    assert await graph.record.receipt("u", "k") is None


async def test_receipts_are_forgotten_by_age_and_tenant(graph: Graph) -> None:
    async def keep(transaction: GraphTransaction) -> None:
        for days in (0, 1, 2):
            await transaction.put_receipt(Receipt(f"k{days}", "print", AT + timedelta(days=days), {}))

    await graph.write("t", "c", keep)
    await graph.write("u", "c", keep)
    await graph.write("t", "c", lambda transaction: transaction.forget_receipts(AT + timedelta(days=1), limit=9))

    assert [await graph.record.receipt("t", f"k{days}") is not None for days in (0, 1, 2)] == [False, True, True]
    assert await graph.record.receipt("u", "k0") is not None


async def test_forget_receipts_respects_its_limit_oldest_first(graph: Graph) -> None:
    async def keep(transaction: GraphTransaction) -> None:
        for days in range(6):
            await transaction.put_receipt(Receipt(f"k{days}", "print", AT + timedelta(days=days), {}))

    async def left(tenant: str) -> list[int]:
        return [days for days in range(6) if await graph.record.receipt(tenant, f"k{days}") is not None]

    await graph.write("t", "c", keep)
    await graph.write("u", "c", keep)
    before = AT + timedelta(days=4)
    await graph.write("t", "c", lambda transaction: transaction.forget_receipts(before, limit=3))
    assert (await left("t"), await left("u")) == ([3, 4, 5], [0, 1, 2, 3, 4, 5]), "the oldest first"
    assert [await graph.record.forget_receipts(before, limit=3) for _ in range(3)] == [3, 2, 0], "whosever they are"
    assert (await left("t"), await left("u")) == ([4, 5], [4, 5])


async def test_edges_from_items_finds_edges_by_their_source_item(graph: Graph) -> None:
    told = replace(edge("RELATED_TO", "a", "b"), properties={"item": "x"})
    await put(graph, [node("a"), node("b")], [told, edge("DEPENDS_ON", "a", "b")])

    async def work(transaction: GraphTransaction) -> None:
        assert [found.id for found in await transaction.edges_from_items(["x", "y"])] == [told.id]
        assert await transaction.edges_from_items(["y"]) == []

    await graph.write("t", "c", work)


async def test_the_embedding_model_identity_is_stored(graph: Graph) -> None:
    assert (await graph.record.models()).used is None
    identity = ModelIdentity("m", 3, "d", 1)
    await graph.record.set_model(identity)
    assert (await graph.record.models()).used == identity


async def test_point_states_cover_chunks_of_all_tenants(graph: Graph) -> None:
    chunk, other = node("k", Label.CHUNK, text="x"), replace(node("o", Label.CHUNK, text="x"), tenant="u")
    await put(graph, [chunk, node("n")])
    await put(graph, [other], tenant="u")
    assert (await graph.audit.point_states([chunk.uid, other.uid, make_uid("n"), make_uid("none")])).keys() == {
        chunk.uid,
        other.uid,
    }


async def test_the_other_end_of_an_edge_is_live_or_was_replaced(graph: Graph) -> None:
    await put(graph, [node("thing"), node("now", Label.EVENT), node("then", Label.EVENT, retired_at=AT)])
    await put(graph, [], [edge("MENTIONS", "now", "thing"), edge("MENTIONS", "then", "thing")])
    told = await graph.weighted_neighbours("t", [make_uid("thing")], ("MENTIONS", Direction.IN), 9)
    assert {lead.name: lead.is_live for lead in told} == {"now": True, "then": False}
