"""Each turn of the sleep cycle leaves a note: what is under way, how far it is, how the last round ended."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from prometheus_client import Histogram

from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.ports import Round, SleepLog
from vicw_shared.telemetry.stages import SECONDS

TURN_SECONDS = Histogram("vicw_sleep_turn_seconds", "Time of a turn of the sleep cycle", ["task"], buckets=SECONDS)
GIVEN_UP = timedelta(minutes=15)
"""As long as nothing was heard of a round, it is over: a turn takes a minute, and waits for others."""
STOPPED = "stopped; the log says why"


@dataclass(slots=True)
class JobSlice:
    """What became of a turn: whether there is more to do, and whether it ``failed``, which its log tells of."""

    more: bool = False
    failed: bool = False


@asynccontextmanager
async def noted(rounds: SleepLog, task: str, *, first: bool) -> AsyncIterator[JobSlice]:
    """Note a turn of a task, the ``first`` of a round or a further one, for whoever asks how far it is.

    A note that cannot be made costs the turn nothing.
    """
    turn, began = JobSlice(failed=True), time.monotonic()
    round_ = await _begun(rounds, task, first=first)
    try:
        turn.failed = False
        yield turn
    except BaseException:
        turn.failed = True
        raise
    finally:
        TURN_SECONDS.labels(task).observe(time.monotonic() - began)
        over, error = not turn.more and not turn.failed, STOPPED if turn.failed else ""
        await _note(rounds, replace(round_, at=now(), turns=round_.turns + 1, over=over, error=error))


async def _begun(rounds: SleepLog, task: str, *, first: bool) -> Round:
    """Return the round that is under way, or a new one: that is noted at once."""
    known: list[Round] = []
    if not first:
        with suppress(VicwError):
            known = [one for one in await rounds.rounds() if one.task == task and under_way(one)]
    round_ = known[0] if known else Round(task, now(), now())
    await _note(rounds, replace(round_, at=now()))
    return round_


def under_way(round_: Round) -> bool:
    """Tell whether a round goes on, as far as is known: of one that was killed nothing is heard any more."""
    return not round_.over and not round_.error and now() - round_.at < GIVEN_UP


async def note(rounds: SleepLog, task: str, began: datetime, error: str = "") -> None:
    """Note a round of one turn that is over, or was ended by an ``error``."""
    await _note(rounds, Round(task, began, now(), 1, not error, error))


async def _note(rounds: SleepLog, round_: Round) -> None:
    with suppress(VicwError):
        await rounds.note_round(round_)
