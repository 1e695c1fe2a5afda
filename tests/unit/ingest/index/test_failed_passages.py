"""A passage that the embedder fails at again and again is given up, and its job comes to an end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from prometheus_client import REGISTRY

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory
from vicw_ingest.response.job_status import job_status
from vicw_shared.clock import now
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.ports import Backlog, Lane
from vicw_shared.wire.ingest import IngestResponse, JobStatus

BAD = {"id": "bad", "text": "poison"}


class Refusing(HashEmbedder):
    """Refuses one word, as a server does whose tokenizer chokes on it."""

    refuses = "poison"

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if any(self.refuses in text for text in texts):
            raise InvalidInputError(FieldProblem("text", "the embedding server answered 400", "Shorten the text"))
        return await super().embed(texts, lane)


@pytest.fixture
async def refusing_memory(store: Path) -> AsyncIterator[Memory]:
    """A memory that gives up at the second try."""
    async with open_memory(store, Refusing()) as memory:
        memory.standalone.indexer.max_tries = 2
        yield memory
        assert (await memory.check()).violations == []


async def status_of(memory: Memory, response: IngestResponse) -> JobStatus:
    assert response.job is not None
    graph = memory.standalone.graph
    return await job_status(response.job, memory.tenant, graph, graph.record, graph.outbox, graph.pending_extractions)


async def test_a_job_ends_as_failed_with_its_dead_passages(refusing_memory: Memory) -> None:
    response = await refusing_memory.ingest(BAD, {"id": "good", "text": "an apple"})
    status = await status_of(refusing_memory, response)
    assert (status.status, status.passages_waiting, status.passages_failed) == ("failed", 0, 1)
    (failure,) = status.failures
    assert (failure.id, failure.dead, failure.tries) == ("bad", True, 2)
    assert failure.since is not None
    assert status.created_at < failure.since < now()
    assert "answered 400" in failure.error
    assert await refusing_memory.found("apple") == ["good"]


async def test_ingest_does_not_wait_for_dead_passages(refusing_memory: Memory) -> None:
    await refusing_memory.ingest(BAD)
    started = time.perf_counter()
    response = await refusing_memory.ingest(BAD)
    assert time.perf_counter() - started < 8, "a request waits for ten seconds"
    assert response.items[0].status == "unchanged"
    assert (await status_of(refusing_memory, response)).status == "failed"


async def test_dead_passages_do_not_count_as_backlog(refusing_memory: Memory) -> None:
    await refusing_memory.ingest(BAD)
    assert await refusing_memory.standalone.graph.outbox.backlog() == Backlog(0, 0, 1)
    assert (await refusing_memory.standalone.describe(refusing_memory.tenant))["passages_waiting"] == 0


async def test_dead_passages_are_counted_in_the_metrics(refusing_memory: Memory) -> None:
    await refusing_memory.ingest(BAD)
    refusing_memory.standalone.indexer.count_seconds = 0
    await refusing_memory.standalone.indexer.drain()
    told = {name: REGISTRY.get_sample_value(f"vicw_index_{name}_points") for name in ("backlog", "failing", "dead")}
    assert told == {"backlog": 0, "failing": 0, "dead": 1}


async def test_a_new_version_of_a_dead_passage_is_indexed(refusing_memory: Memory) -> None:
    await refusing_memory.ingest(BAD)
    await refusing_memory.ingest({**BAD, "text": "medicine"})
    assert await refusing_memory.found("medicine", limit=1) == ["bad"]


async def test_replayed_passages_are_found_once_the_embedder_works(
    refusing_memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = await refusing_memory.ingest(BAD)
    monkeypatch.setattr(Refusing, "refuses", "another word")
    await refusing_memory.standalone.graph.outbox.replay()
    await refusing_memory.standalone.indexer.wake()
    async with asyncio.timeout(10):
        while (await status_of(refusing_memory, response)).status != "done":  # noqa: ASYNC110 - in the background
            await asyncio.sleep(0.05)
    assert await refusing_memory.found("poison") == ["bad"]
