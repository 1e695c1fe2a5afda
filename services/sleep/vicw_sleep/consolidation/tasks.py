"""Tasks that consolidate: by schedule, and where many items have arrived."""

from __future__ import annotations

from vicw_runtime.queue.celery_queue import CATCH_UP, CONSOLIDATE
from vicw_runtime.schedule.jobs import ScheduledJob
from vicw_sleep.consolidation import job
from vicw_sleep.consolidation.service import ConsolidationReport
from vicw_sleep.consolidation.source_reader import FlowBookmark
from vicw_sleep.schedule.task_chain import chained_task
from vicw_sleep.wiring import SleepWiring


@chained_task(CONSOLIDATE, "consolidation", FlowBookmark.read, ScheduledJob.CONSOLIDATION)
async def consolidate(wiring: SleepWiring, start: FlowBookmark | None) -> ConsolidationReport | None:
    """Consolidate a limited number of batches."""
    return await job.consolidate_slice(wiring.consolidation, wiring.settings.consolidation, start)


@chained_task(CATCH_UP, "consolidation of contexts with new items", job.ContextRun.read)
async def catch_up(wiring: SleepWiring, start: job.ContextRun | None) -> job.CatchUpResult:
    """Consolidate a limited number of batches of a context that has grown."""
    return await job.catch_up(wiring.consolidation, wiring.settings.consolidation, start)
