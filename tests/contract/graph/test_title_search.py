"""What every GraphStore finds by the titles of knowledge items."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.stores.graph_records import AT, Graph, node, put
from vicw_shared.model import Label, Node
from vicw_shared.ports import NamedNodes, NameMatch, look_up


def page(name: str, title: str | None, **fields: object) -> Node:
    return replace(node(name, content_hash="h", title=title), **fields)  # type: ignore[arg-type]


async def titled(
    graph: Graph, *phrases: str, tenant: str = "t", limit: int = 9, **only: list[str]
) -> dict[str, set[str]]:
    found = await look_up(graph, tenant, phrases, limit=limit, **only, by=NameMatch.TITLE)
    return {phrase: {item.name for item in items} for phrase, items in found.items()}


async def test_pages_are_found_by_their_titles_with_and_without_what_stands_in_brackets(graph: Graph) -> None:
    planet, god = page("planet", "Mercury (planet)"), page("god", "Mercury (Roman god)")
    await put(graph, [planet, god, page("rag", "Arthur's Magazine"), page("untitled", None)])
    assert await titled(graph, "mercury", "mercury planet", "arthur s magazine", "planet", "untitled", "") == {
        "mercury": {"planet", "god"},
        "mercury planet": {"planet"},
        "arthur s magazine": {"rag"},
    }
    assert len((await look_up(graph, "t", ["mercury"], limit=1, by=NameMatch.TITLE))["mercury"]) == 1
    (found,) = (await look_up(graph, "t", ["mercury planet"], limit=9, by=NameMatch.TITLE))["mercury planet"]
    assert found == planet


async def test_titles_are_found_without_their_accents_too(graph: Graph) -> None:
    await put(graph, [page("ballet", "Aschenbrödel (Strauss)"), page("film", "Aschenbrodel")])
    assert await titled(graph, "aschenbrödel", "aschenbrodel") == {
        "aschenbrödel": {"ballet"},
        "aschenbrodel": {"ballet", "film"},
    }


async def test_only_live_knowledge_items_have_titles(graph: Graph) -> None:
    turn, thing = node("turn", Label.EVENT, content_hash="h", title="Home"), node("thing", title="Home")
    concept = node("concept", Label.CONCEPT, content_hash="h", title="Home")
    await put(graph, [page("page", "Home"), turn, thing, concept])
    assert await titled(graph, "home") == {"home": {"page"}}
    assert await titled(graph, "home", contexts=["c"]) == {"home": {"page"}}
    assert await titled(graph, "home", contexts=["other"]) == {}
    assert await titled(graph, "home", tenant="u") == {}
    await put(graph, [page("page", "Home", retired_at=AT)])
    assert await titled(graph, "home") == {}


async def test_a_new_title_replaces_the_old_one_and_a_new_name_leaves_it(graph: Graph) -> None:
    first = page("page", "Home")
    await put(graph, [first])
    await put(graph, [replace(first, name="renamed")])
    assert await titled(graph, "home") == {"home": {"renamed"}}
    await put(graph, [replace(first, title="Start")])
    assert await titled(graph, "home", "start") == {"start": {"page"}}
    await put(graph, [replace(first, title=None)])
    assert await titled(graph, "home", "start") == {}


async def test_a_title_is_no_name_of_a_thing_nor_a_trigger(graph: Graph) -> None:
    await put(graph, [page("page", "Ana Souza"), node("Ana Souza")])
    assert [found.title for found in (await look_up(graph, "t", ["ana souza"]))["ana souza"]] == [None]
    assert [found.title for found in (await look_up(graph, "t", ["ana"], by=NameMatch.WORD))["ana"]] == [None]
    assert await graph.triggered("t", ["ana souza"], limit=9) == []
    assert [found.title for found in await graph.scan(NamedNodes(tenant="t", context="c"), limit=9)] == [None]


@pytest.mark.parametrize("title", ["'; DROP TABLE node; --", "}) DETACH DELETE (n", "* OR NOT ^", "x" * 500, "日本"])
async def test_a_title_is_data(graph: Graph, title: str) -> None:
    from vicw_shared.model.triggers import phrase_of

    await put(graph, [page("page", title), page("other", "Other")])
    assert await titled(graph, phrase_of(title), "other") == {phrase_of(title): {"page"}, "other": {"other"}}
