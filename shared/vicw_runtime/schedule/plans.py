"""What is planned of each job: when it runs next, what stops it, and its last run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from vicw_runtime.schedule.cron import NEVER
from vicw_runtime.schedule.jobs import CATCH_UP_CONSOLIDATION, SETTING, ScheduledJob, ScheduleSettings, schedules
from vicw_runtime.upkeep.drift import is_drift
from vicw_shared.ports import JobRun

PAUSED = "VICW_SLEEP_PAUSED"
_NEED_VECTORS = frozenset({ScheduledJob.CONSOLIDATION, ScheduledJob.DREAM, ScheduledJob.RECONCILE})
"""Jobs without work in a store without vectors."""


@dataclass(frozen=True, slots=True)
class JobPlan:
    """A job. ``stopped_by`` names the setting that keeps it from running; ``next_at`` is None then, and for a job that
    has no schedule.

    ``run`` is the last run, None before the first one.
    """

    job: str
    stopped_by: str | None
    next_at: datetime | None
    run: JobRun | None


def job_plans(settings: ScheduleSettings, runs: Sequence[JobRun], at: datetime, *, vectors: bool) -> Iterator[JobPlan]:
    """Yield the plan of each job with a schedule, then of each other job that runs or has run.

    ``vectors``: passages are embedded.
    """
    recorded = {run.task: run for run in runs if not is_drift(run)}
    for job, schedule in schedules(settings, at).items():
        rest = schedule.rest(at)
        stopped_by = _stopped_by(settings, job, vectors=vectors, scheduled=rest is not None)
        next_at = at + rest if stopped_by is None and rest is not None else None
        yield JobPlan(job, stopped_by, next_at, recorded.pop(job, None))
    if settings.consolidation.interactions and not settings.sleep.paused:
        yield JobPlan(CATCH_UP_CONSOLIDATION, None, None, recorded.pop(CATCH_UP_CONSOLIDATION, None))
    for task, run in recorded.items():
        yield JobPlan(task, None, None, run)


def _stopped_by(settings: ScheduleSettings, job: ScheduledJob, *, vectors: bool, scheduled: bool) -> str | None:
    return blocked_by(settings, job, vectors=vectors) or (None if scheduled else f"{SETTING[job]}={NEVER}")


def blocked_by(settings: ScheduleSettings, job: ScheduledJob, *, vectors: bool) -> str | None:
    """Return the setting that keeps a job from running even when it is asked for, or None."""
    if settings.sleep.paused and job is not ScheduledJob.RECONCILE:
        return PAUSED
    if job in _NEED_VECTORS and not vectors:
        return "VICW_EMBEDDER=none"
    if job is ScheduledJob.EVICTION and not settings.eviction.items:
        return "no limit in VICW_EVICTION_ITEMS"
    return None
