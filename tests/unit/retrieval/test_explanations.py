"""What an answer says of how it came about: in what it was searched, and by which way each result was come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.stores.memory import Memory, open_memory
from vicw_retrieval.intent.profiles import Profile, mix
from vicw_shared.settings import RetrievalSettings

AT = "2026-03-01T00:00:00Z"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, {"contexts": None, "tags_any": (), "audience": "everything", "as_of": None}),
        ({"context": "ctx"}, {"contexts": ("ctx",)}),
        ({"domain": "Coding"}, {"domains": ("coding",)}),
        ({"tags": {"any": ["Sea"], "all": ["a"], "none": ["b"]}}, {"tags_any": ("sea",), "tags_none": ("b",)}),
        ({"as_of": AT, "known_at": AT}, {"as_of": AT, "known_at": AT}),
        ({"query_time": AT}, {"judged_at": AT}),
        ({"viewer": {"user": "Ana", "chat": "private"}}, {"audience": "viewer"}),
        ({"viewer": {"user": "Ana", "chat": "group"}}, {"audience": "group"}),
    ],
)
async def test_explain_lists_the_filters_of_the_search(
    memory: Memory, asked: dict[str, Any], told: dict[str, Any]
) -> None:
    await memory.ingest({"id": "a", "text": "The harbour was closed."})
    answer = await memory.retrieve("harbour", **({"context": None} | asked), explain=True)
    assert answer.explain is not None
    filters = answer.explain.filters.model_dump(mode="json")
    assert {name: filters[name] for name in told} == {
        name: list(value) if isinstance(value, tuple) else value for name, value in told.items()
    }


async def test_explain_lists_an_inferred_domain_as_a_filter(memory: Memory) -> None:
    code = [{"id": f"c{n}", "text": f"def cast_{n}(spell): return spell.power * {n}"} for n in range(20)]
    await memory.ingest(*code, domain="coding")
    await memory.ingest(
        *({"id": f"s{n}", "text": f"The wizard sang, night {n}."} for n in range(20)), domain="creative"
    )
    answer = await memory.retrieve("def cast(spell): return spell.power", explain=True)
    assert answer.explain is not None
    assert answer.intent.filtered
    assert answer.explain.filters.domains == answer.explain.domains_searched == ("coding",)


async def test_an_associate_reports_its_rank_and_score_in_the_tags_channel(store: Path) -> None:
    hit = {"id": "hit", "text": "The comet struck the lake.", "tags": ["astronomy", "summer"]}
    near = {"id": "near", "text": "A telescope stood in a garden.", "tags": ["astronomy", "summer"]}
    far = {"id": "far", "text": "Bread was cheap.", "tags": ["summer"]}
    async with open_memory(store, vectors=False) as memory:  # words alone leave places free
        await memory.ingest(hit, near, far)
        answer = await memory.retrieve("comet lake")
    over_tags = {r.id: hit for r in answer.results for hit in r.channels if hit.channel == "tags"}
    assert [(name, hit.rank) for name, hit in over_tags.items()] == [("near", 1), ("far", 2)]
    assert over_tags["near"].score == 1.0
    assert 0 < over_tags["far"].score < 1.0


def test_a_profile_has_a_half_life_of_its_own() -> None:
    settings = RetrievalSettings()
    assert mix(settings, [(Profile(recency_weight=0.2, recency_days=10.0), 0.5)]).recency_days == 20.0
    assert mix(settings, [(Profile(recency_weight=0.2), 1.0)]).recency_days == settings.recency_days


async def test_explain_lists_lift_and_tags_as_channels(store: Path) -> None:
    turns = [
        {"id": f"t{n}", "text": text} for n, text in enumerate(("Snow fell.", "The comet struck.", "Dogs barked."))
    ]
    near = {"id": "near", "text": "A telescope stood in a garden.", "tags": ["astronomy"]}
    async with open_memory(store, vectors=False) as memory:
        await memory.ingest(*turns[:1], {**turns[1], "tags": ["astronomy"]}, *turns[2:], flow_id="night")
        await memory.ingest(near)
        answer = await memory.retrieve("comet", explain=True)
    explain = answer.explain
    assert explain is not None
    ids = {result.uid: result.id for result in answer.results}
    lifted = explain.channels["lift"]
    assert {ids[hit["uid"]] for hit in lifted} == {"t0", "t2"}
    assert [hit["rank"] for hit in lifted] == [1, 2]
    assert all(hit["score"] == explain.boosts[hit["uid"]]["lift"] for hit in lifted)
    assert [(ids[hit["uid"]], hit["rank"], hit["score"]) for hit in explain.channels["tags"]] == [("near", 1, 1.0)]


async def test_explain_lists_results_and_lines_cut_by_the_budget(memory: Memory) -> None:
    await memory.ingest(
        {"id": "before", "text": "Snow fell."}, {"id": "a", "text": "The comet struck the lake. " * 20}, flow_id="night"
    )

    async def cut(chars: int) -> tuple[list[str], list[str], dict[str, int]]:
        answer = await memory.retrieve("comet lake", limit=1, budget={"chars": chars}, explain=True)
        assert answer.explain is not None
        ids = {result.uid: str(result.id) for result in answer.results}
        found = answer.explain
        lines = {ids[uid]: count for uid, count in found.lines_cut.items()}
        return [ids[uid] for uid in found.cut], [ids[uid] for uid in found.shortened], lines

    whole = len((await memory.retrieve("comet lake", limit=1)).text)
    assert await cut(whole) == ([], [], {})
    assert await cut(whole - 1) == ([], [], {"a": 1})
    assert await cut(200) == ([], ["a"], {"a": 1})


async def test_neighbour_lines_are_written_or_counted_as_cut(memory: Memory) -> None:
    texts = {"quiet": "Quiet.", "rose": "The comet rose over the lake. " * 20, "wow": "A comet."}
    await memory.ingest(*({"id": uid, "text": text} for uid, text in texts.items()), flow_id="night")
    asked = "comet rose over the lake"
    whole = await memory.retrieve(asked, limit=2)
    assert [result.id for result in whole.results] == ["rose", "quiet"]
    assert whole.text.count("before: ") + whole.text.count("after: ") == 3
    size = len(whole.text)
    for chars in range(size - 420, size, 10):
        answer = await memory.retrieve(asked, limit=2, budget={"chars": chars}, explain=True)
        assert answer.explain is not None
        told = answer.text.count("before: ") + answer.text.count("after: ")
        assert told + sum(answer.explain.lines_cut.values()) == (2 if answer.explain.cut else 3), chars
