"""What runs at night inside `vicw serve` lets questions go first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory
from unit.standalone.test_sleep_command import fill_with_turns
from vicw_ingest.eviction.job import evict_slice as forget
from vicw_ingest.eviction.job import eviction_of
from vicw_runtime import background_throttle
from vicw_shared.ports import Lane, Steps
from vicw_shared.settings import ConsolidationSettings, DreamSettings, EvictionSettings, ResolveSettings
from vicw_sleep.consolidation.job import consolidate_slice as consolidate
from vicw_sleep.consolidation.job import consolidation_of
from vicw_sleep.dream.job import dream_slice as dream
from vicw_sleep.dream.job import dreamer_of
from vicw_sleep.reconcile.job import compare
from vicw_sleep.resolve.job import resolve_slice as resolve
from vicw_sleep.resolve.job import resolver_of
from vicw_standalone.app import create_standalone_app
from vicw_standalone.wiring import Standalone


class BlockingEmbedder(HashEmbedder):
    """Embeds a question when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.may = asyncio.Event(), asyncio.Event()

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if lane is Lane.QUERY:
            self.asked.set()
            await self.may.wait()
        return await super().embed(texts, lane)


async def exhaust(turns: AsyncIterator[None]) -> None:
    async for _ in turns:
        pass


NIGHTS: dict[str, Callable[[Standalone], Awaitable[object]]] = {
    "consolidation": lambda s: consolidate(consolidation_of(s.memory()), ConsolidationSettings(hours=0, used_hours=0)),
    "dream": lambda s: dream(dreamer_of(s.memory()), DreamSettings(hours=0), None),
    "resolve": lambda s: resolve(resolver_of(s.memory()), ResolveSettings(), None),
    "eviction": lambda s: forget(eviction_of(s.memory()), EvictionSettings(items=1)),
    "reconcile": lambda s: exhaust(compare(s.memory())),
}


@pytest.mark.parametrize("task", NIGHTS)
async def test_maintenance_waits_for_a_running_question(
    store: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    monkeypatch.setattr(background_throttle.BackgroundThrottle, "max_seconds", 60)
    embedder = BlockingEmbedder()
    async with open_memory(store, embedder) as memory:
        await fill_with_turns(memory)
        standalone: Standalone = memory.standalone
        transport = httpx.ASGITransport(create_standalone_app(standalone))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            question = asyncio.create_task(http.post("/retrieve", json={"query": "what of round 3?"}))
            await embedder.asked.wait()
            night = asyncio.ensure_future(NIGHTS[task](standalone))
            await asyncio.sleep(0.2)
            assert not night.done()
            assert await standalone.graph.scan(Steps(), limit=9) == []
            embedder.may.set()
            assert (await question).status_code == 200
        async with asyncio.timeout(20):
            await night
