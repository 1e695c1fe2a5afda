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
from vicw_ingest.pipeline import job_status
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
async def refused(store: Path) -> AsyncIterator[Memory]:
    """A memory that gives up at the second try."""
    async with open_memory(store, Refusing()) as memory:
        memory.standalone.indexer.max_tries = 2
        yield memory
        assert (await memory.check()).violations == []


async def status_of(memory: Memory, response: IngestResponse) -> JobStatus:
    assert response.job is not None
    graph = memory.standalone.graph
    return await job_status(response.job, memory.tenant, graph.record, graph.outbox, graph.pending_extractions)


async def test_a_job_ends_with_what_was_given_up(refused: Memory) -> None:
    response = await refused.ingest(BAD, {"id": "good", "text": "an apple"})
    status = await status_of(refused, response)
    assert (status.status, status.passages_waiting, status.passages_failed) == ("failed", 0, 1)
    (failure,) = status.failures
    assert (failure.id, failure.dead, failure.tries) == ("bad", True, 2)
    assert failure.since is not None
    assert status.created_at < failure.since < now()
    assert "answered 400" in failure.error
    assert await refused.found("apple") == ["good"]


async def test_nobody_waits_for_what_was_given_up(refused: Memory) -> None:
    await refused.ingest(BAD)
    started = time.perf_counter()
    response = await refused.ingest(BAD)
    assert time.perf_counter() - started < 8, "a request waits for ten seconds"
    assert response.items[0].status == "unchanged"
    assert (await status_of(refused, response)).status == "failed"


async def test_dead_passages_are_no_backlog(refused: Memory) -> None:
    await refused.ingest(BAD)
    assert await refused.standalone.graph.outbox.backlog() == Backlog(0, 0, 1)
    assert (await refused.standalone.describe(refused.tenant))["passages_waiting"] == 0


async def test_dead_passages_are_counted_in_the_metrics(refused: Memory) -> None:
    await refused.ingest(BAD)
    refused.standalone.indexer.count_seconds = 0
    await refused.standalone.indexer.drain()
    told = {name: REGISTRY.get_sample_value(f"vicw_index_{name}_points") for name in ("backlog", "failing", "dead")}
    assert told == {"backlog": 0, "failing": 0, "dead": 1}


async def test_a_newer_version_is_tried_anew(refused: Memory) -> None:
    await refused.ingest(BAD)
    await refused.ingest({**BAD, "text": "medicine"})
    assert await refused.found("medicine", limit=1) == ["bad"]


async def test_replayed_passages_are_found_once_the_embedder_works(
    refused: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = await refused.ingest(BAD)
    monkeypatch.setattr(Refusing, "refuses", "another word")
    await refused.standalone.graph.outbox.replay()
    await refused.standalone.indexer.wake()
    async with asyncio.timeout(10):
        while (await status_of(refused, response)).status != "done":  # noqa: ASYNC110 - in the background
            await asyncio.sleep(0.05)
    assert await refused.found("poison") == ["bad"]
