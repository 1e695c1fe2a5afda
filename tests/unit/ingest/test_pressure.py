"""What is refused while too much waits, and what a job tells of passages that fail."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from doubles import HashEmbedder
from memory import Memory, open_memory
from vicw_ingest import pressure
from vicw_ingest.pipeline import job_status
from vicw_shared.errors import OverloadedError, UnavailableError
from vicw_shared.ports import Lane


async def test_a_full_queue_refuses_and_stores_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pressure, "_LOOK_AGAIN_SECONDS", 0.0)
    ports = memory.standalone.ingest_ports()
    ports.pressure.most = 2
    memory.embedder.down = True
    await memory.ingest(*({"text": f"apple {n}"} for n in range(3)), wait=False)
    with pytest.raises(OverloadedError, match=r"3 passages wait.*VICW_INGEST_MAX_BACKLOG allows 2") as refused:
        await memory.ingest({"id": "late", "text": "a pear"}, wait=False)
    assert refused.value.retry_after_seconds == 10
    memory.embedder.down = False
    async with asyncio.timeout(10):
        while (await ports.outbox.backlog()).waiting:  # noqa: ASYNC110 - it happens in the background
            await asyncio.sleep(0.05)
    await memory.ingest({"id": "again", "text": "a pear"})
    assert await memory.found("pear", limit=1) == ["again"]


class Picky(HashEmbedder):
    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if any("poison" in text for text in texts):
            raise UnavailableError("embedding", "the embedding server answered 500")
        return await super().embed(texts, lane)


async def test_a_job_names_the_passages_that_fail(store: Path) -> None:
    async with open_memory(store, Picky()) as memory:
        ports = memory.standalone.ingest_ports()
        good = [{"id": f"g{n}", "text": f"apple {n}"} for n in range(8)]
        response = await memory.ingest({"id": "bad", "text": "poison"}, *good, wait=False)
        assert response.job is not None
        async with asyncio.timeout(15):
            while not (status := await job_status(response.job, memory.tenant, ports.record, ports.outbox)).failures:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        (failure,) = status.failures
        assert (status.status, failure.id, failure.tries) == ("running", "bad", 1)
        assert "answered 500" in failure.error
        assert failure.uid == response.items[0].uid
