"""Task that dreams, by schedule."""

from __future__ import annotations

from vicw_runtime.queue.celery_queue import DREAM
from vicw_runtime.schedule.jobs import ScheduledJob
from vicw_sleep.dream.job import dream_slice, dreamer_of
from vicw_sleep.dream.service import DreamBookmark, DreamReport
from vicw_sleep.schedule.task_chain import chained_task
from vicw_sleep.wiring import SleepWiring


@chained_task(DREAM, "dreaming", DreamBookmark.read, ScheduledJob.DREAM)
async def dream(wiring: SleepWiring, start: DreamBookmark | None) -> DreamReport | None:
    """Tag a limited number of items."""
    return await dream_slice(dreamer_of(wiring.memory), wiring.settings.dream, start)
