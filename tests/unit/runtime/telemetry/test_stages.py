"""What the use cases tell of their stages, and the adapters of their operations."""

from __future__ import annotations

import asyncio

import pytest

from support.metrics.counters import metric_increase, metric_value
from support.stores.memory import Memory
from vicw_retrieval.request.stages import StageTimer
from vicw_shared.errors import InvalidInputError, StateConflictError, UnavailableError
from vicw_shared.telemetry.engines import measured


async def test_an_ingest_measures_its_stages_items_and_indexing(memory: Memory) -> None:
    taken = [
        metric_increase("vicw_ingest_stage_seconds_count", stage=stage)
        for stage in ("admit", "check", "commit", "draft", "plan", "chain", "store", "wait")
    ]
    indexed = [
        metric_increase("vicw_index_stage_seconds_count", stage=stage)
        for stage in ("claim", "embed", "upsert", "settle")
    ]
    woken = metric_increase("vicw_ingest_stage_seconds_count", stage="wake")
    created = metric_increase("vicw_ingest_items_total", status="created")
    unchanged = metric_increase("vicw_ingest_items_total", status="unchanged")
    item = {"id": "1", "text": "The cat slept."}
    await memory.ingest(item)
    assert [count() for count in taken] == [1] * len(taken)
    assert all(count() >= 1 for count in indexed)
    assert (created(), unchanged(), woken()) == (1, 0, 0)
    await memory.ingest(item, wait=False)
    assert (created(), unchanged(), woken()) == (1, 1, 1)


async def test_a_retrieval_measures_its_stages_channels_and_results(memory: Memory) -> None:
    await memory.ingest({"id": "1", "text": "The cat slept."})
    stages = ("embed", "channels", "cross_score", "fuse", "domain", "expand", "synthesize")
    booked = {stage: metric_increase("vicw_retrieve_stage_seconds_sum", stage=stage) for stage in stages}
    channels = [
        metric_increase("vicw_retrieve_channel_seconds_count", channel=channel) for channel in ("dense", "bm25")
    ]
    answers, results = metric_increase("vicw_retrieve_results_count"), metric_increase("vicw_retrieve_results_sum")
    took = (await memory.retrieve("cat")).took_ms
    for stage in stages:
        assert booked[stage]() * 1000 == pytest.approx(took[stage], abs=0.01), stage
    assert sum(took[stage] for stage in stages) <= took["total"] + 0.01
    assert all(count() >= 1 for count in channels)
    assert (answers(), results()) == (1, 1)


async def test_a_degraded_answer_is_counted_by_the_missing_part(memory: Memory) -> None:
    await memory.ingest({"id": "1", "text": "The cat slept."})
    degraded = metric_increase("vicw_retrieve_degraded_total", part="dense")
    failed = metric_increase("vicw_retrieve_channel_failures_total", channel="dense", reason="error")
    memory.embedder.down = True
    assert (await memory.retrieve("cat", domain="general")).degraded == ("dense",)
    assert (degraded(), failed()) == (1, 1)


async def test_the_backlog_metric_counts_waiting_passages(memory: Memory) -> None:
    memory.embedder.down = True
    memory.standalone.indexer.count_seconds = 0
    await memory.ingest(*({"text": f"number {n}"} for n in range(3)), wait=False)
    async with asyncio.timeout(20):
        while metric_value("vicw_index_backlog_points") != 3:  # noqa: ASYNC110 - the indexer counts in the background
            await asyncio.sleep(0.05)
    assert metric_value("vicw_index_backlog_points") == 3


async def test_a_stage_excludes_the_time_of_a_nested_stage() -> None:
    watch = StageTimer()
    with watch.stage("outer"):
        with watch.stage("inner"):
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.01)
    with watch.stage("outer"):
        await asyncio.sleep(0.01)
    took = watch.total()
    assert 50 <= took["inner"] < 50 + 40
    assert 20 <= took["outer"] < 20 + 40
    assert took["total"] >= took["inner"] + took["outer"]


def test_a_failed_stage_is_measured_too() -> None:
    watch, booked = StageTimer(), metric_increase("vicw_retrieve_stage_seconds_count", stage="failing")
    with pytest.raises(ZeroDivisionError), watch.stage("failing"):
        raise ZeroDivisionError
    assert booked() == 1
    assert watch.took_ms["failing"] >= 0


@measured("test")
class Adapter:
    """Fails as it is told."""

    async def ask(self, error: Exception | None = None) -> str:
        if error is not None:
            raise error
        return await self._inner()

    async def close(self) -> None: ...

    async def _inner(self) -> str:
        return "answer"


@measured("test", inside="write")
class Step(Adapter):
    """Works inside an operation of another."""

    async def put(self) -> None: ...


async def test_adapter_operations_are_timed_and_failures_counted_by_type() -> None:
    calls = metric_increase("vicw_engine_seconds_count", engine="test", operation="ask")
    away = metric_increase("vicw_engine_errors_total", engine="test", operation="ask", error="dependency-unavailable")
    odd = metric_increase("vicw_engine_errors_total", engine="test", operation="ask", error="ZeroDivisionError")
    adapter = Adapter()
    assert await adapter.ask() == "answer"
    with pytest.raises(UnavailableError):
        await adapter.ask(UnavailableError("graph", "told to"))
    with pytest.raises(ZeroDivisionError):
        await adapter.ask(ZeroDivisionError("told to"))
    await adapter.close()
    assert (calls(), away(), odd()) == (3, 1, 1)
    for operation in ("close", "_inner"):
        assert metric_value("vicw_engine_seconds_count", engine="test", operation=operation) == 0


async def test_a_callers_conflict_is_not_counted_as_an_engine_failure() -> None:
    conflict = metric_increase("vicw_engine_errors_total", engine="test", operation="ask", error="conflict")
    with pytest.raises(StateConflictError):
        await Adapter().ask(StateConflictError("told to"))
    assert conflict() == 0


async def test_a_nested_operation_is_measured_under_its_outer_name() -> None:
    step = metric_increase("vicw_engine_seconds_count", engine="test", operation="write.put")
    whole = metric_increase("vicw_engine_seconds_count", engine="test", operation="ask")
    await Step().put()
    await Step().ask()
    assert (step(), whole()) == (1, 1), "what a class inherits is measured once, by the name it has there"


async def test_the_embedded_stores_measure_their_operations(memory: Memory) -> None:
    written = metric_increase("vicw_engine_seconds_count", engine="sqlite", operation="write")
    steps = metric_increase("vicw_engine_seconds_count", engine="sqlite", operation="write.put_nodes")
    upserts = metric_increase("vicw_engine_seconds_count", engine="edge", operation="upsert")
    searches = metric_increase("vicw_engine_seconds_count", engine="edge", operation="search")
    await memory.ingest({"id": "1", "text": "The cat slept."})
    await memory.retrieve("cat", domain="general")
    assert written() == 1
    assert steps() >= 1
    assert upserts() == 1
    assert searches() >= 2
    with pytest.raises(InvalidInputError):
        await memory.ingest({"text": "x"}, extract="llm")
    assert written() == 1, "what is refused before it is written is no write"
