from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.request.engines import Deadline, bounded
from vicw_retrieval.request.stages import StageRun
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Lane
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Channel, RetrieveRequest


class SlowEmbedder(HashEmbedder):
    """Takes its time over queries; ``given_up`` counts those that nobody waited for."""

    given_up = 0

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if lane is Lane.QUERY:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                self.given_up += 1
                raise
        return await super().embed(texts, lane)


async def test_a_channel_out_of_time_is_named_and_the_other_answers(store: Path) -> None:
    embedder = SlowEmbedder()
    async with open_memory(store, embedder) as memory:
        await memory.ingest({"id": "a", "text": "zebra crossing"}, {"id": "b", "text": "quiet street"})
        await memory.found("zebra", channels=["bm25"])  # what the engine does once is done
        ports = replace(memory.standalone.retrieval_ports(), settings=RetrievalSettings(channel_ms=50))
        async with asyncio.timeout(10):
            answer = await retrieve(RetrieveRequest(query="zebra"), "default", ports)
        assert [result.id for result in answer.results] == ["a"]
        assert answer.degraded == ("dense",)
        assert [hit.channel for hit in answer.results[0].channels] == ["bm25"]
        assert embedder.given_up > 0, "a call that nobody waits for any more is cancelled"
        with pytest.raises(UnavailableError, match=r"embedding: does not answer.*VICW_RETRIEVAL_CHANNEL_MS \(50\)"):
            await retrieve(RetrieveRequest(query="zebra", channels=(Channel.DENSE,)), "default", ports)


class Graph:
    """Hangs until it is told to answer."""

    hangs = True

    async def nodes(self, *_: Any) -> dict[str, Any]:
        if self.hangs:
            await asyncio.sleep(60)
        return {}


async def test_spreads_share_one_emergency_clock() -> None:
    stages, left = StageRun(), []
    for name in ("graph", "time", "tags"):
        with stages.spread(name, Deadline(), 300) as seconds:
            left.append(seconds)
            async with asyncio.timeout(seconds):
                await asyncio.sleep(0.1 if name == "graph" else 60)
    with stages.spread("current", Deadline(), 60_000) as seconds:
        assert 0 < seconds < 60 - 0.3, "what the others took"
    assert left[0] == 0.3
    assert 0 < left[1] <= 0.2
    assert left[2] == 0, "one that hangs leaves nothing to the next"
    assert stages.degraded == ["time", "tags"]
    assert set(stages.timer.took_ms) == {"graph", "time", "tags", "current"}


async def test_calls_given_up_in_a_row_count_as_one_that_hangs() -> None:
    hanging, most_ms = Graph(), 400
    graph: Any = bounded(hanging, "graph", Deadline(), most_ms, together=True)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await graph.nodes("t", [])
    hanging.hangs = False
    await graph.nodes("t", [])  # an answer ends the silence
    hanging.hangs = True
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(most_ms / 1000 - 0.1):
            await graph.nodes("t", [])
    begun = asyncio.get_running_loop().time()
    with pytest.raises(UnavailableError):
        await graph.nodes("t", [])
    assert asyncio.get_running_loop().time() - begun < most_ms / 1000 + 5
    hanging.hangs = False
    with pytest.raises(UnavailableError, match="a call before was over its time"):
        await graph.nodes("t", [])
