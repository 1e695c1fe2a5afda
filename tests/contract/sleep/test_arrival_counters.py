"""What every graph must do with how much of a context the sleep cycle has been through."""

from __future__ import annotations

from support.stores.graph_records import Graph, node
from vicw_shared.model import Label
from vicw_shared.ports import ArrivalCount


async def arrive(graph: Graph, numbers: range, *, tenant: str = "t", context: str = "c") -> None:
    items = [
        node(f"{context}{n}", Label.EVENT, content_hash="h", arrival=n, tenant=tenant, context=context) for n in numbers
    ]
    root = node(f"root of {context}", Label.CONTEXT, tenant=tenant, context=context)
    await graph.write(tenant, context, lambda transaction: transaction.put_nodes([root, *items]))


def sizes(found: list[ArrivalCount]) -> dict[tuple[str, str], int]:
    return {(one.tenant, one.context): one.arrivals for one in found}


async def test_arrivals_are_counted_since_the_last_recorded_count(graph: Graph) -> None:
    assert await graph.log.contexts_with_arrivals(1, limit=9) == []
    await arrive(graph, range(1, 6))
    await arrive(graph, range(1, 3), context="d")
    await arrive(graph, range(1, 10), tenant="u", context="e")
    assert sizes(await graph.log.contexts_with_arrivals(3, limit=9)) == {("t", "c"): 5, ("u", "e"): 9}
    assert len(await graph.log.contexts_with_arrivals(1, limit=2)) == 2
    await graph.log.record_arrivals(ArrivalCount("t", "c", 4))
    assert sizes(await graph.log.contexts_with_arrivals(2, limit=9)) == {("t", "d"): 2, ("u", "e"): 9}
    assert sizes(await graph.log.contexts_with_arrivals(1, limit=9))[("t", "c")] == 5
    await graph.log.record_arrivals(ArrivalCount("t", "c", 2))
    assert sizes(await graph.log.contexts_with_arrivals(2, limit=9)) == {("t", "d"): 2, ("u", "e"): 9}, (
        "what was noted stays"
    )
    await arrive(graph, range(6, 8))
    assert sizes(await graph.log.contexts_with_arrivals(3, limit=9)) == {("t", "c"): 7, ("u", "e"): 9}


async def test_arrivals_of_a_restarted_context_are_counted_from_zero(graph: Graph) -> None:
    await arrive(graph, range(1, 6))
    await graph.log.record_arrivals(ArrivalCount("t", "c", 5))
    await graph.write("t", "c", lambda transaction: transaction.drop_counters([], arrivals=True))
    assert await graph.log.contexts_with_arrivals(1, limit=9) == []
    await arrive(graph, range(1, 4))
    assert sizes(await graph.log.contexts_with_arrivals(3, limit=9)) == {("t", "c"): 3}


async def test_arrivals_of_an_unknown_context_are_not_recorded(graph: Graph) -> None:
    await graph.log.record_arrivals(ArrivalCount("t", "nothing", 3))
    await arrive(graph, range(1, 3), context="nothing")
    assert sizes(await graph.log.contexts_with_arrivals(1, limit=9)) == {("t", "nothing"): 2}


async def test_a_large_context_is_listed_once_it_grew_by_five_percent(graph: Graph) -> None:
    await arrive(graph, range(1, 101))
    await graph.log.record_arrivals(ArrivalCount("t", "c", 96))
    assert await graph.log.contexts_with_arrivals(4, limit=9) == [], "4 of 100"
    await arrive(graph, range(101, 102))
    assert sizes(await graph.log.contexts_with_arrivals(4, limit=9)) == {("t", "c"): 101}
