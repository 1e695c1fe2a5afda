"""What every GraphStore knows of callers' items outside a write."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph, node, put
from vicw_shared.model import Label, Node
from vicw_shared.ports import Flow, FlowEvents


def item(name: str, **fields: object) -> Node:
    base = node(name, Label.EVENT, content_hash="h", source_id="a", timestamp=AT, arrival=1)
    return replace(base, **fields)  # type: ignore[arg-type]


async def test_the_latest_version_of_an_item_is_found_by_its_id_in_each_context(graph: Graph) -> None:
    old = item("old", version=1, retired_at=AT)
    new = item("new", version=2, retired_at=AT)
    await put(graph, [old, new, item("other", source_id="b"), node("chunk", Label.CHUNK, source_id="a", version=3)])
    await put(graph, [item("elsewhere", context="d")])
    await put(graph, [item("theirs", tenant="u")], tenant="u")
    assert await graph.items("t", "a", ["d", "c", "none"]) == [new, item("elsewhere", context="d")]
    assert await graph.items("t", "a", ["d"]) == [item("elsewhere", context="d")]
    assert await graph.items("t", "none", ["c"]) == []
    assert await graph.items("t", "a", []) == []


async def test_flow_events_list_live_items_in_chain_order(graph: Graph) -> None:
    thread = [
        item("stepped", flow_id="f", flow_step=9, own_step=1, timestamp=AT + timedelta(days=1)),
        item("first", flow_id="f", flow_step=2),
        item("tie", flow_id="f", flow_step=3),
        item("later", flow_id="f", flow_step=1, timestamp=AT + timedelta(hours=1)),
    ]
    others = [item("retired", flow_id="f", flow_step=4, retired_at=AT), item("g", flow_id="g", flow_step=1)]
    await put(graph, [*reversed(thread), *others, item("elsewhere", context="d", flow_id="f", flow_step=1)])
    await put(graph, [item("theirs", tenant="u", flow_id="f", flow_step=1)], tenant="u")
    assert await graph.scan(FlowEvents(Flow("t", "c", "f")), limit=10) == thread
    assert await graph.scan(FlowEvents(Flow("t", "c", "f")), limit=2) == thread[:2]
    assert await graph.scan(FlowEvents(Flow("t", "c", "none")), limit=2) == []


async def test_the_items_of_a_span_of_time_are_found_latest_first(graph: Graph) -> None:
    hour = timedelta(hours=1)
    early, late = item("early", timestamp=AT - hour), item("late", timestamp=AT + hour, arrival=2)
    first, second = item("first", arrival=3), item("second", arrival=4)
    elsewhere = item("elsewhere", context="d", timestamp=AT + hour / 2)
    roots = [node(name, Label.CONTEXT, context=name) for name in ("c", "d")]
    others = [
        item("retired", retired_at=AT),
        node("document", content_hash="h", source_id="z"),
        node("statement", Label.EVENT, timestamp=AT),
    ]
    await put(graph, [*roots, late, second, early, first, elsewhere, *others])
    await put(graph, [item("theirs", tenant="u")], tenant="u")
    assert await graph.between("t", AT, AT + 2 * hour, limit=9) == [late, elsewhere, second, first]
    assert await graph.between("t", AT, AT + 2 * hour, limit=3) == [late, elsewhere, second]
    assert await graph.between("t", AT, AT + hour, limit=9) == [elsewhere, second, first], "the end is not in it"
    assert await graph.between("t", AT - hour, AT, contexts=["c", "c", "none"], limit=9) == [early]
    assert await graph.between("t", AT, AT + 2 * hour, contexts=["d"], limit=9) == [elsewhere]
    assert await graph.between("t", AT, AT + hour, contexts=[], limit=9) == []
    assert await graph.between("t", AT, AT, limit=9) == []
    assert await graph.between("t", AT, AT - hour, limit=9) == []
