"""What is answered while an engine is down, and what is not told then."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, NoReturn

import pytest

from support.stores.memory import Memory
from vicw_shared.errors import OverloadedError, UnavailableError, VicwError
from vicw_shared.ports import VectorQuery
from vicw_shared.settings import RetrievalSettings

ITEMS: list[dict[str, Any]] = [
    {"id": "turn", "text": "the harbour at night", "timestamp": "2026-01-01T00:00:00Z", "tags": ["Sea"]},
    {"id": "doc", "text": "the harbour by day", "subtype": "document"},
    {"id": "secret", "text": "the harbour by boat", "sensitivity": "personal", "about": ["Ana"]},
    {"id": "gone", "text": "the harbour burned", "expires_at": "2020-01-01T00:00:00Z"},
]  # fmt: skip


def _break(monkeypatch: pytest.MonkeyPatch, engine: object, error: VicwError, *methods: str) -> None:
    async def down(*_: Any, **__: Any) -> NoReturn:
        raise error

    for method in methods:
        monkeypatch.setattr(engine, method, down)


GRAPH_DOWN = UnavailableError("graph", "is down")
GRAPH_FULL = OverloadedError("all connections are in use", dependency="graph")


def _graph_down(memory: Memory, monkeypatch: pytest.MonkeyPatch, error: VicwError = GRAPH_DOWN) -> None:
    _break(monkeypatch, memory.standalone.graph, error, "nodes", "texts", "owners", "expand", "find")


async def test_payloads_answer_while_the_graph_is_down(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.ingest(*ITEMS)
    with monkeypatch.context() as patch:
        _graph_down(memory, patch)
        answer = await memory.retrieve("harbour")
        assert {r.id for r in answer.results} == {"turn", "doc"}, "live and public, and nothing else"
        assert answer.degraded == ("graph",)
        turn = next(r for r in answer.results if r.id == "turn")
        assert (turn.text, turn.label, turn.tags) == ("the harbour at night", "Event", ("sea",))
        assert turn.timestamp is not None
        assert turn.timestamp.year == 2026
        assert next(r for r in answer.results if r.id == "doc").label == "Entity"
        assert "the harbour at night" in answer.text
        assert await memory.found("harbour", viewer={"user": "Ana"}) in (["turn", "doc"], ["doc", "turn"])
        assert await memory.found("harbour", tags={"any": ["sea"]}) == ["turn"]
        with pytest.raises(UnavailableError, match="another time"):
            await memory.retrieve("harbour", as_of="2026-01-01T00:00:00Z")


async def test_the_graph_is_asked_again_after_a_while(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.ingest(*ITEMS)
    with monkeypatch.context() as patch:
        _graph_down(memory, patch)
        await memory.retrieve("harbour")
        await memory.retrieve("harbour")
    assert (await memory.retrieve("harbour")).degraded == ("graph",), "not asked by every request anew"
    outage = memory.standalone.retrieval_ports().outage
    outage.seconds = 0.0
    outage.record_failure()
    assert (await memory.retrieve("harbour")).degraded == ()


async def test_a_single_failed_question_is_not_a_graph_outage(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.ingest(*ITEMS)
    for _ in range(2):
        with monkeypatch.context() as patch:
            _graph_down(memory, patch)
            assert (await memory.retrieve("harbour")).degraded == ("graph",)
        assert (await memory.retrieve("harbour")).degraded == (), "others are not to suffer from it"


async def test_without_vectors_the_graph_spreads_from_full_text_hits(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = ["a harbour at night", "nobody saw anything", "the weather was bad"]
    items = [
        {"id": f"turn{at}", "text": text, "speaker": "Ana", "flow_id": "f", "timestamp": f"2026-01-01T00:0{at}:00Z"}
        for at, text in enumerate(turns)
    ]
    await memory.ingest(*items, {"id": "about", "text": "He sails on Sundays.", "about": ["Ben"]})
    away = UnavailableError("vectors", "is down")
    _break(monkeypatch, memory.standalone.vectors, away, "search", "score", "domains", "payloads")
    answer = await memory.retrieve("harbour", viewer={"user": "Ana", "participants": ["Ben"]})
    assert answer.degraded == ("bm25", "dense")
    assert {result.id for result in answer.results} == {"turn0", "turn1", "turn2"}
    answer = await memory.retrieve("What happened after the harbour?", explain=True)
    assert answer.degraded == ("bm25", "dense")
    assert answer.explain is not None
    assert answer.explain.time is not None
    assert answer.explain.time.events[0].uid is not None, "words find the event, too"


async def test_a_hanging_vector_engine_degrades_the_answer_without_failing_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: Any, **__: Any) -> NoReturn:
        await asyncio.sleep(3600)
        raise AssertionError

    await memory.ingest(*ITEMS)
    ports = replace(memory.standalone.retrieval_ports(), settings=RetrievalSettings(channel_ms=300))
    monkeypatch.setattr(memory.standalone, "retrieval_ports", lambda: ports)
    monkeypatch.setattr(memory.standalone.vectors, "domains", hang)
    assert (await memory.retrieve("harbour night")).degraded == ("domain",)
    monkeypatch.setattr(memory.standalone.vectors, "score", hang)
    answer = await memory.retrieve("harbour night")
    assert answer.results[0].id == "turn"
    monkeypatch.setattr(memory.standalone.vectors, "search", hang)
    assert (await memory.retrieve("harbour night")).degraded == ("bm25", "dense")


@pytest.mark.parametrize("channel", ["dense", "bm25"])
async def test_a_requested_channel_that_times_out_names_its_engine(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, channel: str
) -> None:
    async def hang(*_: Any, **__: Any) -> NoReturn:
        await asyncio.sleep(3600)
        raise AssertionError

    await memory.ingest(*ITEMS)
    ports = replace(memory.standalone.retrieval_ports(), settings=RetrievalSettings(channel_ms=100))
    monkeypatch.setattr(memory.standalone, "retrieval_ports", lambda: ports)
    monkeypatch.setattr(memory.standalone.vectors, "search", hang)
    with pytest.raises(
        UnavailableError, match=r"vectors: does not answer.*VICW_RETRIEVAL_CHANNEL_MS \(100\)"
    ) as raised:
        await memory.retrieve("harbour", channels=[channel])
    assert (raised.value.dependency, raised.value.status) == ("vectors", 503)
    _break(monkeypatch, memory.standalone.vectors, UnavailableError("vectors", "Qdrant: connection refused"), "search")
    with pytest.raises(UnavailableError, match="Qdrant: connection refused"):
        await memory.retrieve("harbour", channels=[channel])


@pytest.mark.parametrize("last", ["dense", "bm25"])
async def test_degraded_lists_channels_in_a_fixed_order(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    async def fail(query: VectorQuery) -> NoReturn:
        if (query.dense is not None) == (last == "dense"):
            await asyncio.sleep(0.05)
        raise UnavailableError("vectors", "is down")

    await memory.ingest(*ITEMS)
    monkeypatch.setattr(memory.standalone.vectors, "search", fail)
    assert (await memory.retrieve("harbour night")).degraded == ("bm25", "dense")


async def test_an_overloaded_graph_is_answered_from_payloads(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.ingest(*ITEMS)
    with monkeypatch.context() as patch:
        _graph_down(memory, patch, GRAPH_FULL)
        answer = await memory.retrieve("harbour")
        assert ({r.id for r in answer.results}, answer.degraded) == ({"turn", "doc"}, ("graph",))
        with pytest.raises(OverloadedError, match="connections"):
            await memory.retrieve("harbour", as_of="2026-01-01T00:00:00Z")
    assert (await memory.retrieve("harbour")).degraded == (), "the next question may have its turn"


async def test_an_overloaded_expansion_keeps_the_results_and_is_degraded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.ingest(*ITEMS)
    with monkeypatch.context() as patch:
        _break(patch, memory.standalone.graph, GRAPH_FULL, "expand")
        answer = await memory.retrieve("harbour")
    without = ("current", "expand", "graph", "tags")
    assert ({r.id for r in answer.results}, answer.degraded) == ({"turn", "doc", "secret"}, without)


async def test_an_overloaded_vector_engine_is_not_a_graph_outage(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.ingest(*ITEMS)
    with monkeypatch.context() as patch:
        _break(patch, memory.standalone.vectors, OverloadedError("Qdrant is busy"), "search", "score", "domains")
        _break(patch, memory.standalone.graph, GRAPH_DOWN, "find")
        with pytest.raises(OverloadedError, match="Qdrant"):
            await memory.retrieve("harbour")


async def test_full_text_answers_while_the_vector_engine_is_down(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.ingest(*ITEMS)
    with monkeypatch.context() as patch:
        _break(
            patch,
            memory.standalone.vectors,
            UnavailableError("vectors", "is down"),
            "search",
            "score",
            "domains",
            "payloads",
        )
        answer = await memory.retrieve("harbour night")
        assert answer.results[0].id == "turn"
        assert [hit.channel for hit in answer.results[0].channels] == ["fulltext"]
        assert answer.degraded == ("bm25", "dense")
        assert {r.id for r in answer.results} == {"turn", "doc", "secret"}
        assert "secret" not in await memory.found("harbour", viewer={"user": "Bob"})
        assert "secret" in await memory.found("harbour", viewer={"user": "Ana"})
        _graph_down(memory, patch)
        with pytest.raises(UnavailableError):
            await memory.retrieve("harbour")
