"""What a question brings up by the trigger phrases of items."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from support.stores.graph_queries import GraphClient, edges_as_text
from support.stores.memory import Memory
from vicw_retrieval.ranking.fusion import GRAPH, Candidate, Wave, choose
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef, VectorHit

QUESTION = "The deploy failed, what now?"


async def crowd(memory: Memory, number: int) -> None:
    """Ingest items that every channel prefers."""
    items = ({"id": f"crowd{n}", "text": f"The deploy failed, what now? {n}"} for n in range(number))
    await memory.ingest(*items)


async def triggered_ids(memory: Memory, question: str = QUESTION, **fields: Any) -> list[str | None]:
    """Return the ids of what the graph brought, in its order."""
    answer = await memory.retrieve(question, **fields)
    places = {hit.rank: result.id for result in answer.results for hit in result.channels if hit.channel == "graph"}
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)
    return [places[rank] for rank in sorted(places)]


async def test_an_item_is_found_by_its_trigger_phrase_whatever_its_text(memory: Memory) -> None:
    await crowd(memory, 150)
    rule = {"id": "rule", "text": "Call Mara first.", "trigger_phrases": ["Deploy FAILED", "outage"]}
    await memory.ingest(rule, {"id": "late", "text": "She has the keys."}, flow_id="f")
    answer = await memory.retrieve(QUESTION, limit=4, explain=True)
    found = next(result for result in answer.results if result.id == "rule")
    assert (len(answer.results), found.text) == (4, "Call Mara first.")
    (hit,) = found.channels
    assert (hit.channel, hit.rank, hit.depth, hit.edge_type) == ("graph", 1, 0, None)
    assert 0 <= hit.score <= 1
    assert "late" in {node.id for node in answer.graph.nodes}, "what it leads to is shown, too"
    assert answer.explain is not None
    assert [hit["rank"] for hit in answer.explain.channels["graph"]] == [1]
    assert await triggered_ids(memory, "failed deploy") == []
    assert await triggered_ids(memory, limit=1) == [], "it takes no more than half of the places"
    assert await triggered_ids(memory, channels=["dense", "bm25"]) == []


async def test_a_triggered_item_still_reports_the_edge_that_reached_it(memory: Memory) -> None:
    rule = {"id": "rule", "text": "Call Mara first.", "trigger_phrases": ["deploy failed"]}
    await memory.ingest({"id": "said", "text": QUESTION}, rule, flow_id="f")
    answer = await memory.retrieve(QUESTION, limit=4)
    (hit,) = (h for r in answer.results if r.id == "rule" for h in r.channels if h.channel == "graph")
    assert (hit.rank, hit.depth, hit.edge_type, hit.sub_graph) == (1, 1, "NEXT", "causal")


async def test_protected_items_are_triggered_first_up_to_the_limit(memory: Memory) -> None:
    tiers = {"constitutional": "constitutional", "critical": "critical", "most": 1.0, "some": 0.6, "none": None}
    items = [
        {"id": name, "text": f"about {name}", "importance": tier, "trigger_phrases": ["deploy failed"]}
        for name, tier in [*tiers.items(), ("temporary", "temporary")]
    ]
    await memory.ingest(*items[::-1])
    assert await triggered_ids(memory) == ["constitutional", "critical", "most", "some", "none"]
    stored = await memory.standalone.graph.triggered("default", ["deploy failed"], limit=9)
    assert {n.source_id: (n.importance, n.protected) for n in stored} == {
        "constitutional": (1.0, True),
        "critical": (0.9, True),
        "most": (1.0, False),
        "some": (0.6, False),
        "none": (None, False),
        "temporary": (0.2, False),
    }


async def test_filters_and_time_travel_apply_to_triggered_items(memory: Memory) -> None:
    def item(name: str, **fields: Any) -> dict[str, Any]:
        return {"id": name, "text": f"of {name}", "trigger_phrases": ["deploy failed"], **fields}

    await memory.ingest(item("story", tags=["Sea"]), context="s", domain="prose")
    await memory.ingest(item("code", tags=["Night"]), context="c", domain="coding")
    await memory.ingest(item("over", expires_at="2020-01-01T00:00:00Z"), context="c", domain="coding")
    assert sorted(map(str, await triggered_ids(memory))) in (["code", "story"], ["code"], ["story"])
    assert await triggered_ids(memory, domain="prose") == ["story"]
    assert await triggered_ids(memory, context="c") == ["code"]
    assert await triggered_ids(memory, tags={"any": ["sea"]}) == ["story"]
    assert await triggered_ids(memory, tags={"none": ["sea"]}, context="s") == []
    assert await triggered_ids(memory, as_of="2020-01-01T00:00:00Z", context="c") == ["code"], (
        "it has no time of its own"
    )
    assert await triggered_ids(memory, known_at="2020-01-01T00:00:00Z") == []
    memory.tenant = "other"
    assert await triggered_ids(memory) == []


async def test_hidden_items_are_not_triggered(memory: Memory) -> None:
    hidden = [
        {"id": f"p{n}", "text": f"private {n}", "sensitivity": "personal", "about": ["Ben"], "importance": "critical"}
        for n in range(30)
    ]
    shown = {"id": "ana", "text": "hers", "sensitivity": "personal", "about": ["Ana"]}
    await memory.ingest(*({**item, "trigger_phrases": ["deploy failed"]} for item in [*hidden, shown]))
    assert await triggered_ids(memory, viewer={"user": "ana"}) == ["ana"]
    assert await triggered_ids(memory, viewer={"user": "clara"}) == []
    assert len(await triggered_ids(memory, viewer={"user": "ben"})) == 5


async def test_a_new_version_has_its_own_phrases_and_a_retracted_item_none(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "one", "trigger_phrases": ["deploy failed"]})
    same = await memory.ingest({"id": "a", "text": "one", "trigger_phrases": ["deploy failed"]})
    assert same.items[0].status == "unchanged"
    await memory.ingest({"id": "a", "text": "one", "trigger_phrases": ["outage"]})
    assert (await triggered_ids(memory), await triggered_ids(memory, "an outage")) == ([], ["a"])
    await memory.retract("a")
    assert await triggered_ids(memory, "an outage") == []


async def test_triggered_items_survive_every_fusion_method(memory: Memory) -> None:
    await crowd(memory, 5)
    await memory.ingest({"id": "rule", "text": "Call Mara first.", "trigger_phrases": ["deploy failed"]})
    ports = memory.standalone.settings
    for fusion in ("zscore", "rrf"):
        settings = ports.retrieval.model_copy(update={"fusion": fusion})
        memory.standalone.settings = type(ports)(**{**_fields(ports), "retrieval": settings})
        assert await triggered_ids(memory) == ["rule"], fusion


def _fields(settings: Any) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in type(settings).__dataclass_fields__}


async def test_a_graph_walk_starts_at_triggered_items_or_word_matches(memory: Memory) -> None:
    await memory.ingest(
        {"id": "why", "text": "The disk was full.", "timestamp": "2026-01-01T00:00:00Z"},
        {
            "id": "rule",
            "text": "Call Mara first.",
            "timestamp": "2026-01-02T00:00:00Z",
            "trigger_phrases": ["deploy failed"],
            "extraction": {"relations": [{"source": "why", "type": "CAUSED", "target": "$item"}]},
        },
        {"id": "other", "text": "Ana slept.", "timestamp": "2026-01-03T00:00:00Z"},
    )
    asker = GraphClient(memory.standalone.graph, tenant="default")
    walk = await asker.ask("walk", query=QUESTION, direction="in", types={"include": ["CAUSED"]})
    assert edges_as_text(walk) == ["The disk was full. CAUSED Call Mara first."]
    assert [node.id for node in walk.nodes if node.uid in walk.start] == ["rule"]
    by_words = await asker.ask("walk", query="Who slept?", hops=0)
    assert [node.id for node in by_words.nodes] == ["other"]
    assert (await asker.ask("walk", query="nonsense")).nodes == ()
    assert (
        await GraphClient(memory.standalone.graph, tenant="default", trigger_seeds=0).ask("walk", query=QUESTION)
    ).nodes == ()


@pytest.mark.parametrize(
    ("phrases", "told"),
    [
        (["x"] * 33, r"items\[0\]\.trigger_phrases: has 33 entries, over the limit of 32\. .*VICW_MAX_TRIGGER_PHRASES"),
        (["++"], r"items\[0\]\.trigger_phrases\[0\]: has no letter and no digit"),
        (["a b c d e f g h i"], r"trigger_phrases\[0\]: has 9 words, over 8"),
        (["ok", "x" * 513], r"trigger_phrases\[1\]: has 513 characters"),
    ],
)
async def test_invalid_trigger_phrases_are_refused(memory: Memory, phrases: list[str], told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        await memory.ingest({"id": "a", "text": "one", "trigger_phrases": phrases})
    assert await memory.found("one") == []


def test_triggered_items_take_the_last_places() -> None:
    def wave(*triggered_ids: str) -> Wave:
        return Wave({GRAPH: [VectorHit(f"k{uid}", 1.0) for uid in triggered_ids]}, {}, {})

    item = ItemRef(
        uid="", label=Label.EVENT, context="c", domain="general", created_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    ranked = [Candidate(replace(item, uid=uid), 1.0, [(f"k{uid}", 1.0)]) for uid in "abcdefgh"]

    def uids(limit: int, *triggered_ids: str) -> str:
        return "".join(candidate.item.uid for candidate in choose(ranked, wave(*triggered_ids), limit))

    assert uids(4) == "abcd"
    assert uids(4, "g") == "abcg"
    assert uids(4, "h", "g", "f") == "abgh", "half of the places, by those that it brings first"
    assert uids(4, "d", "g") == "abdg", "none of another that was brought"
    assert uids(4, "a", "b", "c", "g", "h") == "abcg"
    assert uids(4, "h", "a", "b", "c", "d") == "abch", "what it brings first is there, whatever it scores"
    assert uids(1, "h") == "a"
    assert uids(9, "h") == "abcdefgh"


async def test_triggered_items_spread_from_their_statements(memory: Memory) -> None:
    await crowd(memory, 30)
    rule = {
        "id": "rule",
        "text": "Call Mara first.",
        "trigger_phrases": ["deploy failed"],
        "extraction": {
            "events": [{"id": "call", "name": "Mara is called"}],
            "relations": [{"source": "roster", "type": "CAUSED", "target": "call"}],
        },
    }
    await memory.ingest({"id": "roster", "text": "A roster hangs there.", "timestamp": "2026-01-01T00:00:00Z"})
    await memory.ingest(rule, extract="caller")
    answer = await memory.retrieve(QUESTION, limit=60)
    (roster,) = (result for result in answer.results if result.id == "roster")
    assert [hit.edge_type for hit in roster.channels if hit.channel == "graph"] == ["CAUSED"]
