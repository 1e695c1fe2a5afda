"""Undo of sleep cycle steps: the conditions, and the log entry."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import MaintenanceStep, Outcome, SleepLog


async def undoable(log: SleepLog, step_id: str, task: str, *, now: datetime, grace: timedelta) -> MaintenanceStep:
    """Return a task's step to undo. Raises MissingRecordError, with the reason, if it cannot be undone."""
    step = await log.step(step_id)
    if step is not None and step.outcome is Outcome.UNDONE:
        raise MissingRecordError(f"Step {step_id!r} is undone already")
    if step is None or step.task != task or step.outcome is not Outcome.DONE:
        raise MissingRecordError(
            f"There is no step {step_id!r} that could be undone: see what `vicw sleep log` lists as `done`"
        )
    if now - step.at > grace:
        raise MissingRecordError(f"Step {step_id!r} is of {step.at:%Y-%m-%d %H:%M}: its grace period is over")
    return step


def undone(step: MaintenanceStep, now: datetime) -> MaintenanceStep:
    """Return the log entry of an undone step."""
    return replace(step, outcome=Outcome.UNDONE, at=now)
