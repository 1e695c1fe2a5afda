"""What every GraphStore finds by what texts say."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph, node, put
from vicw_shared.model import Label


async def names_by_text_key(
    graph: Graph, *keys: str, tenant: str = "t", limit: int = 9, **only: list[str]
) -> dict[str, list[str]]:
    found = await graph.by_text_key(tenant, keys, limit=limit, **only)
    return {key: [one.name for one in nodes] for key, nodes in found.items()}


async def test_text_keys_find_passages_and_items_oldest_first(graph: Graph) -> None:
    later = AT + timedelta(seconds=1)
    nodes = [
        node("late", Label.CHUNK, text_key="k", created_at=later),
        node("early", Label.EVENT, text_key="k", content_hash="h"),
        node("other", Label.ENTITY, text_key="l", content_hash="h"),
        node("silent", Label.CHUNK),
    ]
    await put(graph, nodes)
    assert await names_by_text_key(graph, "k", "l", "none", "k") == {"k": ["early", "late"], "l": ["other"]}
    assert await names_by_text_key(graph, "k", limit=1) == {"k": ["early"]}
    assert await names_by_text_key(graph, "k", tenant="u") == {}
    assert await names_by_text_key(graph) == {}
    assert (await graph.nodes("t", [nodes[0].uid]))[nodes[0].uid].text_key == "k"


async def test_text_keys_are_searched_in_some_contexts_or_all_of_a_tenant(graph: Graph) -> None:
    await put(graph, [replace(node(c, Label.CHUNK, text_key="k"), context=c) for c in ("c", "d")])
    assert {key: sorted(found) for key, found in (await names_by_text_key(graph, "k")).items()} == {"k": ["c", "d"]}
    assert await names_by_text_key(graph, "k", contexts=["d", "none"]) == {"k": ["d"]}
    assert await names_by_text_key(graph, "k", contexts=[]) == {}


async def test_retired_or_changed_items_are_not_found_by_text_key(graph: Graph) -> None:
    passage = node("p", Label.CHUNK, text_key="k")
    await put(graph, [passage])
    await put(graph, [replace(passage, retired_at=AT)])
    assert await names_by_text_key(graph, "k") == {}
    await put(graph, [replace(passage, text_key="l")])
    assert await names_by_text_key(graph, "k", "l") == {"l": ["p"]}
