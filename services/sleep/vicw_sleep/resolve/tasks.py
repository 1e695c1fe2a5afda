"""Task that merges duplicate entities, by schedule."""

from __future__ import annotations

from vicw_runtime.queue.celery_queue import RESOLVE
from vicw_runtime.schedule.jobs import ScheduledJob
from vicw_sleep.resolve.job import resolve_slice, resolver_of
from vicw_sleep.resolve.service import ResolveBookmark, ResolveReport
from vicw_sleep.schedule.task_chain import chained_task
from vicw_sleep.wiring import SleepWiring


@chained_task(RESOLVE, "resolving", ResolveBookmark.read, ScheduledJob.RESOLVE)
async def resolve(wiring: SleepWiring, start: ResolveBookmark | None) -> ResolveReport | None:
    """Judge a limited number of pairs of names."""
    return await resolve_slice(resolver_of(wiring.memory), wiring.settings.resolve, start)
