"""How often a question asks the graph: over servers, each read is a round trip, and all of them are its latency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from statistics import median
from types import MappingProxyType
from typing import Any, cast

import pytest

from support.stores.memory import Memory
from vicw_bench.speed.synthetic import Chat
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.request.engines import cached_graph
from vicw_retrieval.search import cross_scoring
from vicw_shared.clock import now
from vicw_shared.errors import OverloadedError
from vicw_shared.ports import GraphStore, NameMatch, NameQuery, VectorStore
from vicw_shared.wire.retrieve import RetrieveRequest
from vicw_sleep.consolidation.batches import ConsolidationRules
from vicw_sleep.consolidation.job import consolidation_of

TURNS, QUESTIONS = 400, 12
MOST = 26
"""Reads of one question of a chat. There were up to 48 before a question remembered what it had read."""

MOST_CONSOLIDATED = 32
"""Of most questions whose results are consolidated; a summary may have to be asked what it stands for afterwards."""


class Counted:
    """Counts what an engine is asked."""

    def __init__(self, engine: object, asked: Counter[str]) -> None:
        self._engine = engine
        self._asked = asked

    def __getattr__(self, operation: str) -> Any:
        self._asked[operation] += 1
        return getattr(self._engine, operation)


async def reads_of(
    memory: Memory, question: str, changed: Mapping[str, Any] = MappingProxyType({}), **fields: Any
) -> Counter[str]:
    """Ask with patience, and settings ``changed``; return how often the graph was asked for what."""
    asked: Counter[str] = Counter()
    ports = memory.standalone.retrieval_ports()
    settings = ports.settings.model_copy(update={"spread_ms": 20_000, **changed})
    ports = replace(ports, graph=cast("GraphStore", Counted(ports.graph, asked)), settings=settings)
    answer = await retrieve(RetrieveRequest(query=question, **fields), memory.tenant, ports)
    assert answer.results
    assert not answer.degraded
    return asked


async def fill(memory: Memory) -> None:
    for request in Chat().requests(TURNS, TURNS):
        items = [item.model_dump(mode="json", exclude_unset=True) for item in request.items]
        await memory.ingest(*items, extract="rules", wait=True)


async def test_a_question_stays_within_the_maximum_of_graph_reads(memory: Memory) -> None:
    await fill(memory)
    reads = [await reads_of(memory, question) for question in Chat().questions(QUESTIONS)]
    most = max(reads, key=Counter.total)
    assert most.total() <= MOST, most
    assert all(asked["find_names"] == 1 for asked in reads), "all that a question names is looked up at once"


async def test_names_are_looked_up_at_once_where_only_their_memories_are_searched(memory: Memory) -> None:
    await fill(memory)
    without_walk = {"graph_weight": 0.0, "people_match": True}
    reads = [await reads_of(memory, question, without_walk) for question in Chat().questions(QUESTIONS)]
    assert all(asked["find_names"] == 1 for asked in reads)


async def test_a_look_up_that_is_asked_for_twice_is_read_once(memory: Memory) -> None:
    await memory.ingest({"id": "m1", "text": "Ana mended the sail of the Nereid."}, extract="rules", wait=True)
    read: list[Sequence[NameQuery]] = []
    graph = memory.standalone.retrieval_ports().graph

    class Recorded:
        async def find_names(self, tenant: str, queries: Sequence[NameQuery], **within: Any) -> Any:
            read.append(queries)
            return await graph.find_names(tenant, queries, **within)

    names = NameQuery(NameMatch.NAME, ("ana",))
    first, second = await cached_graph(cast("GraphStore", Recorded())).find_names(memory.tenant, [names, names])
    assert first == second
    assert [node.name for node in first["ana"]] == ["Ana"]
    assert read == [[names]]


async def test_a_question_time_costs_one_span_read_and_few_node_reads(memory: Memory) -> None:
    days = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number) for number in range(90)]
    turns = [{"id": f"t{n}", "text": f"Ana mended sail {n}.", "timestamp": at.isoformat()} for n, at in enumerate(days)]
    await memory.ingest(*turns)
    plain, timed = [
        await reads_of(memory, f"Which sail did Ana mend{when}?", query_time=days[-1]) for when in ("", " last week")
    ]
    assert timed["between"] == 1
    assert timed["nodes"] <= plain["nodes"] + 2, "what is brought up is looked at; candidates are not read again"


async def test_cross_scoring_of_channels_and_statements_is_one_vector_call(memory: Memory) -> None:
    short = [f"Ana slept in harbour {n}." for n in range(20)]
    long = " ".join([f"Nobody repairs rope {n} before winter number {n}." for n in range(30)])
    texts = [*short, f"{long} Ana slept seven hours in harbour Lagos."]
    await memory.ingest(*({"id": f"t{n}", "text": text} for n, text in enumerate(texts)), extract="rules", wait=True)
    asked: Counter[str] = Counter()
    ports = memory.standalone.retrieval_ports()
    settings = ports.settings.model_copy(update={"candidates": 10, "entity_hops": 0})
    ports = replace(ports, vectors=cast("VectorStore", Counted(ports.vectors, asked)), settings=settings)
    answer = await retrieve(RetrieveRequest(query="Ana slept seven hours in harbour Lagos"), memory.tenant, ports)
    (told,) = [result for result in answer.results if result.id == "t20"]
    assert "dense" in {one.channel for one in told.channels}, "its statement is like the question, it is not"
    assert (asked["search"], asked["score"]) == (3, 1)


async def fill_and_consolidate(memory: Memory) -> None:
    await fill(memory)
    rules = ConsolidationRules(before=now() + timedelta(hours=1))
    await consolidation_of(memory.standalone.memory()).run(rules, now=now())
    await memory.standalone.indexer.drain()


async def test_a_question_on_consolidated_items_needs_few_more_graph_reads(memory: Memory) -> None:
    await fill_and_consolidate(memory)
    reads = [await reads_of(memory, question) for question in Chat().questions(QUESTIONS)]
    assert all(asked["owners"] > 2 for asked in reads), "nothing was consolidated"
    assert median(map(Counter.total, reads)) <= MOST_CONSOLIDATED, reads


async def test_cross_scoring_continues_when_consolidated_proofs_cannot_be_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill_and_consolidate(memory)
    asked = 0

    async def overloaded(*_: object) -> list[str]:
        nonlocal asked
        asked += 1
        raise OverloadedError("is busy", dependency="graph")

    monkeypatch.setattr(cross_scoring, "proofs_of", overloaded)
    for question in Chat().questions(QUESTIONS):
        answer = await memory.retrieve(question)
        assert answer.results
        assert not {"dense", "bm25"} & set(answer.degraded)
    assert asked
