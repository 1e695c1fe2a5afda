"""A re-ranker has the last word on the order of the results, within its budget, of what the asker may see."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.fakes.rerank_server import rerank_server, rows
from support.stores.memory import Memory, open_memory
from vicw_retrieval.pipeline import retrieve
from vicw_shared.errors import UnavailableError
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

ITEMS = tuple({"id": f"i{n}", "text": f"The harbour lamp number {n} went out at night."} for n in range(8))
QUERY = "harbour lamp"


class Judge:
    """A re-ranker that prefers the texts in which a word is, and remembers what it was asked."""

    def __init__(self, word: str, *, fails: Exception | None = None, seconds: float = 0.0) -> None:
        self.asked: list[list[str]] = []
        self._word, self._fails, self._seconds = word, fails, seconds

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        assert query == QUERY
        self.asked.append(list(texts))
        await asyncio.sleep(self._seconds)
        if self._fails is not None:
            raise self._fails
        return [float(self._word in text) for text in texts]

    async def close(self) -> None:
        """Nothing is open."""


async def ask(
    memory: Memory, judge: Judge | None, fields: dict[str, Any] | None = None, **read: Any
) -> RetrieveResponse:
    ports = memory.standalone.retrieval_ports()
    ports = replace(ports, reranker=judge, settings=ports.settings.model_copy(update=read))
    request = RetrieveRequest.model_validate({"query": QUERY, "limit": 8, "explain": True} | (fields or {}))
    return await retrieve(request, memory.tenant, ports)


def order(answer: RetrieveResponse) -> list[str | None]:
    return [result.id for result in answer.results]


async def test_the_cross_encoders_choice_ranks_first_and_others_keep_order(memory: Memory) -> None:
    await memory.ingest(*ITEMS)
    flat, judge = order(await ask(memory, None)), Judge("number 5")
    answer = await ask(memory, judge)
    assert order(answer) == ["i5", *(one for one in flat if one != "i5")]
    assert len(judge.asked[0]) == 8
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert answer.degraded == ()
    assert answer.explain is not None
    assert answer.explain.rerank is not None
    first = answer.explain.rerank[answer.results[0].uid]
    assert (first.score, first.rank_before) == (1.0, 1 + flat.index("i5"))


async def test_only_the_best_candidates_are_sent_to_the_cross_encoder(memory: Memory) -> None:
    await memory.ingest(*ITEMS)
    flat, judge = order(await ask(memory, None)), Judge("harbour")
    last = flat[-1]
    assert order(await ask(memory, Judge(f"number {str(last)[1:]}"), rerank_top=4)) == flat, "the last is not judged"
    await ask(memory, judge, rerank_top=4)
    assert len(judge.asked[0]) == 4


@pytest.mark.parametrize(
    ("judge", "read"),
    [
        (Judge("number 5", fails=UnavailableError("rerank", "is away")), {}),
        (Judge("number 5", seconds=30), {"rerank_ms": 100}),
    ],
)
async def test_a_failed_or_slow_cross_encoder_degrades_but_keeps_order(
    memory: Memory, judge: Judge, read: dict[str, Any]
) -> None:
    await memory.ingest(*ITEMS)
    flat = order(await ask(memory, None))
    async with asyncio.timeout(10):
        answer = await ask(memory, judge, **read)
    assert (order(answer), answer.degraded) == (flat, ("rerank",))
    assert answer.explain is not None
    assert answer.explain.rerank is None


@pytest.mark.parametrize(("fields", "read"), [({"channels": ["bm25"]}, {}), ({}, {"rerank_top": 0})])
async def test_the_cross_encoder_is_not_asked_when_it_is_off(
    memory: Memory, fields: dict[str, Any], read: dict[str, Any]
) -> None:
    await memory.ingest(*ITEMS)
    judge = Judge("number 5")
    await ask(memory, judge, fields, **read)
    assert judge.asked == []


async def test_the_cross_encoder_reads_no_hidden_text(memory: Memory) -> None:
    secret = {
        "id": "secret",
        "text": "The harbour lamp was broken by Mara.",
        "sensitivity": "sensitive",
        "about": ["Mara"],
    }
    await memory.ingest(*ITEMS, secret)
    judge = Judge("Mara")
    answer = await ask(memory, judge, {"viewer": {"user": "Ben"}})
    assert "secret" not in order(answer)
    assert not any("Mara" in text for text in judge.asked[0])
    assert "secret" in order(await ask(memory, Judge("Mara")))


async def test_the_rerank_server_of_the_settings_orders_the_results(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_number(asked: dict[str, Any]) -> dict[str, Any]:
        return rows(*((at, int(re.findall(r"\d+", text)[0])) for at, text in enumerate(asked["documents"])))

    async with rerank_server(by_number) as (url, asked):
        monkeypatch.setenv("VICW_RERANK_URL", url)
        monkeypatch.setenv("VICW_RETRIEVAL_RERANK_MS", "20000")
        async with open_memory(store) as memory:
            await memory.ingest(*ITEMS)
            answer = await memory.retrieve(QUERY, limit=8)
    assert (order(answer), len(asked)) == ([f"i{n}" for n in reversed(range(8))], 1)
