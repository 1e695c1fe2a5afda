"""Status lines of the sleep cycle's jobs: running, last run, next run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from vicw_runtime.job_runs import in_progress
from vicw_runtime.operations import MemorySettings
from vicw_shared.ports import JobRun
from vicw_shared.text import counted
from vicw_sleep.schedule.jobs import CATCH_UP_CONSOLIDATION, SETTING, ScheduledJob, schedules

_NEED_VECTORS = frozenset({ScheduledJob.CONSOLIDATION, ScheduledJob.DREAM, ScheduledJob.RECONCILE})
"""Jobs without work in a store without vectors."""


def status_lines(settings: MemorySettings, runs: Sequence[JobRun], at: datetime, *, vectors: bool) -> Iterator[str]:
    """Yield a line for each job with a schedule, then for each other recorded job."""
    recorded = {run.task: run for run in runs}
    for job, schedule in schedules(settings, at).items():
        rest = schedule.rest(at)
        if settings.sleep.paused and job is not ScheduledJob.RECONCILE:
            when = "paused (VICW_SLEEP_PAUSED)"
        elif job in _NEED_VECTORS and not vectors:
            when = "off (VICW_EMBEDDER=none)"
        elif job is ScheduledJob.EVICTION and not settings.eviction.items:
            when = "off (no limit in VICW_EVICTION_ITEMS)"
        elif rest is None:
            when = f"off ({SETTING[job]}=never)"
        else:
            when = f"next at {_minute(at + rest)}"
        yield f"{job}: {when}{_last_run(recorded.pop(job, None), at)}"
    if (items := settings.consolidation.interactions) and not settings.sleep.paused:
        when = f"runs as soon as {counted(items, 'item')}, and at least 5% of its items, are new"
        yield f"{CATCH_UP_CONSOLIDATION}: {when}{_last_run(recorded.pop(CATCH_UP_CONSOLIDATION, None), at)}"
    for task, run in recorded.items():
        yield f"{task}: {_progress(run, at)}"


def _last_run(run: JobRun | None, at: datetime) -> str:
    return f"; {_progress(run, at)}" if run is not None else ""


def _progress(run: JobRun, at: datetime) -> str:
    slices = counted(run.slices, "slice")
    if in_progress(run):
        ago = max(0, round((at - run.at).total_seconds()))
        return f"running since {_minute(run.began)} ({slices}, last report {ago} s ago)"
    if run.over:
        return f"last run from {_minute(run.began)} to {_minute(run.at)} ({slices})"
    return f"interrupted at {_minute(run.at)} after {slices}" + (f": {run.error}" if run.error else "")


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
