"""Scheduled jobs of this process: the sleep cycle, reconciliation, eviction and the mirror."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from typing import NoReturn, Protocol

from vicw_core.background import finish, start_background_task
from vicw_ingest.eviction.job import evict_slice, eviction_of
from vicw_runtime.operations import Memory
from vicw_sleep.consolidation.job import keep_consolidating
from vicw_sleep.dream.job import keep_dreaming
from vicw_sleep.mirror.job import keep_mirrored
from vicw_sleep.reconcile.job import keep_reconciling
from vicw_sleep.resolve.job import keep_resolving
from vicw_sleep.schedule.cron import Schedule
from vicw_sleep.schedule.jobs import ScheduledJob
from vicw_sleep.schedule.scheduler import run_on_schedule

type Work = tuple[str, Coroutine[None, None, NoReturn]]
_IMPORT_POLL_SECONDS = 5.0


class Imports(Protocol):
    """The record of an import that is not complete."""

    async def import_mark(self) -> str | None:
        """Return the mark; None if no import is under way or interrupted."""
        ...


class JobRunner:
    """Runs the jobs that change what is stored, once no import is incomplete: they must not meet half of one."""

    def __init__(self, imports: Imports, jobs: Callable[[], Iterable[Work]]) -> None:
        self._imports = imports
        self._jobs = jobs
        self._running = contextlib.AsyncExitStack()
        self._lock = asyncio.Lock()
        self._is_started = False

    def start(self) -> None:
        """Start the jobs, until ``close``."""
        self._is_started = True
        start_background_task(self._run(), self._running, "jobs")

    @contextlib.asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """Stop the jobs for the block, one block at a time; they start again after it if they were started."""
        async with self._lock:
            try:
                await finish(self._running.aclose())
                yield
            finally:
                if self._is_started:
                    self.start()

    async def close(self) -> None:
        """End the jobs. Safe to call twice."""
        self._is_started = False
        await self._running.aclose()

    async def _run(self) -> None:
        while await self._imports.import_mark() is not None:  # noqa: ASYNC110 - another process may end it
            await asyncio.sleep(_IMPORT_POLL_SECONDS)
        async with contextlib.AsyncExitStack() as running:
            for name, work in self._jobs():
                start_background_task(work, running, name)
            await asyncio.Event().wait()


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
