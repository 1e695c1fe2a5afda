"""What is refused while too much waits, and what a job tells of passages that fail."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory
from vicw_ingest.index.backpressure import Backpressure
from vicw_ingest.response.job_status import job_status
from vicw_shared.errors import OverloadedError, UnavailableError
from vicw_shared.ports import Backlog, Lane
from vicw_shared.settings import IngestSettings


@pytest.fixture
def poll_on_every_request(memory: Memory) -> None:
    """Every request looks at the queue."""
    memory.standalone.ingest_ports().pressure.poll_seconds = 0.0


@pytest.mark.usefixtures("poll_on_every_request")
async def test_a_full_queue_refuses_and_stores_nothing(memory: Memory) -> None:
    ports = memory.standalone.ingest_ports()
    ports.pressure.max_waiting_of_tenant = 2
    memory.embedder.down = True
    await memory.ingest(*({"text": f"apple {n}"} for n in range(3)), wait=False)
    said = r"3 of your passages wait.*VICW_INGEST_MAX_BACKLOG and VICW_INGEST_BACKLOG_SHARE allow 2"
    with pytest.raises(OverloadedError, match=said) as refused:
        await memory.ingest({"id": "late", "text": "a pear"}, wait=False)
    assert refused.value.retry_after_seconds == 10
    memory.embedder.down = False
    async with asyncio.timeout(10):
        while (await ports.outbox.backlog()).waiting:  # noqa: ASYNC110 - it happens in the background
            await asyncio.sleep(0.05)
    await memory.ingest({"id": "again", "text": "a pear"})
    assert await memory.found("pear", limit=1) == ["again"]


async def queue_passages(memory: Memory, tenant: str, count: int) -> None:
    """Store passages that wait for their vectors."""
    memory.embedder.down, memory.tenant = True, tenant
    await memory.ingest(*({"text": f"apple {n}"} for n in range(count)), wait=False)


@pytest.mark.usefixtures("poll_on_every_request")
async def test_a_tenant_with_a_full_queue_does_not_block_others(memory: Memory) -> None:
    memory.standalone.ingest_ports().pressure.max_waiting_of_tenant = 2
    await queue_passages(memory, "large", 3)
    await queue_passages(memory, "small", 2)
    with pytest.raises(OverloadedError, match="3 of your passages"):
        await queue_passages(memory, "large", 1)
    await queue_passages(memory, "small", 1)
    with pytest.raises(OverloadedError, match="3 of your passages"):
        await queue_passages(memory, "small", 1)


@pytest.mark.usefixtures("poll_on_every_request")
async def test_a_refusal_for_a_full_queue_shows_no_other_tenants_numbers(memory: Memory) -> None:
    ports = memory.standalone.ingest_ports()
    ports.pressure.max_waiting = 4
    await queue_passages(memory, "large", 3)
    await queue_passages(memory, "small", 2)
    for tenant in ("large", "small", "another"):
        with pytest.raises(OverloadedError, match="VICW_INGEST_MAX_BACKLOG") as refused:
            await queue_passages(memory, tenant, 1)
        assert not any(letter.isdigit() for letter in refused.value.detail)
        assert refused.value.retry_after_seconds == 10


async def test_backpressure_caches_backlogs_for_a_second_for_few_tenants(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await queue_passages(memory, "large", 1)
    graph = memory.standalone.graph
    looks, backlog = Counter[str | None](), graph.outbox.backlog

    async def counted(tenant: str | None = None) -> Backlog:
        looks[tenant] += 1
        return await backlog(tenant)

    monkeypatch.setattr(graph.outbox, "backlog", counted)
    fresh = Backpressure(graph.outbox, max_waiting=10, max_waiting_of_tenant=0, max_readings=3)
    began = time.monotonic()
    for _ in range(100):
        await fresh.require_room("small")
    assert max(looks.values()) <= 2 + (time.monotonic() - began)
    for number in range(10):
        await fresh.require_room(f"tenant {number}")
    assert len(fresh._readings) == 3
    assert looks["tenant 9"] == 1


def test_the_default_backlog_limit_per_tenant_is_a_million_passages() -> None:
    assert IngestSettings().max_backlog_of_tenant == 1_000_000
    assert IngestSettings(max_backlog=100, backlog_share=1).max_backlog_of_tenant == 100


class PoisonFailingEmbedder(HashEmbedder):
    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if any("poison" in text for text in texts):
            raise UnavailableError("embedding", "the embedding server answered 500")
        return await super().embed(texts, lane)


async def test_job_status_lists_the_passages_that_fail(store: Path) -> None:
    async with open_memory(store, PoisonFailingEmbedder()) as memory:
        ports = memory.standalone.ingest_ports()
        good = [{"id": f"g{n}", "text": f"apple {n}"} for n in range(8)]
        response = await memory.ingest({"id": "bad", "text": "poison"}, *good, wait=False)
        assert response.job is not None
        async with asyncio.timeout(15):
            job, tenant = response.job, memory.tenant
            while not (  # noqa: ASYNC110 - time alone changes it
                status := await job_status(
                    job, tenant, ports.graph, ports.record, ports.outbox, ports.pending_extractions
                )
            ).failures:
                await asyncio.sleep(0.05)
        (failure,) = status.failures
        assert (status.status, failure.id, failure.tries) == ("running", "bad", 1)
        assert "answered 500" in failure.error
        assert failure.uid == response.items[0].uid
