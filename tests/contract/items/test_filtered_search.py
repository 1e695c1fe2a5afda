"""The filter of a question: search, listing and a plain Python predicate choose the same items, whatever passes."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.generators.example_count import TIMES
from support.stores.pairs import Side, asked_for
from vicw_core.filters.compiler import compile_filter
from vicw_core.filters.predicate import ItemFields, accepts
from vicw_retrieval.access.scope import audience_of
from vicw_retrieval.search import filtered_search
from vicw_shared.clock import now
from vicw_shared.ports import ListingQuery, Scope
from vicw_shared.settings import LimitSettings
from vicw_shared.text import fold_case
from vicw_shared.wire.filters import Filter
from vicw_shared.wire.viewer import Viewer

_SUBJECTS = ("harbour", "orchard", "violin", "glacier", "bakery", "lantern", "tunnel", "meadow")
_QUESTION = "note of the harbour"
_DAY = datetime(2026, 3, 1, tzinfo=UTC)
FEW, MANY = 10_000, 1
"""Values of ``filter_items``: a filter that 60 items pass at most is passed by few, or by many."""


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def drawn_item(draw: random.Random, number: int) -> dict[str, Any]:
    subject, other = draw.choice(_SUBJECTS), draw.choice(_SUBJECTS)
    item: dict[str, Any] = {
        "id": f"i{number}",
        "text": f"Note {number}: {subject} {number * 7} and {other} {number * 13}",
        "tags": draw.sample(("Sea", "sky", "red tape"), draw.randrange(3)),
        "metadata": {"house": draw.randrange(4), **({"street": draw.choice(("Elm", "Oak"))} if number % 2 else {})},
    }
    if draw.random() < 0.5:
        item["timestamp"] = (_DAY + timedelta(days=draw.randrange(20))).isoformat()
    if draw.random() < 0.4:
        item["importance"] = draw.choice((0.1, 0.6, 0.9))
    if draw.random() < 0.4:
        item |= {"sensitivity": "personal", "about": [draw.choice(("Ana", "Ben"))]}
    return item


def drawn_filter(draw: random.Random, depth: int = 1) -> dict[str, Any]:
    conditions: list[dict[str, Any]] = [
        {"metadata.house": draw.randrange(5)},
        {"metadata.house": {"gte": 1, "lt": 3}},
        {"metadata.street": {"exists": draw.random() < 0.5}},
        {"tags": {draw.choice(("any", "none")): ["sea", "RED tape"]}},
        {"context": {"prefix": draw.choice(("a", "a/b", "x"))}},
        {"importance": {"gte": 0.5}},
        {"told": {"lt": (_DAY + timedelta(days=10)).isoformat()}},
        {"id": {"in": ["i1", "i2", "i30"]}},
    ]
    if depth:
        inner = [drawn_filter(draw, depth - 1) for _ in range(2)]
        conditions += [{"any": inner}, {"not": inner[0]}]
    chosen = draw.sample(conditions, draw.choice((1, 1, 2)))
    return {name: value for one in chosen for name, value in one.items()}


async def fill(side: Side, draw: random.Random, count: int) -> None:
    for context in ("a", "a/b"):
        half = range(count // 2) if context == "a" else range(count // 2, count)
        items = [drawn_item(draw, number) for number in half]
        await side.ingest({"context": context, "items": items}, "t", None)
    await side.indexer.drain()


async def by_predicate(side: Side, sent: dict[str, Any], scope: Scope) -> set[str | None]:
    """Return the ids of the visible items that plain Python accepts, with the fields that are stored."""
    condition = compile_filter(Filter.model_validate(sent), LimitSettings())
    visible = await side.graph.list_items(ListingQuery(scope=scope), 1000)
    views = await side.graph.item_views("t", [item.uid for item in visible])
    return {
        view.item.source_id
        for view in views
        if accepts(condition, ItemFields(view.item, frozenset(map(fold_case, view.tags))))
    }


@pytest.mark.parametrize("seed", range(2 * TIMES))
async def test_search_listing_and_predicate_agree(side: Side, seed: int) -> None:
    draw = random.Random(seed)
    await fill(side, draw, 40)
    for _ in range(20 if side.name == "embedded" else 6):
        sent = drawn_filter(draw)
        viewer = draw.choice((None, {"user": "ana", "context": "a"}))
        audience = audience_of(Viewer.model_validate(viewer)) if viewer is not None else None
        scope = Scope(tenant="t", now=now(), audience=audience)
        expected = await by_predicate(side, sent, scope)
        condition = compile_filter(Filter.model_validate(sent), LimitSettings())
        listed = await side.graph.list_items(ListingQuery(scope=scope, condition=condition), 1000)
        assert {item.source_id for item in listed} == expected, sent
        asked = {"query": _QUESTION, "limit": 100, "filter": sent, "viewer": viewer}
        for filter_items in (FEW, MANY):
            found = await side.retrieve(asked, "t", filter_items=filter_items)
            assert {result.id for result in found.results} == expected, (sent, viewer, filter_items)
            assert not set(found.degraded) - {"pending"}, found.degraded
            words = await side.retrieve(asked | {"channels": ["fulltext"]}, "t", filter_items=filter_items)
            assert {result.id for result in words.results} == expected, (sent, viewer, filter_items)


@pytest.mark.parametrize("filter_items", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("channels", [["dense"], ["bm25"], ["fulltext"], None], ids=str)
async def test_the_last_of_a_crowd_are_found(side: Side, channels: list[str] | None, filter_items: int) -> None:
    """Every channel prefers the crowd: a filter after the first hits of each would find nothing."""
    crowd = [{"id": f"c{n}", "text": f"The harbour at dawn, harbour {n}", "metadata": {"n": n}} for n in range(120)]
    few = [
        {"id": f"f{n}", "text": f"{_SUBJECTS[n]} {n} with much else in it than the harbour", "metadata": {"few": True}}
        for n in (1, 2, 3)
    ]
    await side.ingest({"context": "c", "items": [*crowd, *few]}, "t", None)
    await side.indexer.drain()
    asked = {"query": "The harbour at dawn", "limit": 3, "channels": channels}
    settings = {"filter_items": filter_items, "candidates": 3}
    assert not {result.id for result in (await side.retrieve(asked, "t", **settings)).results} & {"f1", "f2", "f3"}
    for sent in ({"metadata.few": True}, {"not": {"metadata.n": {"gte": 0}}}, {"id": {"prefix": "f"}}):
        answer = await side.retrieve(asked | {"filter": sent}, "t", **settings)
        assert {result.id for result in answer.results} == {"f1", "f2", "f3"}, sent


async def test_what_passes_is_found_below_all_hits_that_one_search_has(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the vectors' hits end before enough pass, those that pass are searched, in parts."""
    monkeypatch.setattr(filtered_search, "MOST", 7)
    crowd = [{"id": f"c{n}", "text": f"The harbour at dawn, harbour {n}"} for n in range(60)]
    few = [{"id": f"f{n}", "text": f"Quite another matter, {_SUBJECTS[n % 8]} {n * 31}"} for n in range(20)]
    await side.ingest({"context": "c", "items": [*crowd, *few]}, "t", None)
    await side.indexer.drain()
    asked = {"query": "The harbour at dawn", "channels": ["dense"], "filter": {"id": {"prefix": "f"}}}
    for limit in (5, 20):
        few_pass = await side.retrieve(asked | {"limit": limit}, "t", filter_items=FEW, candidates=5)
        many_pass = await side.retrieve(asked | {"limit": limit}, "t", filter_items=MANY, candidates=5)
        assert len(few_pass.results) == limit
        assert [result.id for result in many_pass.results] == [result.id for result in few_pass.results]


async def test_a_filter_that_nothing_passes_finds_nothing(side: Side) -> None:
    await side.ingest({"context": "c", "items": [{"id": "1", "text": "The harbour"}]}, "t", None)
    await side.indexer.drain()
    answer = await side.retrieve({"query": "harbour", "filter": {"metadata.none": 1}}, "t")
    assert answer.results == ()
    every = await side.retrieve({"query": "harbour", "filter": {}}, "t")
    assert [result.id for result in every.results] == ["1"]
