"""The log, the plans and an undo at a server that has no operations: by ``GET /sleep`` and ``POST /sleep/undo``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from vicw_shared.clock import now
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_runtime.operations.remote_memory import RemoteMemory
    from vicw_shared.wire.sleep import SleepJob, SleepStep
    from vicw_sleep.history.api import LoggedStep, LogRequest, LogResult, StatusResult, Undone

_PAGE = 200
_RECENT = timedelta(hours=24)


def log(memory: RemoteMemory, request: LogRequest, show: Callable[[LoggedStep], None]) -> LogResult:
    """Show the steps of the key's tenant, the latest first, without what they were about."""
    from vicw_sleep.history.api import LogResult

    shown = 0
    for step in _steps(memory, request.task):
        if shown == request.limit:
            break
        if not request.refused or step.outcome == "refused":
            show(_logged(step))
            shown += 1
    return LogResult(steps=shown)


def status(memory: RemoteMemory) -> StatusResult:
    """Return the plans of the jobs, and what they did in the last day for the key's tenant."""
    from vicw_sleep.history.api import StatusResult

    jobs = tuple(_line(job) for job in memory.sleep(limit=1).jobs)
    last: datetime | None = None
    recent: Counter[str] = Counter({"done": 0, "refused": 0, "undone": 0})
    for step in _steps(memory):
        last = last or step.at
        if step.at < now() - _RECENT:
            break
        recent["expired" if step.task == "expire" else step.outcome] += 1
    return StatusResult(jobs=jobs, last_step_at=last, recent=dict(recent))


def undo(memory: RemoteMemory, step: str) -> Undone:
    """Undo a step."""
    from vicw_sleep.history.api import Undone

    done = memory.undo(step)
    if done.outcome == "undone":
        return Undone(message=f"step {done.id} ({done.task}) is undone")
    return Undone(message=f"a worker undoes step {done.id}; `vicw sleep log --url …` shows when it has")


def _steps(memory: RemoteMemory, task: str | None = None) -> Iterator[SleepStep]:
    after: str | None = None
    while True:
        page = memory.sleep(limit=_PAGE, **{"task": task} if task else {}, **{"after": after} if after else {})
        yield from page.steps
        if (after := page.next) is None:
            return


def _logged(step: SleepStep) -> LoggedStep:
    from vicw_shared.ports import Outcome
    from vicw_sleep.history.api import LoggedStep

    return LoggedStep(
        id=step.id,
        tenant="",
        context=step.context or "",
        task=step.task,
        outcome=Outcome(step.outcome),
        at=step.at,
        subject=step.subject,
        reason=step.reason or "",
        details={},
        names={},
    )


def _line(job: SleepJob) -> str:
    if job.next_at is not None:
        parts = [f"next at {_minute(job.next_at)}"]
    else:
        parts = [f"off ({job.stopped_by})"] if job.stopped_by is not None else []
    if job.began is not None and job.at is not None:
        slices = counted(job.slices, "slice")
        if job.running:
            parts.append(f"running since {_minute(job.began)} ({slices})")
        elif job.error:
            parts.append(f"interrupted at {_minute(job.at)} after {slices}: {job.error}")
        else:
            parts.append(f"last run from {_minute(job.began)} to {_minute(job.at)} ({slices})")
    return f"{job.job}: {'; '.join(parts)}"


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
