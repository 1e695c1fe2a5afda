from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory
from vicw_retrieval.pipeline import retrieve
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
