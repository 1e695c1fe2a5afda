"""Records of the sleep cycle's job runs: running jobs, their progress, and the end of each job's last run."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from prometheus_client import Histogram

from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.ports import JobRun, SleepLog
from vicw_shared.telemetry.stages import SECONDS

SLICE_SECONDS = Histogram("vicw_job_slice_seconds", "Time of a slice of a background job", ["task"], buckets=SECONDS)
STALE_AFTER = timedelta(minutes=15)
"""A run without an update for this long counts as over: a slice takes a minute, and waits for others."""
STOPPED = "stopped; the log says why"


@dataclass(slots=True)
class JobSlice:
    """Result of a slice: whether ``more`` work is left, and whether it ``failed`` (the log says why)."""

    more: bool = False
    failed: bool = False


@asynccontextmanager
async def recorded_run(log: SleepLog, task: str, *, first: bool) -> AsyncIterator[JobSlice]:
    """Record a slice of a task, the ``first`` of a run or a further one.

    A record that cannot be written does not fail the slice.
    """
    slice_, began = JobSlice(failed=True), time.monotonic()
    run = await _current_run(log, task, first=first)
    try:
        slice_.failed = False
        yield slice_
    except BaseException:
        slice_.failed = True
        raise
    finally:
        SLICE_SECONDS.labels(task).observe(time.monotonic() - began)
        over, error = not slice_.more and not slice_.failed, STOPPED if slice_.failed else ""
        await _store_run(log, replace(run, at=now(), slices=run.slices + 1, over=over, error=error))


async def _current_run(log: SleepLog, task: str, *, first: bool) -> JobRun:
    """Return the run in progress, or a new one, and record it."""
    running: list[JobRun] = []
    if not first:
        with suppress(VicwError):
            running = [run for run in await log.job_runs() if run.task == task and in_progress(run)]
    current = running[0] if running else JobRun(task, now(), now())
    await _store_run(log, replace(current, at=now()))
    return current


def in_progress(run: JobRun) -> bool:
    """Return whether a run is in progress; one without recent updates counts as killed."""
    return not run.over and not run.error and now() - run.at < STALE_AFTER


async def record_run(log: SleepLog, task: str, began: datetime, error: str = "") -> None:
    """Record a run of a single slice, which is complete or ended with an ``error``."""
    await _store_run(log, JobRun(task, began, now(), 1, not error, error))


async def _store_run(log: SleepLog, run: JobRun) -> None:
    with suppress(VicwError):
        await log.record_job_run(run)
