"""What answers show is counted, and noted beside the answers: nobody waits, and nothing grows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from support.stores.memory import Memory, open_memory, settings_for
from vicw_retrieval.request.usage_counter import UsageCounter
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Use
from vicw_shared.settings import RetrievalSettings

ITEMS = ({"id": "pear", "text": "A pear fell."}, {"id": "ship", "text": "The ship sailed."})


class FakeUsageStore:
    """Keeps what it is told, or fails."""

    def __init__(self, *errors: Exception) -> None:
        self.told: list[tuple[str, dict[str, int]]] = []
        self._errors = list(errors)
        self.asked = 0

    async def record_question(self) -> None:
        self.asked += 1

    async def seconds_since_question(self) -> float | None:
        return None

    async def add_uses(self, tenant: str, times: Mapping[str, int], at: datetime) -> None:
        if self._errors:
            raise self._errors.pop()
        self.told.append((tenant, dict(times)))

    async def uses(self, tenant: str, uids: Sequence[str]) -> dict[str, Use]:
        return {}


async def test_uses_of_results_are_stored_when_the_server_stops(store: Path) -> None:
    async with open_memory(store) as memory:
        response = await memory.ingest(*ITEMS)
        pear, ship = (item.uid for item in response.items)
        for _ in range(2):
            assert [result.id for result in (await memory.retrieve("pear", limit=1)).results] == ["pear"]
        tenant = memory.tenant
    async with open_memory(store) as memory:
        uses = await memory.standalone.graph.uses.uses(tenant, [pear, ship])
    assert {uid: use.times for uid, use in uses.items()} == {pear: 2}


async def test_no_uses_are_counted_when_count_uses_is_off(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    off = replace(settings_for(store), retrieval=RetrievalSettings(count_uses=False))
    monkeypatch.setattr("support.stores.memory.settings_for", lambda *_, **__: off)
    async with open_memory(store) as memory:
        response = await memory.ingest(*ITEMS)
        await memory.retrieve("pear")
        assert memory.standalone.retrieval_ports().uses is None
    async with open_memory(store) as memory:
        assert await memory.standalone.graph.uses.uses(memory.tenant, [item.uid for item in response.items]) == {}


async def test_the_usage_counter_counts_by_tenant_up_to_its_limit() -> None:
    book, noted = UsageCounter(most=3), FakeUsageStore()
    book.count("t", ["a", "b"])
    book.count("u", ["a", "c"])
    book.count("t", ["a", "d"])
    await book.flush(noted)
    await book.flush(noted)
    assert noted.told == [("t", {"a": 2, "b": 1}), ("u", {"a": 1})]
    assert noted.asked == 1, "nobody asked the second time"
    book.count("t", ["e"])
    await book.flush(noted)
    assert noted.told[2:] == [("t", {"e": 1})], "it has room again"


async def test_counts_are_dropped_when_the_graph_is_unavailable() -> None:
    book, noted = UsageCounter(), FakeUsageStore(UnavailableError("graph", "is away"))
    book.count("t", ["a"])
    await book.flush(noted)
    book.count("t", ["a"])
    await book.flush(noted)
    assert noted.told == [("t", {"a": 1})]


async def test_a_cancelled_usage_counter_flushes_the_remaining_counts() -> None:
    book, noted = UsageCounter(), FakeUsageStore()
    task = asyncio.create_task(book.keep_flushing(noted))
    await asyncio.sleep(0)
    book.count("t", ["a"])
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert noted.told == [("t", {"a": 1})]


async def test_an_empty_answer_counts_no_uses(memory: Memory) -> None:
    assert (await memory.retrieve("pear")).results == ()
    book = memory.standalone.retrieval_ports().uses
    assert book is not None
    noted = FakeUsageStore()
    await book.flush(noted)
    assert [times for _, times in noted.told if times] == []
