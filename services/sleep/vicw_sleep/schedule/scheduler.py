"""In-process scheduler: runs the jobs of the sleep cycle in time slices, when they are due."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import NoReturn, Protocol

import structlog

from vicw_runtime.job_runs import recorded_run
from vicw_runtime.schedule.cron import Schedule
from vicw_shared.clock import now
from vicw_shared.ports import SleepLog

_log = structlog.get_logger()
_END = object()
SLICE_SECONDS = 60.0
"""Maximum duration of a slice: the worker has other tasks, and a throttled job may rest for most of this time."""


class SliceDeadline:
    """The end of a slice, ``seconds`` from now; None: no deadline."""

    def __init__(self, seconds: float | None) -> None:
        self._at = time.monotonic() + seconds if seconds is not None else float("inf")

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed. A caller that checks it only after each unit of work always makes
        progress.
        """
        return time.monotonic() >= self._at


class StoppedError(Exception):
    """A slice has failed and logged the reason: the run ends with it."""


type JobSlices = Callable[[], AsyncIterator[None]]
"""A job in slices: it yields after each slice but the last."""


class Slice[M](Protocol):
    """Result of a slice: the next one starts at ``next``; None: the job is complete."""

    @property
    def next(self) -> M | None:
        """Where to continue."""
        ...


def run_slices[M](run_slice: Callable[[M | None], Awaitable[Slice[M] | None]]) -> JobSlices:
    """Return a job of such slices, each starting where the previous one stopped. A failed slice (None) ends it."""

    async def slices_of_run() -> AsyncIterator[None]:
        mark: M | None = None
        while (done := await run_slice(mark)) is not None:
            if done.next is None:
                return
            mark = done.next
            yield
        raise StoppedError

    return slices_of_run


async def run_on_schedule(
    schedule: Schedule, job: JobSlices, what: str, log: SleepLog, between: JobSlices | None = None
) -> NoReturn:
    """Run ``job`` whenever it is due, for ever; at every other poll, run ``between``.

    An exception is logged under the name ``what`` and does not stop the schedule. Each run of ``job`` is recorded in
    ``log``.
    """
    job = _recorded(job, what, log)
    while True:
        await asyncio.sleep(schedule.poll_seconds)
        slices = job if schedule.due(now()) else between
        if slices is None:
            continue
        try:
            async for _ in slices():
                await asyncio.sleep(schedule.pause_seconds)
                if slices is between and schedule.rest(now()) == timedelta(0):
                    break  # the scheduled job takes precedence
        except StoppedError:
            pass
        except Exception:
            _log.exception(f"{what} failed; its completed slices are kept")


def _recorded(slices: JobSlices, what: str, log: SleepLog) -> JobSlices:
    async def slices_of_run() -> AsyncIterator[None]:
        remaining, first = aiter(slices()), True
        while True:
            async with recorded_run(log, what, first=first) as run:
                run.more = await anext(remaining, _END) is not _END
            if not run.more:
                return
            first = False
            yield

    return slices_of_run
