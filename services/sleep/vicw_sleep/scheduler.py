"""How a task of the sleep cycle runs by itself inside another process: turn by turn, at night."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import NoReturn, Protocol

import structlog

from vicw_shared.clock import now
from vicw_shared.job_runs import recorded_run
from vicw_shared.ports import SleepLog
from vicw_sleep.schedule import Schedule

_log = structlog.get_logger()
_THROUGH = object()
POLL_SECONDS = 20.0
"""How often it is looked whether it is time."""
REST_SECONDS = 1.0
"""Rest between two turns: whoever asks goes first."""


SLICE_SECONDS = 60.0
"""Then a turn ends, whatever is left: a worker has other tasks, and who gives way may rest for most of this."""


class SliceDeadline:
    """When a turn ends, ``seconds`` from now; None: when it is through."""

    def __init__(self, seconds: float | None) -> None:
        self._at = time.monotonic() + seconds if seconds is not None else float("inf")

    @property
    def passed(self) -> bool:
        """Whether it is over. Somebody who looks only after he has done something will be through one day."""
        return time.monotonic() >= self._at


class StoppedError(Exception):
    """A turn has failed, and has logged why: the round ends with it."""


type JobSlices = Callable[[], AsyncIterator[None]]
"""Something that is done in turns: it yields after each that is not its last."""


class Slice[M](Protocol):
    """What a turn has done: the next one goes on at ``next``; None: it is through."""

    @property
    def next(self) -> M | None:
        """Where to go on."""
        ...


def run_slices[M](turn: Callable[[M | None], Awaitable[Slice[M] | None]]) -> JobSlices:
    """Return a night of such turns, each from where the one before has left off. One that fails (None) ends it."""

    async def night() -> AsyncIterator[None]:
        mark: M | None = None
        while (done := await turn(mark)) is not None:
            if done.next is None:
                return
            mark = done.next
            yield
        raise StoppedError

    return night


async def run_on_schedule(
    schedule: Schedule, job: JobSlices, what: str, log: SleepLog, between: JobSlices | None = None
) -> NoReturn:
    """Go through a ``night`` of ``what`` whenever it is due, for ever; ``between`` nights, at every look.

    Whatever they raise is logged, and the next one comes all the same. How far a night is goes into ``rounds``.
    """
    job = _recorded(job, what, log)
    while True:
        await asyncio.sleep(POLL_SECONDS)
        turns = job if schedule.due(now()) else between
        if turns is None:
            continue
        try:
            async for _ in turns():
                await asyncio.sleep(REST_SECONDS)
                if turns is between and schedule.rest(now()) == timedelta(0):
                    break  # the night waits for nobody
        except StoppedError:
            pass
        except Exception:
            _log.exception(f"{what} failed; what it has done stands")


def _recorded(turns: JobSlices, what: str, rounds: SleepLog) -> JobSlices:
    async def night() -> AsyncIterator[None]:
        left, first = aiter(turns()), True
        while True:
            async with recorded_run(rounds, what, first=first) as turn:
                turn.more = await anext(left, _THROUGH) is not _THROUGH
            if not turn.more:
                return
            first = False
            yield

    return night
