"""What a walk through the graph finds is the same on every GraphStore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from support.stores.graph_queries import GraphClient, edges_as_text
from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_retrieval.access.visibility import MAX_READ
from vicw_shared.errors import InvalidInputError, UnknownTypeError
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.uids import context_uid, make_uid

ROOT = replace(node("c", Label.CONTEXT, subtype="context"), uid=context_uid("t", "c"))


def item(name: str, label: Label = Label.EVENT, **fields: object) -> Node:
    return node(name, label, content_hash="h", source_id=name, timestamp=AT, **fields)


def edge_from_item(edge_type: str, source: str, target: str, by: str, weight: float = 0.5) -> Edge:
    return replace(edge(edge_type, source, target, weight), properties={SOURCE_ITEM: make_uid(by)})


async def fill(graph: Graph, nodes: Sequence[Node], edges: Sequence[Edge] = ()) -> None:
    await put(graph, [ROOT, *nodes], edges)


def sentence(name: str, **fields: object) -> Node:
    return node(name, Label.EVENT, subtype="statement", qdrant_id=make_uid(name), **fields)


async def test_a_walk_is_breadth_first_and_reports_hops_per_node(graph: Graph) -> None:
    await fill(graph, [item(n) for n in "abcde"], [edge("CAUSED", *pair) for pair in ("ab", "bc", "cd", "da", "ae")])
    walk = await GraphClient(graph).ask("walk", start=["a"], hops=2, direction="out")
    assert {n.name: n.hops for n in walk.nodes} == {"a": 0, "b": 1, "e": 1, "c": 2}
    assert edges_as_text(walk) == ["a CAUSED b", "a CAUSED e", "b CAUSED c"]
    assert walk.complete
    assert await GraphClient(graph).names("walk", start=["c"], hops=1, direction="in") == ["c", "b"]
    assert await GraphClient(graph).names("walk", start=["c"], hops=0) == ["c"]


async def test_a_walk_reports_the_path_to_each_node(graph: Graph) -> None:
    edges = [edge("CAUSED", *pair) for pair in ("ab", "bc", "dc")] + [edge("SUPERSEDES", "a", "old")]
    await fill(graph, [*(item(n) for n in "abcd"), item("old")], edges)
    walk = await GraphClient(graph).ask("walk", start=["a"], hops=3)
    ab, bc, dc = (e.id for e in edges[:3])
    assert {n.name: n.path for n in walk.nodes} == {"a": (), "b": (ab,), "c": (ab, bc), "d": (ab, bc, dc)}
    assert {n.name: n.label for n in walk.nodes} == dict.fromkeys("abcd", Label.EVENT)
    of_context = await GraphClient(graph).ask("walk", start=["d", "a"], hops=1)
    assert {n.name: n.path for n in of_context.nodes} == {"d": (), "a": (), "b": (ab,), "c": (dc,)}


async def test_a_walk_includes_edges_between_its_last_nodes(graph: Graph) -> None:
    await fill(graph, [item(n) for n in "abc"], [edge("CAUSED", *pair) for pair in ("ab", "ac", "bc")])
    assert edges_as_text(await GraphClient(graph).ask("walk", start=["a"], hops=1)) == [
        "a CAUSED b",
        "a CAUSED c",
        "b CAUSED c",
    ]
    assert edges_as_text(await GraphClient(graph).ask("walk", start=["b", "c"], hops=0)) == ["b CAUSED c"]


async def test_a_walk_follows_only_the_requested_types_and_weights(graph: Graph) -> None:
    edges = [edge("CAUSED", "a", "b", 0.9), edge("CAUSED", "a", "c", 0.2), edge("HAPPENED_AFTER", "a", "d")]
    await fill(graph, [item(n) for n in "abcd"], edges)
    asker = GraphClient(graph)
    assert await asker.names("walk", start=["a"]) == ["a", "b", "c"]
    assert await asker.names("walk", start=["a"], min_weight=0.3) == ["a", "b"]
    assert await asker.names("walk", start=["a"], types={"include": ["HAPPENED_AFTER"]}) == ["a", "d"]
    assert await asker.names("walk", start=["a"], types={"exclude": ["CAUSED"]}) == ["a", "d"]
    assert await asker.names("walk", start=["a"], types={"include": ["CAUSED"], "exclude": ["CAUSED"]}) == ["a"]
    with pytest.raises(UnknownTypeError):
        await asker.names("walk", start=["a"], types={"include": ["CAUSED", "EATS"]})


async def test_a_walk_over_the_fan_out_of_a_hub_is_marked_incomplete(graph: Graph) -> None:
    spokes = [item(f"i{n:02}") for n in range(30)]
    light = [edge("MENTIONS", spoke.name, "hub", 0.1 + number / 100) for number, spoke in enumerate(spokes)]
    await fill(graph, [node("hub"), *spokes], light)
    walk = await GraphClient(graph, fanout=5).ask("walk", start=["hub"])
    assert [n.name for n in walk.nodes] == ["hub", *(f"i{n}" for n in range(29, 24, -1))], "the heaviest"
    assert not walk.complete
    assert (await GraphClient(graph, fanout=30).ask("walk", start=["hub"])).complete
    few = await GraphClient(graph).ask("walk", start=["hub"], limit=3)
    assert ([n.name for n in few.nodes], few.complete) == (["hub", "i29", "i28"], False)


async def test_retired_items_do_not_count_against_the_fan_out(graph: Graph) -> None:
    gone = [item(f"old{n}", retired_at=AT) for n in range(30)]
    edges = [edge("MENTIONS", n.name, "hub", 0.9) for n in gone] + [edge("MENTIONS", "new", "hub", 0.1)]
    await fill(graph, [node("hub"), item("new"), *gone], edges)
    walk = await GraphClient(graph, fanout=2).ask("walk", start=["hub"])
    assert ([n.name for n in walk.nodes], walk.complete) == (["hub", "new"], True)


async def test_a_walk_reads_at_most_max_read_edges_of_a_hub(graph: Graph) -> None:
    gone = [item(f"old{n}", retired_at=AT) for n in range(MAX_READ)]
    edges = [edge("MENTIONS", n.name, "hub", 0.9) for n in gone] + [edge("MENTIONS", "new", "hub", 0.1)]
    await fill(graph, [node("hub"), item("new"), *gone], edges)
    assert await GraphClient(graph).names("walk", start=["hub"]) == ["hub"]


async def test_merged_entities_are_one_node_of_a_walk(graph: Graph) -> None:
    names = ["Ana", "Anna", "A. Souza"]
    edges = [edge("MERGED_INTO", "Anna", "Ana"), edge("MERGED_INTO", "A. Souza", "Anna")]
    mentions = [edge("MENTIONS", f"of {name}", name) for name in names]
    await fill(graph, [*map(node, names), *(item(f"of {name}") for name in names)], [*edges, *mentions])
    walk = await GraphClient(graph).ask("walk", start=["anna"], hops=1)
    assert {n.name: n.hops for n in walk.nodes} == dict.fromkeys(names, 0) | {f"of {n}": 1 for n in names}
    assert [n.name for n in walk.nodes if n.uid in walk.start] == ["Ana"], "whom a name means is who stands for it"
    merges = await GraphClient(graph).ask("merges", node="A. Souza")
    assert edges_as_text(merges) == ["A. Souza MERGED_INTO Anna", "Anna MERGED_INTO Ana"]


async def test_a_walk_from_an_item_starts_at_its_statements_with_further_edges(graph: Graph) -> None:
    chunk = node("chunk", Label.CHUNK)
    events = [sentence("it rained"), sentence("Ana slept"), node("cause", Label.EVENT), node("effect", Label.EVENT)]
    edges = [edge_from_item("EVIDENCED_BY", e.name, "chunk", "a") for e in events]
    edges += [edge("EVIDENCED_BY", "a", "chunk"), edge_from_item("CAUSED", "cause", "effect", "a")]
    edges += [edge_from_item("MENTIONS", "Ana slept", "Ana", "a"), edge_from_item("MENTIONS", "a", "Ana", "a")]
    await fill(graph, [item("a"), chunk, node("Ana"), *events], edges)
    asker = GraphClient(graph)
    walk = await asker.ask("walk", start=["a"], hops=1)
    assert {n.name: n.source_item for n in walk.nodes if n.source_item} == dict.fromkeys(
        ("cause", "effect"), make_uid("a")
    )
    assert [n.name for n in walk.nodes] == ["a", "cause", "effect", "Ana"]
    assert {n.name: len(n.path) for n in walk.nodes} == {"a": 0, "cause": 0, "effect": 0, "Ana": 1}
    back = await asker.names("walk", start=["a"], types={"include": ["CAUSED"]}, direction="in")
    assert back == ["a", "effect", "cause"]
    assert await asker.names("walk", start=["ana"], hops=1) == ["Ana", "a"], "its sentence says no more"
    assert "Ana slept" in await asker.names("walk", start=["ana"], hops=1, statements=True)


async def test_a_walk_of_a_context_starts_at_its_connected_nodes(graph: Graph) -> None:
    names = ["Mara", "Edran", "alone"]
    homes = [replace(edge("BELONGS_TO", name, "c"), target=ROOT.uid) for name in names]
    await fill(graph, [*map(node, names)], [*homes, edge("HAS_RELATIONSHIP", "Mara", "Edran")])
    walk = await GraphClient(graph).ask("walk", context="c", types={"include": ["HAS_RELATIONSHIP"]})
    assert (edges_as_text(walk), walk.start) == (["Mara HAS_RELATIONSHIP Edran"], ())
    assert len(walk.nodes) == 2
    assert (await GraphClient(graph).ask("walk", context="none")).nodes == ()
    with pytest.raises(InvalidInputError, match="start: is empty"):
        await GraphClient(graph).ask("walk")


@pytest.mark.parametrize("said", [{}, {"statements": True}])
async def test_a_walk_of_a_context_follows_mentions_only_on_request(graph: Graph, said: dict[str, bool]) -> None:
    nodes = [item("x"), sentence("s"), node("mara"), item("alone")]
    edges = [edge_from_item("MENTIONS", "s", "mara", "x"), edge("MENTIONS", "x", "mara")]
    inside = [edge("BELONGS_TO", each.name, "c") for each in nodes]
    await fill(graph, nodes, [*edges, *(replace(e, target=ROOT.uid) for e in inside)])
    walk = await GraphClient(graph).ask("walk", context="c", types={"include": ["MENTIONS"]}, **said)
    assert edges_as_text(walk) == (["s MENTIONS mara"] if said else []) + ["x MENTIONS mara"]
    assert await GraphClient(graph).names("walk", context="c", **said) == []


async def test_an_ambiguous_name_is_refused_with_the_uids_of_its_entities(graph: Graph) -> None:
    two = [node("Wizard", subtype="class"), replace(node("Wizard", subtype="person"), uid=make_uid("other"))]
    await fill(graph, [*two, item("id")])
    with pytest.raises(InvalidInputError, match=r"start\[0\]: 'wizard' matches 2 nodes\. Name a uid") as refused:
        await GraphClient(graph).ask("walk", start=["wizard"])
    assert all(n.uid in refused.value.detail for n in two)
    assert len((await GraphClient(graph).ask("find", name="WIZARD")).nodes) == 2
    assert len((await GraphClient(graph).ask("find", name="wizard", subtype="class")).nodes) == 1
    assert await GraphClient(graph).names("find", name=two[1].uid) == ["Wizard"]
    assert await GraphClient(graph).names("find", name="id") == ["id"]
    assert await GraphClient(graph).names("find", context="c") == ["Wizard", "Wizard"]
    with pytest.raises(InvalidInputError, match=r"node: 'nobody' matches no uid, id or name"):
        await GraphClient(graph).ask("history", node="nobody")
    with pytest.raises(InvalidInputError, match="matches no uid"):
        await GraphClient(graph, tenant="u").ask("walk", start=[two[0].uid])


async def test_memories_about_a_person_include_their_users_newest_first(graph: Graph) -> None:
    memories = [replace(item(f"m{n}"), timestamp=AT + timedelta(hours=n)) for n in range(4)]
    about = [edge("ABOUT", "m0", "Ana"), edge("ABOUT", "m1", "ana42"), edge("ABOUT", "m2", "Anna")]
    edges = [
        *about,
        edge("IS_PERSON", "ana42", "Ana"),
        edge("MERGED_INTO", "Anna", "Ana"),
        edge("MENTIONS", "m3", "Ana"),
    ]
    await fill(graph, [*map(node, ("Ana", "ana42", "Anna")), *memories], edges)
    answer = await GraphClient(graph).ask("about", node="ana")
    assert [n.name for n in answer.nodes if n.label is Label.EVENT] == ["m2", "m1", "m0"]
    assert edges_as_text(await GraphClient(graph).ask("person", node="ana42")) == [
        "Anna MERGED_INTO Ana",
        "ana42 IS_PERSON Ana",
    ]
    assert edges_as_text(await GraphClient(graph).ask("users", node="anna")) == [
        "Anna MERGED_INTO Ana",
        "ana42 IS_PERSON Ana",
    ]


async def test_history_lists_all_superseded_versions_with_their_edges(graph: Graph) -> None:
    days = [AT + timedelta(days=n) for n in range(3)]
    versions = [
        replace(item(f"v{n + 1}", version=n + 1), source_id="v", timestamp=day, created_at=day, retired_at=retired)
        for n, (day, retired) in enumerate(zip(days, [*days[1:], None], strict=True))
    ]
    versions.append(item("expired", expires_at=AT))
    edges = [edge("SUPERSEDES", "v3", "v2"), edge("SUPERSEDES", "v2", "v1"), edge("SUPERSEDES", "v3", "expired")]
    homes = [replace(edge("BELONGS_TO", each.name, "c"), target=ROOT.uid) for each in versions]
    await fill(graph, [node("Ana"), *versions], [*edges, *homes, edge("MENTIONS", "v1", "Ana")])
    asker = GraphClient(graph)
    history = await asker.ask("history", node="v")
    assert [n.name for n in history.nodes] == ["v3", "v2", "v1"]
    assert edges_as_text(history) == ["v2 SUPERSEDES v1", "v3 SUPERSEDES v2"]
    assert [n.retired_at is not None for n in history.nodes] == [False, True, True]
    of_all = await asker.ask("history", context="c")
    assert (sorted(n.name for n in of_all.nodes), edges_as_text(of_all)) == (["v1", "v2", "v3"], edges_as_text(history))
    with pytest.raises(InvalidInputError, match="node: is missing, and so is `context`"):
        await asker.ask("history")
    of_ana = await asker.ask("history", node="ana")
    assert [n.name for n in of_ana.nodes] == ["Ana", "v3", "v2", "v1"]
    assert "v1 MENTIONS Ana" in edges_as_text(of_ana)
    assert await asker.names("walk", start=["v"], types={"include": ["SUPERSEDES"]}) == ["v3"], "only what is true now"
    assert await asker.names("walk", start=["v"], hops=0, known_at=(AT + timedelta(hours=1)).isoformat()) == ["v1"]


async def test_a_flow_is_returned_in_order_and_needs_an_unambiguous_context(graph: Graph) -> None:
    turns = [replace(item(f"t{n}", flow_id="f", flow_step=n, arrival=n)) for n in (1, 2, 3)]
    await fill(graph, [*turns], [edge("NEXT", "t1", "t2"), edge("NEXT", "t2", "t3")])
    answer = await GraphClient(graph).ask("flow", flow="f")
    assert ([n.name for n in answer.nodes], edges_as_text(answer)) == (["t1", "t2", "t3"], ["t1 NEXT t2", "t2 NEXT t3"])
    short = await GraphClient(graph).ask("flow", flow="f", limit=2, context="c")
    assert ([n.name for n in short.nodes], short.complete) == (["t1", "t2"], False)
    with pytest.raises(InvalidInputError, match="flow: is not known"):
        await GraphClient(graph).ask("flow", flow="g")
    root = replace(ROOT, uid=context_uid("t", "d"), name="d", context="d")
    await fill(graph, [root, replace(turns[0], uid=make_uid("other"), context="d")])
    with pytest.raises(
        InvalidInputError, match=r"context: is missing, and several have this flow\. Name one: 'c', 'd'"
    ):
        await GraphClient(graph).ask("flow", flow="f")


async def test_a_walk_over_a_limit_is_refused_by_field(graph: Graph) -> None:
    for fields, told_of in (
        (
            {"limit": 501},
            "limit: asks for 501 nodes, over the limit of 500. Ask for less, or raise VICW_MAX_GRAPH_NODES",
        ),
        ({"hops": 11}, "hops: asks for 11 hops, over the limit of 10. Ask for less, or raise VICW_MAX_HOPS"),
        ({"start": ["a"] * 65}, "start: asks for 65 names"),
        ({"start": ["a" * 513]}, r"start\[0\]: asks for 513 characters"),
        ({"viewer": {"user": "u" * 513}}, "viewer.user: asks for 513 characters"),
    ):
        with pytest.raises(InvalidInputError, match=told_of):
            await GraphClient(graph).ask("walk", **({"start": ["a"]} | fields))
