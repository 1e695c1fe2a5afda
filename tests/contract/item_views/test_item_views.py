"""What every GraphStore must return: items with what their edges say, and what has changed of their passages."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_shared.clock import now
from vicw_shared.model import Edge, Label, Node
from vicw_shared.ports import Changes, GraphTransaction, Items, ItemView, PassageChange
from vicw_shared.uids import make_uid


def item(name: str, label: Label = Label.EVENT, **fields: object) -> Node:
    return node(name, label, content_hash="h", **fields)


def tag_edge_from_item(by: str, source: str, target: str) -> Edge:
    plain = edge("TAGGED", source, target)
    return replace(plain, id=make_uid("told", plain.id), properties={"item": make_uid(by)})


async def test_an_item_view_has_passages_tags_buckets_and_people(graph: Graph) -> None:
    passages = sorted((node(name, Label.CHUNK, text=name) for name in ("one", "two")), key=lambda n: n.uid)
    things = [
        node("amulet", Label.CONCEPT, subtype="tag"),
        node("Novel", Label.CONCEPT, subtype="Bucket"),
        node("told", Label.CONCEPT, subtype="tag"),
        node("hearsay", Label.CONCEPT, subtype="tag"),
        node("Ana", subtype="person", aliases=("Anita",)),
    ]
    edges = [
        *(edge("EVIDENCED_BY", "a", name) for name in ("one", "two")),
        *(edge("TAGGED", "a", name) for name in ("amulet", "Novel")),
        edge("ABOUT", "a", "Ana"),
        tag_edge_from_item("a", "a", "told"),
        tag_edge_from_item("b", "a", "hearsay"),
    ]
    a, b = item("a"), item("b", Label.ENTITY)
    await put(graph, [a, b, *passages, *things], edges)
    whole = ItemView(
        a, tuple(passages), ("amulet", "told"), ("Novel",), tuple(sorted(("Ana", "Anita", make_uid("Ana"))))
    )
    assert await graph.item_views("t", [a.uid, b.uid, a.uid, make_uid("none")]) == sorted(
        [whole, ItemView(b)], key=lambda found: found.item.uid
    )
    assert await graph.item_views("t", []) == []
    assert await graph.scan(Items("t", Label.EVENT), limit=9) == [whole]
    assert await graph.scan(Items("t", Label.ENTITY), limit=9) == [ItemView(b)]


async def test_item_pages_list_live_items_of_one_tenant_by_uid(graph: Graph) -> None:
    events = sorted((item(f"e{n}") for n in range(5)), key=lambda event: event.uid)
    others = [item("retired", retired_at=AT), node("statement", Label.EVENT), node("chunk", Label.CHUNK)]
    await put(graph, [*events, *others, item("document", Label.ENTITY)])
    await put(graph, [item("theirs", tenant="u")], tenant="u")
    first = await graph.scan(Items("t", Label.EVENT), limit=3)
    rest = await graph.scan(Items("t", Label.EVENT), after=first[-1].item.uid, limit=3)
    assert [found.item for found in (*first, *rest)] == events
    assert await graph.item_views("t", [n.uid for n in others] + [make_uid("theirs")]) == []


async def _all_changes(graph: Graph, tenant: str = "t", limit: int = 2) -> list[PassageChange]:
    found: list[PassageChange] = []
    since = now() - timedelta(minutes=5)
    while page := await graph.scan(Changes(tenant, since), after=found[-1] if found else None, limit=limit):
        found += page
    return found


async def test_changes_list_each_passage_once_with_its_latest_change(graph: Graph) -> None:
    chunks = [node(f"k{n}", Label.CHUNK, text="x") for n in range(5)]
    await put(graph, [item("a"), *chunks], [edge("EVIDENCED_BY", "a", "k0")])
    await put(graph, [node("theirs", Label.CHUNK, tenant="u")], tenant="u")
    before = await _all_changes(graph)
    assert {change.uid for change in before} == {chunk.uid for chunk in chunks}
    assert before == sorted(before, key=lambda change: (change.at, change.uid))
    assert await graph.scan(Changes("t", now() + timedelta(hours=1)), limit=9) == []
    await put(graph, [node("amulet", Label.CONCEPT, subtype="tag")], [edge("TAGGED", "a", "amulet")])
    after = {change.uid: change for change in await _all_changes(graph)}
    assert {change.uid for change in before if after[change.uid] != change} == {chunks[0].uid}, "its payload changed"
    assert len(after) == len(chunks)


async def test_acknowledging_points_does_not_alter_passage_changes(graph: Graph) -> None:
    await put(graph, [item("a"), node("k", Label.CHUNK, text="x")], [edge("EVIDENCED_BY", "a", "k")])
    before = await _all_changes(graph)
    await graph.outbox.acknowledge(await graph.outbox.claim(9, seconds=60))
    assert await _all_changes(graph) == before


async def test_a_dropped_item_has_no_item_view(graph: Graph) -> None:
    await put(graph, [item("a"), node("k", Label.CHUNK, text="x")], [edge("EVIDENCED_BY", "a", "k")])

    async def work(transaction: GraphTransaction) -> None:
        await transaction.drop_nodes([make_uid("a"), make_uid("k")])

    await graph.write("t", "c", work)
    assert {change.uid for change in await _all_changes(graph)} <= {make_uid("k")}
    assert await graph.item_views("t", [make_uid("a")]) == []
