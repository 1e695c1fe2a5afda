"""How often a question asks the graph: over servers, each read is a round trip, and all of them are its latency."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, cast

from memory import Memory
from vicw_retrieval.pipeline import retrieve
from vicw_shared.ports import GraphStore
from vicw_shared.wire.retrieve import RetrieveRequest
from vicw_standalone.bench.synthetic import Chat

TURNS, QUESTIONS = 400, 12
MOST = 26
"""Reads of one question of a chat. There were up to 48 before a question remembered what it had read."""


class Counted:
    """Counts what a graph is asked."""

    def __init__(self, graph: GraphStore, asked: Counter[str]) -> None:
        self._graph = graph
        self._asked = asked

    def __getattr__(self, operation: str) -> Any:
        self._asked[operation] += 1
        return getattr(self._graph, operation)


async def test_a_question_asks_the_graph_no_more_often_than_it_has_to(memory: Memory) -> None:
    for request in Chat().requests(TURNS, TURNS):
        items = [item.model_dump(mode="json", exclude_unset=True) for item in request.items]
        await memory.ingest(*items, extract="rules", wait=True)
    reads: list[Counter[str]] = []
    for question in Chat().questions(QUESTIONS):
        asked: Counter[str] = Counter()
        ports = memory.standalone.retrieval_ports()
        settings = ports.settings.model_copy(update={"spread_ms": 20_000})
        ports = replace(ports, graph=cast("GraphStore", Counted(ports.graph, asked)), settings=settings)
        answer = await retrieve(RetrieveRequest(query=question), memory.tenant, ports)
        assert answer.results
        assert not answer.degraded
        reads.append(asked)
    most = max(reads, key=Counter.total)
    assert most.total() <= MOST, most
    assert all(asked["called"] == 1 for asked in reads), "all that a question names is looked up at once"
