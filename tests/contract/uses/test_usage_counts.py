"""What every graph must do with how often items were shown."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from support.stores.graph_records import AT, Graph, node, put
from vicw_shared.model import Label
from vicw_shared.ports import Nodes, Use
from vicw_shared.uids import make_uid

A, B, OTHERS = make_uid("a"), make_uid("b"), make_uid("others")


async def fill(graph: Graph) -> None:
    await put(graph, [node("a"), node("b", Label.EVENT)])
    await put(graph, [node("others", tenant="u")], tenant="u")


async def test_usage_counts_add_up_and_keep_the_latest_time(graph: Graph) -> None:
    await fill(graph)
    assert await graph.uses.uses("t", [A, B]) == {}
    later = AT + timedelta(hours=1)
    await graph.uses.add_uses("t", {A: 2, B: 1}, later)
    await graph.uses.add_uses("t", {A: 3}, AT)
    assert await graph.uses.uses("t", [A, B]) == {A: Use(5, later), B: Use(1, later)}
    assert await graph.uses.uses("t", []) == {}
    await graph.uses.add_uses("t", {}, later)


async def test_uses_of_unknown_or_foreign_nodes_are_not_counted(graph: Graph) -> None:
    await fill(graph)
    await graph.uses.add_uses("t", {make_uid("nothing"): 1, OTHERS: 1, A: 1}, AT)
    assert await graph.uses.uses("t", [make_uid("nothing"), OTHERS, A]) == {A: Use(1, AT)}
    assert await graph.uses.uses("u", [OTHERS, A]) == {}


async def test_usage_counts_survive_an_update_and_are_deleted_with_their_item(graph: Graph) -> None:
    await fill(graph)
    await graph.uses.add_uses("t", {A: 1, B: 1}, AT)
    await put(graph, [node("a", speaker="Ana")])
    assert await graph.uses.uses("t", [A]) == {A: Use(1, AT)}
    await graph.write("t", "c", lambda transaction: transaction.drop_nodes([A]))
    await put(graph, [node("a")])
    assert await graph.uses.uses("t", [A, B]) == {B: Use(1, AT)}


async def test_concurrent_usage_counts_lose_nothing(graph: Graph) -> None:
    await fill(graph)
    await asyncio.gather(*(graph.uses.add_uses("t", {A: 1, B: 1} if n % 2 else {B: 1, A: 1}, AT) for n in range(20)))
    assert await graph.uses.uses("t", [A, B]) == {A: Use(20, AT), B: Use(20, AT)}


async def test_usage_counts_are_not_graph_nodes(graph: Graph) -> None:
    await fill(graph)
    before = await graph.audit.count(Label.ENTITY)
    await graph.uses.add_uses("t", {A: 1}, AT)
    assert await graph.audit.count(Label.ENTITY) == before
    assert [one.uid for one in await graph.scan(Nodes(Label.ENTITY), limit=9)] == sorted([A, OTHERS])


async def test_transferred_uses_take_the_highest_count_and_latest_time(graph: Graph) -> None:
    await fill(graph)
    await put(graph, [node("c"), node("d")])
    later, uids = AT + timedelta(hours=1), [make_uid("c"), make_uid("d")]
    await graph.write("t", "c", lambda transaction: transaction.transfer_uses([A, B], uids))
    assert await graph.uses.uses("t", uids) == {}, "there is nothing to hand on"
    await graph.uses.add_uses("t", {A: 3}, AT)
    await graph.uses.add_uses("t", {B: 2, uids[1]: 9}, later)
    await graph.write("t", "c", lambda transaction: transaction.transfer_uses([A, B], uids))
    assert await graph.uses.uses("t", uids) == {uids[0]: Use(3, later), uids[1]: Use(9, later)}
    await graph.write("t", "c", lambda transaction: transaction.transfer_uses(uids, []))
    assert await graph.uses.uses("t", [A]) == {A: Use(3, AT)}


async def test_raising_usage_counts_is_idempotent(graph: Graph) -> None:
    await fill(graph)
    earlier, later = AT - timedelta(hours=1), AT + timedelta(hours=1)
    await graph.uses.add_uses("t", {A: 5}, AT)
    told = {A: Use(3, later), B: Use(2, earlier), OTHERS: Use(9, AT), make_uid("nothing"): Use(9, AT)}
    for _ in range(2):
        await graph.write("t", "c", lambda transaction: transaction.raise_uses(told))
        assert await graph.uses.uses("t", [A, B]) == {A: Use(5, later), B: Use(2, earlier)}
    await graph.write("t", "c", lambda transaction: transaction.raise_uses({A: Use(6, AT)}))
    assert await graph.uses.uses("t", [A]) == {A: Use(6, later)}
    assert await graph.uses.uses("u", [OTHERS]) == {}
    await graph.write("t", "c", lambda transaction: transaction.raise_uses({}))


async def test_the_seconds_since_the_latest_question_are_recorded(graph: Graph) -> None:
    assert await graph.uses.seconds_since_question() is None
    for _ in range(2):
        await graph.uses.record_question()
        await asyncio.sleep(0.3)
        ago = await graph.uses.seconds_since_question()
        assert ago is not None
        assert 0.2 < ago < 5
    await asyncio.gather(*(graph.uses.record_question() for _ in range(10)))
