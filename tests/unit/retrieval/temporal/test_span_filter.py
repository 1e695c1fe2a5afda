"""What is hidden in a span of time takes nobody's place, however much of it there is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from support.stores.memory import Memory, open_memory
from vicw_retrieval.pipeline import retrieve
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

CROWD = 720
OWN = {"id": "own", "text": "The bridge needs paint.", "timestamp": "2026-03-18T09:00:00Z"}
BEN = {"user": "Ben", "chat": "private"}
ABOUT_ZOE: dict[str, Any] = {"sensitivity": "sensitive", "about": ["Zoe"]}


def crowd(*, at_once: bool, **fields: Any) -> list[dict[str, Any]]:
    """Return items that happened after OWN, or when it did and arrived later."""
    return [
        {
            "id": f"h{n}",
            "text": f"Diary {n}.",
            "timestamp": "2026-03-18T09:00:00Z" if at_once else f"2026-03-18T{10 + n // 200}:{n % 60:02}:00Z",
            **fields,
        }
        for n in range(CROWD)
    ]


@pytest_asyncio.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    """A memory without vectors: nothing but its time brings up what has no word of the question."""
    async with open_memory(store, vectors=False) as opened:
        yield opened


async def ask(
    memory: Memory, spread_ms: int = 20_000, stall_at: int | None = None, time_read: int = 5000, **fields: Any
) -> tuple[RetrieveResponse, list[int]]:
    """Return an answer, and how much each read of the span asked for. The read of number ``stall_at`` never ends."""
    limits: list[int] = []
    ports = memory.standalone.retrieval_ports()
    between = ports.graph.between

    async def counted(*args: Any, limit: int, **named: Any) -> Any:
        limits.append(limit)
        if len(limits) == stall_at:
            await asyncio.Event().wait()
        return await between(*args, limit=limit, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory.standalone.graph, "between", counted)
        settings = RetrievalSettings(spread_ms=spread_ms, graph_ms=20_000, channel_ms=20_000, time_read=time_read)
        ports = replace(ports, settings=settings)
        request = {"query": "What happened today?", "query_time": "2026-03-18T20:00:00Z", "explain": True, **fields}
        return await retrieve(RetrieveRequest.model_validate(request), memory.tenant, ports), limits


@pytest.mark.parametrize("at_once", [False, True], ids=["later", "at the same time"])
async def test_hidden_items_of_a_time_span_displace_no_visible_item(memory: Memory, at_once: bool) -> None:
    await memory.ingest(OWN, domain="coding")
    await memory.ingest(*crowd(at_once=at_once, **ABOUT_ZOE), extract="none")
    answer, _ = await ask(memory, viewer=BEN)
    assert [result.id for result in answer.results] == ["own"]
    assert answer.degraded == ()


async def test_items_of_another_domain_displace_no_item_of_the_span(memory: Memory) -> None:
    await memory.ingest(OWN, domain="coding")
    await memory.ingest(*crowd(at_once=False), domain="creative", extract="none")
    answer, _ = await ask(memory, domain="coding")
    assert [result.id for result in answer.results] == ["own"]


async def test_a_span_with_few_items_takes_one_read(memory: Memory) -> None:
    await memory.ingest(OWN, *crowd(at_once=False)[:60])
    for viewer in (None, BEN):
        answer, limits = await ask(memory, viewer=viewer)
        assert len(limits) == 1
        assert len(answer.results) == 10


async def test_at_most_the_limit_of_items_of_a_span_is_read(memory: Memory) -> None:
    await memory.ingest(OWN)
    await memory.ingest(*crowd(at_once=False, **ABOUT_ZOE), extract="none")
    answer, limits = await ask(memory, time_read=500, viewer=BEN)
    assert limits[0] == 500
    assert answer.results == ()
    assert answer.explain is not None
    assert answer.explain.time is not None
    assert not answer.explain.time.only


async def test_items_read_before_the_deadline_count(memory: Memory) -> None:
    late = {"id": "late", "text": "And a new lamp.", "timestamp": "2026-03-18T19:00:00Z"}
    await memory.ingest(OWN, late)
    await memory.ingest(*crowd(at_once=False, **ABOUT_ZOE), extract="none")
    answer, limits = await ask(memory, spread_ms=2000, stall_at=2, viewer=BEN)
    assert [result.id for result in answer.results][:1] == ["late"]
    assert "time" in answer.degraded
    assert len(limits) == 2


async def test_one_span_read_returns_as_many_items_as_the_result_limit(memory: Memory) -> None:
    await memory.ingest(*crowd(at_once=False)[:90], extract="none")
    for limit in (10, 80):
        answer, limits = await ask(memory, limit=limit)
        assert len(answer.results) == limit
        assert len(limits) == 1
