"""What the hits of a question lead to: neighbours in a thread, the pages that they name, the speaker asked about."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.stores.memory import Memory, open_memory
from vicw_retrieval.channels.dense import StatementScores
from vicw_retrieval.pipeline import retrieve
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

OFF = {
    "statements": False,
    "speaker_boost": False,
    "title_match": False,
    "neighbour_lift": False,
    "entity_hops": 0,
    "coverage": 0.0,
    "spread_ms": 20_000,
}
FILLER = tuple({"id": f"f{n}", "text": f"Nothing of any weight, line {n}: rain, bread, socks {n}."} for n in range(30))
PLAYERS: tuple[dict[str, Any], ...] = (
    {"id": "film", "name": "The Dry (film)", "text": "The Dry is a film after a novel by Jane Harper."},
    {"id": "harper", "name": "Jane Harper", "text": "She was born in Manchester and grew up in Virginia."},
    {"id": "thesis", "name": "Crime fiction", "text": "Critics praise Jane Harper for her landscapes."},
)


async def ask(memory: Memory, query: str, on: dict[str, Any] | None = None, **fields: Any) -> RetrieveResponse:
    """Ask with every mechanism switched off but those that are ``on``."""
    settings = RetrievalSettings.model_validate(OFF | (on or {}))
    ports = replace(memory.standalone.retrieval_ports(), settings=settings)
    request = RetrieveRequest.model_validate({"query": query, "context": "ctx", **fields})
    return await retrieve(request, memory.tenant, ports)


async def ranks(memory: Memory, query: str, on: dict[str, Any] | None = None, **fields: Any) -> dict[str | None, int]:
    return {result.id: result.rank for result in (await ask(memory, query, on, limit=200, **fields)).results}


def test_passage_score_averages_the_passage_and_its_best_statement() -> None:
    told = StatementScores({"a": 0.8}, floor=0.5)
    assert told.weigh("a", 0.6) == pytest.approx(0.7)
    assert told.weigh("b", 0.6) == pytest.approx(0.55), "what it says is no better than the last that was found"
    assert told.weigh("b", 0.3) == pytest.approx(0.3)
    assert StatementScores({"a": 0.8}).weigh("b", 0.6) == 0.6, "all statements were found, and it has none"


async def test_a_matching_statement_raises_the_score_of_its_passage(memory: Memory) -> None:
    chatter = " ".join(f"The {word} was quiet that year." for word in "harbour mill tower market chapel quarry".split())
    told = "The keeper hid the brass key under the stairs."
    await memory.ingest({"id": "long", "text": f"{chatter} {told} {chatter}"}, *FILLER)
    query = "The keeper hid the brass key under the stairs"
    scores = [
        next(hit.score for r in answer.results if r.id == "long" for hit in r.channels if hit.channel == "dense")
        for answer in [await ask(memory, query, {"statements": on}, limit=200) for on in (False, True)]
    ]
    assert scores[1] > scores[0] + 0.1


async def test_a_hit_lifts_its_neighbours_in_the_flow_less_with_distance(memory: Memory) -> None:
    turns = ["Hi!", "Was anybody there?", "We saw a comet over the lake.", "Wow, lucky you!", "Bye."]
    items = [{"id": f"t{n}", "text": text, "speaker": "Ana", "flow_id": "chat"} for n, text in enumerate(turns)]
    await memory.ingest(*items, *FILLER, {"id": "elsewhere", "text": "Over the hills."})
    flat, lifted = [await ranks(memory, "a comet over the lake", {"neighbour_lift": on}) for on in (False, True)]
    assert lifted["t2"] == flat["t2"] == 1
    assert {lifted["t1"], lifted["t3"]} == {2, 3}
    assert lifted["elsewhere"] == 4 > flat["elsewhere"]
    assert {lifted["t0"], lifted["t4"]} == {5, 6}


async def test_lift_does_not_pass_through_hidden_turns(memory: Memory) -> None:
    turns = [("a", "We saw a comet over the lake."), ("b", "It is our secret."), ("c", "Bye.")]
    items: list[dict[str, Any]] = [
        {"id": uid, "text": text, "speaker": "Ana", "flow_id": "chat"} for uid, text in turns
    ]
    items[1] |= {"sensitivity": "sensitive", "about": ["Ana"]}
    await memory.ingest(*items, *FILLER)
    viewer = {"user": "Ben", "chat": "private"}
    flat, lifted = [await ranks(memory, "comet lake", {"neighbour_lift": on}, viewer=viewer) for on in (False, True)]
    assert "b" not in lifted
    assert lifted == flat
    assert (await ranks(memory, "comet lake", {"neighbour_lift": True}))["c"] == 3, "whom nothing is hidden from"


async def test_a_bridge_raises_the_page_that_a_found_page_names(memory: Memory) -> None:
    await memory.ingest(*PLAYERS, *({"name": f"Page {f['id']}", **f} for f in FILLER), domain="wiki")
    query = "Where was the writer born whose novel became the film The Dry?"
    flat, bridged = [await ranks(memory, query, {"entity_hops": hops}) for hops in (0, 2)]
    assert bridged["film"] == 1
    assert bridged["harper"] == 2 < flat["harper"]
    assert bridged["thesis"] < flat["thesis"]
    answer = await ask(memory, query, {"entity_hops": 2}, tags={"any": ["none such"]})
    assert answer.results == (), "what is come to has to be wanted, too"


async def test_hidden_pages_of_the_same_name_do_not_weaken_a_bridge(store: Path) -> None:
    hidden = [
        {"id": f"hidden{n}", "name": "Jane Harper", "text": f"Diary {n}.", "sensitivity": "sensitive", "about": ["Zoe"]}
        for n in range(40)
    ]
    query = "Where was the writer born whose novel became the film The Dry?"
    scores = []
    for more in ([], hidden):
        async with open_memory(store / str(len(more))) as memory:
            await memory.ingest(*more, *PLAYERS, *FILLER, domain="wiki")
            answer = await ask(memory, query, {"entity_hops": 2}, viewer={"user": "Ben", "chat": "private"}, limit=50)
            (harper,) = (result for result in answer.results if result.id == "harper")
            scores += [hit.score for hit in harper.channels if hit.channel == "graph"]
    assert scores[0] == pytest.approx(scores[1])
    assert len(scores) == 2


async def test_a_page_named_in_the_question_starts_a_bridge(memory: Memory) -> None:
    pages = (
        {"id": "album", "name": "Décade", "text": "Its twelve recordings were compiled by Neil Adams."},
        {"id": "father", "name": "Scott Adams", "text": "Scott Adams raised three sons, of whom Neil Adams was one."},
    )
    await memory.ingest(*pages, *FILLER, domain="wiki")
    query = "Any sibling of whoever performs on Decade?"  # no word of the first page's text, nor its accent
    unnamed, named = [await ranks(memory, query, {"entity_hops": 1, "title_match": on}) for on in (False, True)]
    assert named["album"] < unnamed["album"]
    assert named["father"] < unnamed["father"]
    answer = await ask(memory, query, {"entity_hops": 1, "title_match": True}, limit=200)
    (father,) = (result for result in answer.results if result.id == "father")
    assert "graph" in {hit.channel for hit in father.channels}, (named, unnamed)


async def test_title_match_raises_the_named_page_not_for_common_words(memory: Memory) -> None:
    pages = (
        {"id": "capital", "name": "Decade", "text": "A record."},
        {"id": "small", "name": "sort", "text": "It orders."},
    )
    await memory.ingest(*pages, *FILLER, domain="wiki")
    flat, named = [
        await ranks(memory, "who of the decade can sort bread and socks", {"title_match": on}) for on in (False, True)
    ]
    assert named["capital"] < flat["capital"]
    assert named["small"] >= flat["small"]


async def test_turns_of_the_only_speaker_named_in_a_question_rank_first(memory: Memory) -> None:
    said: dict[str, tuple[str, str]] = {
        "ana": ("Ana Souza", "The regatta was cold."),
        "ben": ("Ben", "Ana told me of the regatta: cold, wet, long."),
    }
    items = [{"id": uid, "speaker": speaker, "text": text} for uid, (speaker, text) in said.items()]
    await memory.ingest(*items, *FILLER)
    one, nobody, both = "What did Ana say of the regatta?", "What of the regatta?", "Did Ana or Ben like the regatta?"
    assert (await ranks(memory, one, {"speaker_boost": True}))["ana"] == 1
    for query in (nobody, both):
        assert await ranks(memory, query, {"speaker_boost": True}) == await ranks(memory, query)


async def test_a_graph_timeout_keeps_the_results_and_marks_graph_degraded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.ingest({"id": "a", "text": "We saw a comet."}, *FILLER)
    graph = memory.standalone.graph

    async def hang(*_: Any, **__: Any) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(graph, "find_names", hang)
    answer = await ask(memory, "we saw a comet", {"title_match": True, "spread_ms": 50, "associates": 0})
    assert answer.results[0].id == "a"
    assert answer.degraded == ("current", "graph"), "both under the same emergency clock"
