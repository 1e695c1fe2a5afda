"""What a setting switches off leaves no trace in the answer, and what it switches on does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from support.answers.explanation import explained
from support.stores.memory import Memory
from vicw_retrieval.model.similarity import VectorSimilarity
from vicw_retrieval.search import first_wave
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Lane, SparseVector, VectorHit, VectorQuery, VectorStore
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Task

FILLER = tuple({"id": f"f{n}", "text": f"The pantry list, line {n}: rain, bread, socks {n}."} for n in range(30))


CODE = "def cross(zebra):\n    road = find(zebra)\n    return road.walk(zebra)"


async def test_code_is_searched_with_the_bare_query_too_unless_switched_off(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": CODE}, domain="coding")
    scores = []
    for on in (False, True):
        memory.embedder.seen.clear()
        answer = await explained(memory, "which zebra?", {"bare_query": on}, domain="coding")
        bare = ["which zebra?"] if on else []
        assert memory.embedder.questions() == ["[Domain: coding] which zebra?", *bare]
        scores += [hit.score for hit in answer.results["a"].channels if hit.channel == "dense"]
    assert len(set(scores)) == 2, "and what is near it is judged by that"


async def test_prose_is_searched_with_the_wrapped_query_alone(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "a zebra crosses"}, domain="coding")
    await explained(memory, "which zebra?", {}, domain="coding")
    assert memory.embedder.questions() == ["[Domain: coding] which zebra?"]


async def test_code_is_found_when_embedding_the_bare_query_fails(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": CODE}, domain="coding")
    embed = memory.embedder.embed

    async def once(texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if list(texts) == ["which zebra?"]:
            raise UnavailableError("embedding", "is away")
        return await embed(texts, lane)

    with patch.object(memory.embedder, "embed", once):
        answer = await explained(memory, "which zebra?", {}, domain="coding")
    assert "a" in answer.results
    assert answer.response.degraded == ("dense",)


async def test_the_wrapped_query_stays_in_use_when_the_bare_search_fails(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.ingest({"id": "a", "text": CODE}, domain="coding")
    find = memory.standalone.vectors.search

    async def fail_plainly(query: VectorQuery) -> Sequence[VectorHit]:
        if query.dense is not None and memory.embedder.questions()[-1:] == ["which zebra?"]:
            raise UnavailableError("vectors", "is away")
        return await find(query)

    monkeypatch.setattr(memory.standalone.vectors, "search", fail_plainly)
    compared: list[NDArray[np.float32] | None] = []

    def similarity(
        vectors: VectorStore, vector: NDArray[np.float32] | None, terms: SparseVector, rarity: Mapping[int, float]
    ) -> VectorSimilarity:
        compared.append(vector)
        return VectorSimilarity(vectors, vector, terms, rarity)

    monkeypatch.setattr(first_wave, "VectorSimilarity", similarity)
    answer = await explained(memory, "which zebra?", {}, domain="coding")
    wrapped = "[Domain: coding] which zebra?"
    (asked,) = await memory.embedder.embed([wrapped], Lane.QUERY)
    assert answer.response.degraded == ("dense",)
    assert answer.response.explain is not None
    assert answer.response.explain.wrapped_query == wrapped
    (vector,) = compared
    assert vector is not None
    assert np.allclose(vector, asked), "later stages compare with the wrapped question"


@pytest.mark.parametrize("on", [False, True])
async def test_the_intent_setting_switches_task_and_now_detection(memory: Memory, on: bool) -> None:
    await memory.ingest({"id": "a", "text": "Postgres keeps the books."}, *FILLER)
    decision, present = [
        (await explained(memory, query, {"intent": on})).response
        for query in ("why did we decide to use Postgres?", "where is our Postgres right now?")
    ]
    intent = decision.intent
    assert (intent.task, intent.task_confidence > 0) == ((Task.FIND_DECISION, True) if on else (None, False))
    assert present.intent.now is on
    assert present.explain is not None
    assert present.explain.profile.recency_weight == pytest.approx(0.2 if on else 0.0), "how things are now"


@pytest.mark.parametrize(("most", "shown"), [(0, 0), (1, 1), (2, 2)])
async def test_associates_setting_limits_the_associates_shown(memory: Memory, most: int, shown: int) -> None:
    hit = {"id": "hit", "text": "The amulet was stolen from the vault.", "tags": ["heist"]}
    others = [{"id": f"o{n}", "text": f"Mara owed {n} crowns.", "tags": ["heist"]} for n in range(3)]
    await memory.ingest(hit, *others)
    answer = await explained(memory, "amulet stolen vault", {"associates": most}, channels=None, limit=1)
    assert sum(line.strip().startswith("also heist") for line in answer.response.text.splitlines()) == shown
    assert ("TAGGED" in {edge.type for edge in answer.response.graph.edges}) is (shown > 0)


@pytest.mark.parametrize(("most", "brought"), [(0, []), (1, ["r1"]), (5, ["r1", "r2"])])
async def test_trigger_seeds_setting_limits_the_triggered_items(memory: Memory, most: int, brought: list[str]) -> None:
    rules = [
        {"id": f"r{n}", "text": f"Call number {n}.", "trigger_phrases": ["bread is out"], "importance": 1 - n / 10}
        for n in (1, 2)
    ]
    await memory.ingest(*rules, *FILLER)
    answer = await explained(memory, "The bread is out, what now?", {"trigger_seeds": most})
    places = {hit.rank: uid for uid, one in answer.results.items() for hit in one.channels if hit.channel == "graph"}
    assert [places[rank] for rank in sorted(places)] == brought


@pytest.mark.parametrize("weight", [0.0, 0.2])
async def test_full_text_is_searched_only_if_it_has_a_weight(memory: Memory, weight: float) -> None:
    await memory.ingest({"id": "a", "text": "a zebra crosses"}, *FILLER)
    answer = await explained(memory, "zebra", {"fulltext_weight": weight})
    asked = {hit.channel for hit in answer.results["a"].channels}
    assert asked == {"dense", "bm25"} | ({"fulltext"} if weight else set())


def turn(uid: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"id": uid, "text": text, "speaker": "Ana", "flow_id": "chat", **fields}


@pytest.mark.parametrize(
    ("by", "off", "on", "gains"),
    [
        ("people", {"people_match": False}, {"people_match": True}, {"of"}),
        ("speaker", {"speaker_boost": False}, {"speaker_boost": True}, {"said", "next"}),
        ("named", {"title_match": False}, {"title_match": True}, {"page"}),
        ("lift", {"neighbour_lift": False}, {"neighbour_lift": True}, {"said", "next"}),
        ("bridges", {"entity_hops": 0}, {"entity_hops": 1}, {"page"}),
        ("walk", {"graph_weight": 0.0}, {"graph_weight": 0.3}, {"cause", "next"}),
        ("recent", {"recency_weight": 0.0}, {"recency_weight": 0.2}, {"said", "next", "cause"}),
    ],
)
async def test_each_gain_has_a_switch_of_its_own(
    memory: Memory, by: str, off: dict[str, Any], on: dict[str, Any], gains: set[str]
) -> None:
    relations = [{"source": "cause", "type": "CAUSED", "target": "said"}]
    await memory.ingest(
        {"id": "cause", "text": "Frost came early.", "timestamp": "2026-01-01T00:00:00Z"},
        turn("said", "The regatta was cold.", timestamp="2026-01-02T00:00:00Z", extraction={"relations": relations}),
        turn("next", "Well.", timestamp="2026-01-03T00:00:00Z"),
        {"id": "page", "name": "Quibble Cup", "text": "A race of boats."},
        {"id": "names", "name": "Sports", "text": "A cold regatta is called the Quibble Cup."},
        {"id": "of", "text": "She likes a regatta if it is cold.", "about": ["Mara"]},
        *FILLER,
    )
    viewer = {"user": "Ben", "chat": "private", "participants": ["Mara"]}
    query = "What did Ana say of the cold regatta" + (" Quibble Cup?" if by == "named" else "?")
    without, with_it = [await explained(memory, query, settings, viewer=viewer) for settings in (off, on)]
    assert without.gains(by) == {}
    assert set(with_it.gains(by)) == gains


async def test_typed_edges_are_off_by_default_and_followed_with_a_weight(memory: Memory) -> None:
    relations = [{"source": "cause", "type": "CAUSED", "target": "said"}]
    await memory.ingest(
        {"id": "cause", "text": "Frost came early.", "timestamp": "2026-01-01T00:00:00Z"},
        turn("said", "The regatta was cold.", timestamp="2026-01-02T00:00:00Z", extraction={"relations": relations}),
        *FILLER,
    )
    default = RetrievalSettings().graph_weight
    flat, walked = [await explained(memory, "cold regatta", {"graph_weight": w}) for w in (default, 0.15)]
    assert (flat.gains("walk"), set(walked.gains("walk"))) == ({}, {"cause"})
