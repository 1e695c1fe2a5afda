"""Undo of sleep cycle steps: the conditions, and the log entry."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from vicw_core.changes import ChangeKind, record_change
from vicw_core.consolidation.consolidate import MAKER
from vicw_core.graph.edge_factory import DREAM, RESOLVE
from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import GraphTransaction, MaintenanceStep, Outcome, SleepLog

UNDOABLE = frozenset({MAKER, DREAM, RESOLVE})
"""Tasks whose steps can be undone. The log has others: what was erased or expired, records of changes, feedback."""


async def undoable(log: SleepLog, step_id: str, task: str, *, now: datetime, grace: timedelta) -> MaintenanceStep:
    """Return a task's step to undo. Raises MissingRecordError, with the reason, if it cannot be undone."""
    step = await log.step(step_id)
    require_undoable(step, step_id, now=now, grace=grace)
    if step is None or step.task != task:
        raise _unknown(step_id)
    return step


def require_undoable(step: MaintenanceStep | None, step_id: str, *, now: datetime, grace: timedelta) -> None:
    """Raise MissingRecordError, with the reason, for a step that is not there, was undone, is of a task whose steps
    stay, or is too old to undo."""
    if step is not None and step.outcome is Outcome.UNDONE:
        raise MissingRecordError(f"Step {step_id!r} is undone already")
    if step is None or step.outcome is not Outcome.DONE:
        raise _unknown(step_id)
    if step.task not in UNDOABLE:
        raise MissingRecordError(
            f"Step {step_id!r} cannot be undone: only those of consolidation, dreams and entity resolution can"
        )
    if now - step.at > grace:
        raise MissingRecordError(f"Step {step_id!r} is of {step.at:%Y-%m-%d %H:%M}: its grace period is over")


async def log_undone(transaction: GraphTransaction, step: MaintenanceStep, now: datetime, *, key: str | None) -> None:
    """Log in the transaction that undoes a step that it is undone, and record the change by the key with this id."""
    await transaction.log_step(replace(step, outcome=Outcome.UNDONE, at=now))
    await record_change(transaction, step.tenant, ChangeKind.UNDO, 1, key=key, at=now)


def _unknown(step_id: str) -> MissingRecordError:
    return MissingRecordError(
        f"There is no step {step_id!r} that could be undone: see what `vicw sleep log` lists as `done`"
    )
