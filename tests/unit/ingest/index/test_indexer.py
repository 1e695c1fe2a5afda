"""The indexer over the embedded outbox: who goes first, what a slow or failing embedder does to the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory
from vicw_shared.errors import OverloadedError, SettingsError, UnavailableError
from vicw_shared.ports import Lane, PendingPoint, Point


class Slow(HashEmbedder):
    """Takes a while for every text, as a large model does."""

    seconds = 0.02

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if lane is Lane.BULK:
            await asyncio.sleep(self.seconds * len(texts))
        return await super().embed(texts, lane)


async def test_a_waiting_request_is_indexed_before_a_large_import(store: Path) -> None:
    async with open_memory(store, Slow()) as memory:
        memory.standalone.indexer.batch = 4
        await memory.ingest(*({"text": f"imported {n}"} for n in range(300)), wait=False)
        await memory.ingest({"id": "now", "text": "a pear"})
        assert await memory.found("pear", limit=1) == ["now"]
        assert (await memory.check()).waiting > 100


async def test_a_waiting_process_indexes_only_the_items_it_waits_for(memory: Memory) -> None:
    memory.standalone.indexer.everything = False
    await memory.ingest({"id": "later", "text": "an apple"}, wait=False)
    await memory.ingest({"id": "now", "text": "a pear"})
    assert await memory.found("apple pear") == ["now"]
    assert (await memory.check()).waiting == 1


async def test_a_slow_batch_keeps_its_lease(store: Path) -> None:
    class Slower(Slow):
        seconds = 1.0

    async with open_memory(store, Slower()) as memory:
        memory.standalone.indexer.lease_seconds = 0.3
        await memory.ingest({"id": "a", "text": "a pear"})
        assert [lane for lane, _ in memory.embedder.seen] == [Lane.BULK], "nobody else took it meanwhile"


async def test_an_expired_lease_writes_no_points(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slower(Slow):
        seconds = 0.5

    async with open_memory(store, Slower()) as memory:
        graph, indexer = memory.standalone.graph, memory.standalone.indexer
        indexer.lease_seconds = 0.2
        renew = graph.outbox.renew

        async def lost(points: Sequence[PendingPoint], *, seconds: float) -> int:
            raise UnavailableError("graph", "is away")

        monkeypatch.setattr(graph.outbox, "renew", lost)
        await memory.ingest({"id": "a", "text": "a pear"}, wait=False)
        await asyncio.sleep(1.0)
        assert await memory.standalone.vectors.ids(after=None, limit=1) == []
        monkeypatch.setattr(graph.outbox, "renew", renew)
        await memory.ingest({"id": "b", "text": "another pear"})


async def test_a_lease_taken_over_by_another_worker_writes_no_points(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slower(Slow):
        seconds = 0.5

    async with open_memory(store, Slower()) as memory:
        graph, indexer = memory.standalone.graph, memory.standalone.indexer
        indexer.lease_seconds = 0.3

        async def taken(points: Sequence[PendingPoint], *, seconds: float) -> int:
            return 0

        with monkeypatch.context() as patch:
            patch.setattr(graph.outbox, "renew", taken)
            await memory.ingest({"id": "a", "text": "a pear"}, wait=False)
            await asyncio.sleep(0.8)
            assert await memory.standalone.vectors.ids(after=None, limit=1) == []
        await memory.ingest({"id": "b", "text": "another pear"})


async def test_no_payload_is_written_after_the_lease_expired(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_memory(store) as memory:
        graph, indexer, vectors = memory.standalone.graph, memory.standalone.indexer, memory.standalone.vectors
        await memory.ingest({"id": "a", "text": "a pear"})
        (old,) = await vectors.ids(after=None, limit=2)
        upsert = vectors.upsert

        async def lost(points: Sequence[PendingPoint], *, seconds: float) -> int:
            raise UnavailableError("graph", "is away")

        async def stalled(points: Sequence[Point]) -> None:
            await upsert(points)
            await asyncio.sleep(0.5)

        async def retired() -> object:
            return (await vectors.payloads([old]))[old].get("retired_at")

        indexer.lease_seconds = 0.3
        with monkeypatch.context() as patch:
            patch.setattr(graph.outbox, "renew", lost)
            patch.setattr(vectors, "upsert", stalled)
            await memory.ingest({"id": "a", "text": "an apple"}, wait=False)  # and the old one is retired
            await asyncio.sleep(1.0)
            assert await retired() is None
        await wait_until_indexed(memory)
        assert await retired() is not None


async def test_a_small_waiting_request_is_not_blocked_by_a_large_request(store: Path) -> None:
    async with open_memory(store, Slow()) as memory:
        memory.standalone.indexer.batch = 4
        large = asyncio.create_task(memory.ingest(*({"text": f"many {n}"} for n in range(250)), context="large"))
        await asyncio.sleep(0.3)
        await memory.ingest({"id": "now", "text": "a pear"})
        assert not large.done()
        await large
        assert not memory.standalone.indexer._waiters


class PoisonFailingEmbedder(HashEmbedder):
    """Answers 500 for one word, as servers do that choke on an input."""

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if any("poison" in text for text in texts):
            raise UnavailableError("embedding", "the embedding server answered 500")
        return await super().embed(texts, lane)


async def test_repeated_indexer_runs_isolate_the_failing_passage(store: Path) -> None:
    async with open_memory(store, PoisonFailingEmbedder()) as memory:
        memory.standalone.indexer.everything = False
        await memory.ingest({"text": "poison"}, *({"text": f"apple {n}"} for n in range(9)), wait=False)
        indexer = replace(memory.standalone.indexer, everything=True)
        for _ in range(6):
            with suppress(UnavailableError):
                await indexer.drain()
        backlog = await memory.standalone.graph.outbox.backlog()
        assert (backlog.waiting, backlog.failing) == (1, 1)


async def test_a_failing_passage_is_marked_while_others_are_indexed(store: Path) -> None:
    async with open_memory(store, PoisonFailingEmbedder()) as memory:
        await memory.ingest({"text": "poison"}, wait=False)
        async with asyncio.timeout(15):
            while not (await memory.standalone.graph.outbox.backlog()).failing:
                await memory.ingest({"text": "an apple"})
                await asyncio.sleep(0.1)


async def test_a_settings_error_marks_no_passage_as_failing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(texts: Sequence[str], lane: Lane) -> NoReturn:
        raise SettingsError("VICW_EMBEDDING_API_KEY is refused")

    with monkeypatch.context() as patch:
        patch.setattr(memory.embedder, "embed", refused)
        await memory.ingest(*({"text": f"apple {n}"} for n in range(3)), wait=False)
        await asyncio.sleep(0.5)
        assert (await memory.standalone.graph.outbox.backlog()).failing == 0
    await wait_until_indexed(memory)


async def wait_until_indexed(memory: Memory) -> None:
    async with asyncio.timeout(15):
        while (await memory.standalone.graph.outbox.backlog()).waiting:  # noqa: ASYNC110 - it happens in the background
            await asyncio.sleep(0.05)


async def test_an_overload_while_waiting_does_not_fail_the_ingest(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(tenant: str, items: Sequence[str]) -> NoReturn:
        raise OverloadedError("all connections are in use")

    with monkeypatch.context() as patch:
        patch.setattr(memory.standalone.graph.outbox, "count_unindexed", away)
        response = await memory.ingest({"id": "a", "text": "a pear"})
    assert response.job is not None, "durable: sending it again would store it twice"
    await wait_until_indexed(memory)
    assert await memory.found("pear") == ["a"]
