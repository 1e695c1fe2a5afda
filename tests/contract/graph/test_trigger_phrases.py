"""What every GraphStore finds by trigger phrases, and which items it knows to be over."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph, node, put
from vicw_shared.model import Label, Node
from vicw_shared.ports import NamedNodes, look_up
from vicw_shared.uids import make_uid


def memory(name: str, *phrases: str, label: Label = Label.EVENT, **fields: object) -> Node:
    return node(name, label, content_hash="h", trigger_phrases=phrases, **fields)


async def triggered_names(
    graph: Graph, *phrases: str, tenant: str = "t", limit: int = 9, **only: list[str]
) -> list[str]:
    return [found.name for found in await graph.triggered(tenant, phrases, limit=limit, **only)]


async def test_trigger_phrases_match_in_any_casing(graph: Graph) -> None:
    note = memory("note", "Deploy failed", "500 ERROR!", label=Label.ENTITY)
    await put(graph, [note, memory("turn", "deploy failed"), memory("other", "deploy")])
    assert sorted(await triggered_names(graph, "deploy failed")) == ["note", "turn"]
    found = await triggered_names(graph, "500 error", "deploy", "deploy failed", "deploy")
    assert sorted(found) == ["note", "other", "turn"]
    assert await triggered_names(graph, "failed", "", "deploy failed now") == []
    assert await triggered_names(graph) == []
    assert await triggered_names(graph, "deploy failed", tenant="u") == []
    assert (await graph.nodes("t", [note.uid]))[note.uid].trigger_phrases == note.trigger_phrases


async def test_triggered_items_are_ordered_by_protection_weight_and_age(graph: Graph) -> None:
    weighed = [
        memory("temporary", "x", importance=0.2),
        memory("unweighed", "x"),
        memory("newer", "x", created_at=AT + timedelta(seconds=1)),
        memory("important", "x", importance=0.7),
        memory("whole", "x", importance=1.0),
        memory("critical", "x", importance=0.9, protected=True),
        memory("constitutional", "x", importance=1.0, protected=True),
    ]
    await put(graph, weighed)
    order = ["constitutional", "critical", "whole", "important", "newer", "unweighed", "temporary"]
    assert await triggered_names(graph, "x") == order
    assert await triggered_names(graph, "x", limit=4) == order[:4], "of each phrase the foremost"
    await put(graph, [replace(weighed[0], importance=1.0, protected=True)])
    assert (await triggered_names(graph, "x"))[:2] == ["constitutional", "temporary"]


async def test_trigger_phrases_are_searched_in_some_or_all_contexts_of_a_tenant(graph: Graph) -> None:
    await put(graph, [replace(memory(c, "x"), context=c) for c in ("c", "d", "e")])
    assert sorted(await triggered_names(graph, "x")) == ["c", "d", "e"]
    assert sorted(await triggered_names(graph, "x", contexts=["d", "e", "none"])) == ["d", "e"]
    assert await triggered_names(graph, "x", contexts=[]) == []


async def test_trigger_phrases_find_only_live_items_and_no_passages(graph: Graph) -> None:
    turn = memory("turn", "x", "y")
    await put(graph, [turn, memory("passage", "x", label=Label.CHUNK)])
    assert await triggered_names(graph, "x") == ["turn"]
    await put(graph, [replace(turn, trigger_phrases=("y", "z"))])
    assert (await triggered_names(graph, "x"), await triggered_names(graph, "z")) == ([], ["turn"])
    await put(graph, [replace(turn, retired_at=AT)])
    assert await triggered_names(graph, "x", "y", "z") == []
    await put(graph, [turn])
    assert await triggered_names(graph, "y") == ["turn"]


async def test_entity_names_are_not_trigger_phrases(graph: Graph) -> None:
    await put(graph, [node("Ana"), memory("turn", "Ana")])
    assert await triggered_names(graph, "ana") == ["turn"]
    assert [thing.uid for thing in (await look_up(graph, "t", ["ana"]))["ana"]] == [make_uid("Ana")]
    assert [thing.name for thing in await graph.scan(NamedNodes(tenant="t", context="c"), limit=9)] == ["Ana"]


async def test_expired_items_are_listed_longest_expired_first(graph: Graph) -> None:
    hours = [AT + timedelta(hours=n) for n in range(4)]
    over = [memory(f"m{n}", expires_at=hour, label=[Label.EVENT, Label.ENTITY][n % 2]) for n, hour in enumerate(hours)]
    others = [
        memory("lasting"),
        memory("retired", expires_at=AT, retired_at=AT),
        node("passage", Label.CHUNK, expires_at=AT, content_hash=None),
        node("told", Label.EVENT, expires_at=AT),
    ]
    await put(graph, [*over[::-1], *others])
    assert [item.name for item in await graph.expired(hours[2], limit=9)] == ["m0", "m1", "m2"]
    assert [item.name for item in await graph.expired(hours[3], limit=2)] == ["m0", "m1"]
    await put(graph, [replace(over[0], retired_at=AT), replace(over[1], expires_at=None)])
    assert [item.name for item in await graph.expired(hours[3], limit=9)] == ["m2", "m3"]
