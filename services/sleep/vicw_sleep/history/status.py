"""Status lines of the sleep cycle's jobs: running, last run, next run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from vicw_runtime.job_runs import in_progress
from vicw_runtime.operations import MemorySettings
from vicw_runtime.schedule.jobs import CATCH_UP_CONSOLIDATION, ScheduledJob
from vicw_runtime.schedule.plans import PAUSED, JobPlan, job_plans
from vicw_shared.ports import JobRun
from vicw_shared.text import counted


def status_lines(settings: MemorySettings, runs: Sequence[JobRun], at: datetime, *, vectors: bool) -> Iterator[str]:
    """Yield a line for each job with a schedule, then for each other job that runs or has run."""
    items = settings.consolidation.interactions
    for plan in job_plans(settings, runs, at, vectors=vectors):
        progress = _progress(plan.run, at) if plan.run is not None else ""
        if plan.job == CATCH_UP_CONSOLIDATION and items and not settings.sleep.paused:
            when = f"runs as soon as {counted(items, 'item')}, and at least 5% of its items, are new"
        elif plan.job in set(ScheduledJob):
            when = _when(plan)
        else:
            when = ""
        yield f"{plan.job}: {'; '.join(part for part in (when, progress) if part)}"


def _when(plan: JobPlan) -> str:
    if plan.next_at is not None:
        return f"next at {_minute(plan.next_at)}"
    return f"{'paused' if plan.stopped_by == PAUSED else 'off'} ({plan.stopped_by})"


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
