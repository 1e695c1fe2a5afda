"""What the sleep cycle is about, in lines: what is under way, what was, what comes when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from vicw_shared.job_runs import in_progress
from vicw_shared.ports import JobRun

if TYPE_CHECKING:
    from vicw_standalone.settings import StandaloneSettings

_BY_VECTORS = frozenset({"consolidation", "dream", "reconcile"})
"""What nobody needs who has no vectors: it saves them, goes by them, or mends them."""


def told_of(settings: StandaloneSettings, rounds: Sequence[JobRun], at: datetime) -> Iterator[str]:
    """Yield a line for each task that has a schedule, then for whatever else has left a note."""
    from vicw_sleep.jobs import BY_DAY, ScheduledJob, schedules

    noted = {one.task: one for one in rounds}
    for task, schedule in schedules(settings, at).items():
        rest = schedule.rest(at)
        if settings.sleep.paused and task is not ScheduledJob.RECONCILE:
            when = "paused (VICW_SLEEP_PAUSED)"
        elif rest is None or (task in _BY_VECTORS and settings.storage.embedder == "none"):
            when = "never by itself"
        else:
            when = f"next at {_minute(at + rest)}"
        yield f"{task}: {when}{_told(noted.pop(task, None), at)}"
    if (items := settings.consolidation.interactions) and not settings.sleep.paused:
        when = f"at once when {items} items, and a 20th of all, are new in it"
        yield f"{BY_DAY}: {when}{_told(noted.pop(BY_DAY, None), at)}"
    for other, one in noted.items():
        yield f"{other}: {_progress(one, at)}"


def _told(one: JobRun | None, at: datetime) -> str:
    return f"; {_progress(one, at)}" if one is not None else ""


def _progress(one: JobRun, at: datetime) -> str:
    turns = "1 turn" if one.slices == 1 else f"{one.slices} turns"
    if in_progress(one):
        ago = max(0, round((at - one.at).total_seconds()))
        return f"under way since {_minute(one.began)} ({turns}, last heard of {ago} s ago)"
    if one.over:
        return f"last from {_minute(one.began)} to {_minute(one.at)} ({turns})"
    return f"broke off at {_minute(one.at)} after {turns}" + (f": {one.error}" if one.error else "")


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
