"""What every GraphStore finds by the titles of knowledge items."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.stores.graph_records import AT, Graph, node, put
from vicw_shared.model import Label, Node
from vicw_shared.ports import NamedNodes, NameMatch, look_up


def page(name: str, title: str | None, **fields: object) -> Node:
    return replace(node(name, content_hash="h", title=title), **fields)  # type: ignore[arg-type]


async def names_by_title(
    graph: Graph, *phrases: str, tenant: str = "t", limit: int = 9, **only: list[str]
) -> dict[str, set[str]]:
    found = await look_up(graph, tenant, phrases, limit=limit, **only, by=NameMatch.TITLE)
    return {phrase: {item.name for item in items} for phrase, items in found.items()}


async def test_titles_match_with_and_without_their_bracketed_part(graph: Graph) -> None:
    planet, god = page("planet", "Mercury (planet)"), page("god", "Mercury (Roman god)")
    await put(graph, [planet, god, page("rag", "Arthur's Magazine"), page("untitled", None)])
    assert await names_by_title(graph, "mercury", "mercury planet", "arthur s magazine", "planet", "untitled", "") == {
        "mercury": {"planet", "god"},
        "mercury planet": {"planet"},
        "arthur s magazine": {"rag"},
    }
    assert len((await look_up(graph, "t", ["mercury"], limit=1, by=NameMatch.TITLE))["mercury"]) == 1
    (found,) = (await look_up(graph, "t", ["mercury planet"], limit=9, by=NameMatch.TITLE))["mercury planet"]
    assert found == planet


async def test_titles_are_found_without_their_accents_too(graph: Graph) -> None:
    await put(graph, [page("ballet", "Aschenbrödel (Strauss)"), page("film", "Aschenbrodel")])
    assert await names_by_title(graph, "aschenbrödel", "aschenbrodel") == {
        "aschenbrödel": {"ballet"},
        "aschenbrodel": {"ballet", "film"},
    }


async def test_only_live_knowledge_items_have_titles(graph: Graph) -> None:
    turn, thing = node("turn", Label.EVENT, content_hash="h", title="Home"), node("thing", title="Home")
    concept = node("concept", Label.CONCEPT, content_hash="h", title="Home")
    await put(graph, [page("page", "Home"), turn, thing, concept])
    assert await names_by_title(graph, "home") == {"home": {"page"}}
    assert await names_by_title(graph, "home", contexts=["c"]) == {"home": {"page"}}
    assert await names_by_title(graph, "home", contexts=["other"]) == {}
    assert await names_by_title(graph, "home", tenant="u") == {}
    await put(graph, [page("page", "Home", retired_at=AT)])
    assert await names_by_title(graph, "home") == {}


async def test_a_new_title_replaces_the_old_one_but_a_rename_keeps_it(graph: Graph) -> None:
    first = page("page", "Home")
    await put(graph, [first])
    await put(graph, [replace(first, name="renamed")])
    assert await names_by_title(graph, "home") == {"home": {"renamed"}}
    await put(graph, [replace(first, title="Start")])
    assert await names_by_title(graph, "home", "start") == {"start": {"page"}}
    await put(graph, [replace(first, title=None)])
    assert await names_by_title(graph, "home", "start") == {}


async def test_a_title_is_neither_an_entity_name_nor_a_trigger_phrase(graph: Graph) -> None:
    await put(graph, [page("page", "Ana Souza"), node("Ana Souza")])
    assert [found.title for found in (await look_up(graph, "t", ["ana souza"]))["ana souza"]] == [None]
    assert [found.title for found in (await look_up(graph, "t", ["ana"], by=NameMatch.WORD))["ana"]] == [None]
    assert await graph.triggered("t", ["ana souza"], limit=9) == []
    assert [found.title for found in await graph.scan(NamedNodes(tenant="t", context="c"), limit=9)] == [None]


@pytest.mark.parametrize("title", ["'; DROP TABLE node; --", "}) DETACH DELETE (n", "* OR NOT ^", "x" * 500, "日本"])
async def test_a_title_with_query_syntax_is_stored_as_data(graph: Graph, title: str) -> None:
    from vicw_shared.model.triggers import phrase_of

    await put(graph, [page("page", title), page("other", "Other")])
    assert await names_by_title(graph, phrase_of(title), "other") == {phrase_of(title): {"page"}, "other": {"other"}}
