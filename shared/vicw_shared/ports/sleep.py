"""Port for the sleep cycle's log: steps done, steps refused and why.

The transaction that changes the graph also logs the step, so no step is done without a log entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

AUDIT = "audit"
"""Task of the record of callers' changes, which is no maintenance: only a scan of this task finds it."""
FEEDBACK = "feedback"
"""Task of what people said of items: only a scan of this task finds it, or one ``with_feedback``."""


class Outcome(StrEnum):
    """Outcome of a step."""

    DONE = "done"
    REFUSED = "refused"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceStep:
    """One step that a ``task`` of the sleep cycle did, undid or refused to do in a context.

    ``subject`` is the uid of the node that it made or retired, or that a refused step was about. ``reason`` says why it
    was refused. ``details`` is JSON for operators.
    """

    id: str
    tenant: str
    context: str
    task: str
    outcome: Outcome
    at: datetime
    subject: str
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ArrivalCount:
    """Number of items that had arrived in a context at one moment."""

    tenant: str
    context: str
    arrivals: int


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a ``task``, slice by slice: when it ``began``, and its latest update (``at``).

    ``over``: all work is done. ``error`` says why it ended before that; the next run starts from the beginning.
    ``found``: numbers of what it found, by kind.
    """

    task: str
    began: datetime
    at: datetime
    slices: int = 0
    over: bool = False
    error: str = ""
    found: Mapping[str, int] = field(default_factory=dict)


class SleepLog(Protocol):
    """Steps of all tenants, and the progress of the sleep cycle, which no export contains."""

    async def step(self, step_id: str) -> MaintenanceStep | None:
        """Return the step with this id, or None."""
        ...

    async def contexts_with_arrivals(self, minimum: int, *, limit: int) -> list[ArrivalCount]:
        """Return up to ``limit`` contexts of all tenants with ``minimum`` (≥ 1) or more arrivals since the count.

        Without a recorded count, all arrivals are new. New arrivals must also be at least a 20th of the context's
        arrivals: a task that reads the whole context each time then costs no more per item in a large context than in a
        small one. The engine chooses which contexts come first.
        """
        ...

    async def record_arrivals(self, count: ArrivalCount) -> None:
        """Store the number of arrivals up to which a context was processed; ignored if below the stored number."""
        ...

    async def record_job_run(self, job_run: JobRun) -> None:
        """Store a task's run, replacing its previous one."""
        ...

    async def drop_job_run(self, task: str) -> None:
        """Remove what is recorded of a task, if anything is."""
        ...

    async def job_runs(self) -> list[JobRun]:
        """Return the last run of each task, by task name."""
        ...
