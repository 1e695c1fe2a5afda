"""What happened when a question asks about comes first: over real memories, seen from the question's own time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from support.stores.memory import Memory, open_memory
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.search.first_wave import PhraseSearch
from vicw_shared.errors import UnavailableError
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

NOW = "2026-03-18T15:30:00Z"
FILLER = tuple({"id": f"f{n}", "text": f"The pantry list, line {n}: rain, bread, socks {n}."} for n in range(40))
STORY = (
    ("s1", "The two sisters packed their bags."),
    ("s2", "An explosion shook the harbour."),
    ("s3", "Mara pulled a sailor out of the water."),
    ("s4", "In the morning the ships were gone."),
    ("s5", "They still talk of the explosion in the taverns."),
)


async def ask(memory: Memory, query: str, boost: float = 0.5, **fields: Any) -> RetrieveResponse:
    ports = memory.standalone.retrieval_ports()
    settings = RetrievalSettings(time_boost=boost, spread_ms=20_000, neighbour_lift=False)
    request = RetrieveRequest.model_validate({"query": query, "query_time": NOW, "explain": True, **fields})
    return await retrieve(request, memory.tenant, replace(ports, settings=settings))


def ids(answer: RetrieveResponse) -> list[str | None]:
    return [result.id for result in answer.results]


async def chat(memory: Memory) -> None:
    said = {
        "early": ("13:00", "We spoke of the garden."),
        "then": ("15:21", "The bridge needs paint."),
        "now": ("15:29", "Hm."),
    }
    turns = [
        {"id": uid, "speaker": "Ana", "text": text, "timestamp": f"2026-03-18T{at}:00Z"}
        for uid, (at, text) in said.items()
    ]
    await memory.ingest(*turns, *FILLER, flow_id="f")


async def test_items_of_the_time_come_first_if_a_question_has_nothing_else(memory: Memory) -> None:
    await chat(memory)
    answer = await ask(memory, "What did we discuss 10 minutes ago?")
    assert ids(answer)[0] == "then"
    assert len(ids(answer)) == 10, "nothing is left out"
    assert answer.explain is not None
    assert answer.explain.time is not None
    assert (answer.explain.time.only, answer.explain.time.spans[0].text) == (True, "10 minutes ago")
    assert "time" in answer.explain.boosts[answer.results[0].uid]


async def test_a_time_without_items_leaves_the_answer_unchanged(memory: Memory) -> None:
    await chat(memory)
    asked = "What did we discuss 3 years ago?"
    assert ids(await ask(memory, asked)) == ids(await ask(memory, asked, boost=0.0)) != []


async def test_a_time_beside_other_words_is_a_boost(memory: Memory) -> None:
    paint = [
        {"id": uid, "text": f"The bridge was painted, part {uid}.", "timestamp": f"2026-0{month}-10T12:00:00Z"}
        for uid, month in (("jan", 1), ("feb", 2), ("mar", 3))
    ]
    await memory.ingest(*paint, *FILLER)
    answer = await ask(memory, "Which bridge was painted in February?")
    assert ids(answer)[0] == "feb"
    assert {"jan", "mar"} <= set(ids(answer))


async def test_items_after_a_named_event_gain_but_not_items_before(memory: Memory) -> None:
    scenes = [
        {"id": uid, "subtype": "scene", "text": text, "timestamp": f"2026-01-0{n}T00:00:00Z"}
        for n, (uid, text) in enumerate(STORY, start=1)
    ]
    await memory.ingest(*scenes, *FILLER, flow_id="story", domain="prose")
    answer = await ask(memory, "What happened in the story after the explosion?")
    found = ids(answer)
    assert answer.explain is not None
    assert answer.explain.time is not None
    (event,) = answer.explain.time.events
    uids = {result.id: result.uid for result in answer.results}
    assert event.uid == uids.get("s2", event.uid)
    gains = [answer.explain.boosts[uids[uid]]["time"] for uid in ("s3", "s4")]
    assert min(gains) > 0
    assert {"s3", "s4"} <= set(found[:5])
    assert "time" not in answer.explain.boosts.get(uids.get("s1", ""), {})
    before = await ask(memory, "What happened in the story before the explosion?")
    assert before.explain is not None
    boosted = {r.id for r in before.results if "time" in before.explain.boosts.get(r.uid, {})}
    assert boosted == {"s1", "s2"}


async def test_hidden_events_are_not_used_as_time_references(memory: Memory) -> None:
    scenes = [
        {"id": uid, "text": text, "timestamp": f"2026-01-0{n}T00:00:00Z"} for n, (uid, text) in enumerate(STORY, 1)
    ]
    hidden = {"sensitivity": "sensitive", "about": ["Mara"]}
    await memory.ingest(scenes[0], scenes[1] | hidden, *scenes[2:], *FILLER, flow_id="story")
    asked = "What happened after the explosion?"
    answer = await ask(memory, asked, viewer={"user": "Ben"})
    assert answer.explain is not None
    assert answer.explain.time is not None
    assert "s2" not in ids(answer)
    assert answer.explain.time.events[0].uid in {None, *(r.uid for r in answer.results if r.id == "s5")}


@pytest.mark.parametrize("fails", ["hangs", "raises"])
async def test_a_graph_failure_keeps_the_results_and_degrades_time(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    await chat(memory)
    flat = ids(await ask(memory, "What did we discuss 10 minutes ago?", boost=0.0))

    async def between(*_: Any, **__: Any) -> None:
        if fails == "raises":
            raise TimeoutError
        await asyncio.sleep(60)

    monkeypatch.setattr(memory.standalone.graph, "between", between)
    ports = replace(
        memory.standalone.retrieval_ports(), settings=RetrievalSettings(spread_ms=300, neighbour_lift=False)
    )
    request = RetrieveRequest.model_validate({"query": "What did we discuss 10 minutes ago?", "query_time": NOW})
    answer = await retrieve(request, memory.tenant, ports)
    assert "time" in answer.degraded
    assert set(ids(answer)) == set(flat)


GENERIC = tuple(
    {"id": f"g{n}", "text": f"We discuss what changed for minutes, again and again: what happened, part {n}."}
    for n in range(20)
)


async def two_domains(memory: Memory) -> None:
    """Tell of ten minutes ago in one domain, and in another of nothing but the words that ask for it."""
    await memory.ingest(*GENERIC, context="forum", domain="creative")
    then = {"id": "then", "speaker": "Ana", "text": "The bridge needs paint.", "timestamp": "2026-03-18T15:21:00Z"}
    await memory.ingest(then, *FILLER, context="work", domain="coding", flow_id="f")


@pytest.mark.parametrize("vectors", [True, False], ids=["vectors", "words"])
@pytest.mark.parametrize(
    "query", ["What did we discuss 10 minutes ago?", "What happened this afternoon?", "What changed in March?"]
)
async def test_words_that_ask_for_a_time_vote_for_no_domain(store: Path, query: str, vectors: bool) -> None:
    async with open_memory(store, vectors=vectors) as memory:
        await two_domains(memory)
        answer = await ask(memory, query)
        assert "then" in ids(answer)
        assert not answer.intent.filtered
        named = await ask(memory, query, domain="creative")
        assert named.intent.filtered
        assert "then" not in ids(named)
        assert named.explain is not None
        assert named.explain.time is not None
        assert not named.explain.time.only, "nothing of that time was found there"


async def test_a_question_is_narrowed_to_the_domain_of_its_event(memory: Memory) -> None:
    await memory.ingest(*({"id": uid, "text": text} for uid, text in STORY), domain="creative", flow_id="s")
    code = [{"id": f"c{n}", "text": f"def port_{n}(host): return open(host, {n})"} for n in range(20)]
    await memory.ingest(*code, context="code", domain="coding")
    answer = await ask(memory, "What happened after the explosion shook the harbour?")
    assert (answer.intent.filtered, answer.intent.domain) == (True, "creative")
    assert {result.domain for result in answer.results} == {"creative"}
    await memory.ingest({"id": "s6", "text": "A sailor told of it.", "tags": ["sailor"]}, domain="creative")
    answer = await ask(memory, "What happened after the explosion shook the harbour?", tags={"any": ["sailor"]})
    assert answer.intent.filtered, "tags choose results, not the event"


async def test_words_beside_a_named_event_do_not_narrow_the_domain(memory: Memory) -> None:
    await two_domains(memory)
    await memory.ingest(
        {"id": "deploy", "text": "The deployment.", "timestamp": "2026-03-18T15:25:00Z"}, context="work", flow_id="f"
    )
    answer = await ask(memory, "What did we discuss, what changed before the deployment?")
    assert not answer.intent.filtered
    flat = await ask(memory, "What did we discuss, what changed for minutes?")
    assert flat.intent.filtered


@pytest.mark.parametrize("vectors", [True, False], ids=["vectors", "words"])
async def test_an_event_reference_matches_a_turn_rather_than_code(store: Path, vectors: bool) -> None:
    async with open_memory(store, vectors=vectors) as memory:
        code = [
            {"id": f"c{n}", "text": f"def deploy_{name}(): deploy('{name}')", "subtype": "function"}
            for n, name in enumerate(("shop", "mail", "blog"))
        ]
        await memory.ingest(*code, context="code", domain="coding")
        said = (
            "The certificate expired.",
            "We deployed the whole of the payment service to production.",
            "It was slow.",
        )
        turns = [
            {"id": f"t{n}", "speaker": "Ana", "text": text, "timestamp": f"2026-03-18T1{n}:00:00Z"}
            for n, text in enumerate(said)
        ]
        await memory.ingest(*turns, *FILLER, context="chat", domain="general", flow_id="f")
        answer = await ask(memory, "What happened before the deployment?")
        assert answer.explain is not None
        assert answer.explain.time is not None
        uids = {result.id: result.uid for result in answer.results}
        assert answer.explain.time.events[0].uid == uids["t1"]
        assert "time" in answer.explain.boosts[uids["t0"]]


@pytest.mark.parametrize("vectors", [True, False], ids=["vectors", "words"])
async def test_an_article_alone_does_not_match_an_event(store: Path, vectors: bool) -> None:
    async with open_memory(store, vectors=vectors) as memory:
        await memory.ingest(*({"id": uid, "text": text} for uid, text in STORY), domain="creative", flow_id="s")
        await memory.ingest(*FILLER, context="chat", domain="general")
        answer = await ask(memory, "What happened in the morning, after the party?")
        assert answer.explain is not None
        assert answer.explain.time is not None
        assert [event.uid for event in answer.explain.time.events] == [None]


@pytest.mark.parametrize("fails", [True, False])
async def test_the_domain_is_not_narrowed_when_the_event_search_fails(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    await memory.ingest(*({"id": uid, "text": text} for uid, text in STORY), domain="creative", flow_id="s")
    code = [{"id": f"c{n}", "text": f"def port_{n}(host): return open(host, {n})"} for n in range(20)]
    await memory.ingest(*code, context="code", domain="coding")

    async def by_phrase(*_: Any) -> NoReturn:
        raise UnavailableError("vectors", "is down")

    if fails:
        monkeypatch.setattr(PhraseSearch, "__call__", by_phrase)
    answer = await ask(memory, "What happened after the explosion shook the harbour?")
    assert answer.intent.filtered is not fails
    assert ("domain" in answer.degraded) is fails


@pytest.mark.parametrize("vectors", [True, False], ids=["vectors", "words"])
async def test_items_of_a_time_are_found_without_words_of_the_question(store: Path, vectors: bool) -> None:
    async with open_memory(store, vectors=vectors) as memory:
        times = {"long ago": "13:00", "then": "15:21", "later": "15:22", "last": "15:24"}
        texts = ("The garden.", "The bridge needs paint.", "Blue would suit it.", "Or green.")
        turns = [
            {"id": uid, "text": text, "timestamp": f"2026-03-18T{at}:00Z"}
            for (uid, at), text in zip(times.items(), texts, strict=True)
        ]
        await memory.ingest(*turns)
        answer = await ask(memory, "What did we discuss 10 minutes ago?")
        assert set(ids(answer)[:3]) == {"then", "later", "last"}
        if not vectors:
            assert ids(answer) == ["last", "later", "then"], "where nothing but time tells, the latest is first"
        assert "The bridge needs paint." in answer.text
        assert answer.degraded == ()
        assert ids(await ask(memory, "What did we discuss 10 minutes ago?", domain="coding")) == []


@pytest.mark.parametrize(
    ("query", "then"),
    [("What happened since Monday?", {"early", "then", "now"}), ("What happened before 2026?", {"old"})],
)
async def test_items_of_an_open_span_are_found_without_a_word_of_the_question(
    store: Path, query: str, then: set[str]
) -> None:
    async with open_memory(store, vectors=False) as memory:
        await chat(memory)
        await memory.ingest({"id": "old", "text": "A cloud.", "timestamp": "2025-01-01T00:00:00Z"}, context="other")
        found = await ask(memory, query, viewer={"user": "Ben", "chat": "private"}, limit=50)
        assert {uid for uid in ids(found) if uid is not None and uid[0] != "f"} == then


@pytest.mark.parametrize(
    ("query_time", "day"), [("2026-03-10T20:00:00-08:00", "today"), ("2026-03-11T04:00:00Z", "yesterday")]
)
async def test_days_follow_the_utc_offset_of_query_time(memory: Memory, query_time: str, day: str) -> None:
    said = {"id": "said", "text": "The bridge needs paint.", "timestamp": "2026-03-10T15:00:00-08:00"}
    await memory.ingest(said, {"id": "old", "text": "The garden.", "timestamp": "2026-01-10T15:00:00-08:00"})
    for asked in ("today", "yesterday"):
        answer = await ask(memory, f"What happened {asked}?", query_time=query_time)
        assert answer.explain is not None
        assert answer.explain.time is not None
        assert answer.explain.time.only is (asked == day)
        assert answer.time is not None
        assert answer.time.nothing is (asked != day)
        assert answer.time.items == ((answer.results[0].uid,) if asked == day else ())
        assert ids(answer)[0] == "said" or asked != day
        judged_at = answer.explain.filters.judged_at
        assert judged_at.isoformat() == "2026-03-11T04:00:00+00:00"
