"""Scheduled jobs of this process: the sleep cycle, reconciliation, eviction and the mirror."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial

from vicw_ingest.eviction.job import evict_slice, eviction_of
from vicw_runtime.operations import Memory
from vicw_runtime.schedule.cron import Schedule
from vicw_runtime.schedule.jobs import ScheduledJob
from vicw_sleep.consolidation.job import keep_consolidating
from vicw_sleep.dream.job import keep_dreaming
from vicw_sleep.mirror.job import keep_mirrored
from vicw_sleep.reconcile.job import keep_reconciling
from vicw_sleep.resolve.job import keep_resolving
from vicw_sleep.schedule.scheduler import run_on_schedule
from vicw_standalone.lifecycle.job_runner import Work


def work(memory: Memory, schedules: Mapping[ScheduledJob, Schedule]) -> Iterator[Work]:
    """Yield the coroutine of each job, with its name, over open stores."""
    settings = memory.settings
    yield "reconcile", keep_reconciling(memory, schedules[ScheduledJob.RECONCILE])
    if settings.sleep.paused:
        return
    if memory.indexes.read_index.model.has_vectors:  # consolidation saves vectors, dreams compare them
        yield "consolidation", keep_consolidating(memory, schedules[ScheduledJob.CONSOLIDATION])
        yield "dream", keep_dreaming(memory, schedules[ScheduledJob.DREAM])
    if settings.eviction.items:
        eviction = schedules[ScheduledJob.EVICTION]
        yield "eviction", run_on_schedule(eviction, partial(_evict, memory), "eviction", memory.graph.log)
    yield "resolve", keep_resolving(memory, schedules[ScheduledJob.RESOLVE])
    if settings.mirror.path is not None:
        yield "mirror", keep_mirrored(memory.graph, settings.mirror)


async def _evict(memory: Memory) -> AsyncIterator[None]:
    while await evict_slice(eviction_of(memory), memory.settings.eviction):
        yield
