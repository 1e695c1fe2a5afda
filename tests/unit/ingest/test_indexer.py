"""The indexer over the embedded outbox: who goes first, what a slow or failing embedder does to the others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from doubles import HashEmbedder
from memory import Memory, open_memory
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Lane, PendingPoint


class Slow(HashEmbedder):
    """Takes a while for every text, as a large model does."""

    seconds = 0.02

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if lane is Lane.BULK:
            await asyncio.sleep(self.seconds * len(texts))
        return await super().embed(texts, lane)


async def test_who_waits_goes_before_a_large_import(store: Path) -> None:
    async with open_memory(store, Slow()) as memory:
        memory.standalone.indexer.batch = 4
        await memory.ingest(*({"text": f"imported {n}"} for n in range(300)), wait=False)
        started = time.perf_counter()
        await memory.ingest({"id": "now", "text": "a pear"})
        assert time.perf_counter() - started < 2, "the import takes three seconds at least"
        assert await memory.found("pear", limit=1) == ["now"]
        assert (await memory.check()).waiting > 100


async def test_only_what_somebody_waits_for_where_others_do_the_rest(memory: Memory) -> None:
    memory.standalone.indexer.everything = False
    await memory.ingest({"id": "later", "text": "an apple"}, wait=False)
    await memory.ingest({"id": "now", "text": "a pear"})
    assert await memory.found("apple pear") == ["now"]
    assert (await memory.check()).waiting == 1


async def test_a_slow_batch_keeps_its_claim(store: Path) -> None:
    class Slower(Slow):
        seconds = 1.0

    async with open_memory(store, Slower()) as memory:
        memory.standalone.indexer.lease_seconds = 0.3
        await memory.ingest({"id": "a", "text": "a pear"})
        assert [lane for lane, _ in memory.embedder.seen] == [Lane.BULK], "nobody else took it meanwhile"


async def test_a_claim_that_ran_out_writes_nothing(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slower(Slow):
        seconds = 0.5

    async with open_memory(store, Slower()) as memory:
        graph, indexer = memory.standalone.graph, memory.standalone.indexer
        indexer.lease_seconds = 0.2
        renew = graph.renew

        async def lost(points: Sequence[PendingPoint], *, seconds: float) -> None:
            raise UnavailableError("graph", "is away")

        monkeypatch.setattr(graph, "renew", lost)
        await memory.ingest({"id": "a", "text": "a pear"}, wait=False)
        await asyncio.sleep(1.0)
        assert await memory.standalone.vectors.ids(after=None, limit=1) == []
        monkeypatch.setattr(graph, "renew", renew)
        await memory.ingest({"id": "b", "text": "another pear"})
