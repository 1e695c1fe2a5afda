"""The log of the sleep cycle, in the graph's file and so in its transactions."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import Outcome, Step, Steps

_COLUMNS = "id, tenant, context, task, outcome, at, subject, reason, details"
_PUT = (
    f"INSERT INTO step ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
    "ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome, at = excluded.at, subject = excluded.subject, "
    "reason = excluded.reason, details = excluded.details"
)


def put_step(connection: sqlite3.Connection, step: Step) -> None:
    """Keep a step, in place of one of the same id."""
    details = json.dumps(step.details, ensure_ascii=False)
    row = (step.id, step.tenant, step.context, step.task, step.outcome.value, to_us(step.at), step.subject, step.reason)
    connection.execute(_PUT, (*row, details))


def read_steps(connection: sqlite3.Connection, what: Steps, after: Step | None, limit: int) -> list[Step]:
    """Return steps, the latest first."""
    conditions: dict[str, tuple[object, ...]] = {}
    if what.tenant is not None:
        conditions["tenant = ?"] = (what.tenant,)
    if what.task is not None:
        conditions["task = ?"] = (what.task,)
    if after is not None:
        conditions["(at, id) < (?, ?)"] = (to_us(after.at), after.id)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    values = [value for given in conditions.values() for value in given]
    sql = f"SELECT {_COLUMNS} FROM step {where} ORDER BY at DESC, id DESC LIMIT ?"  # noqa: S608
    return [_step(row) for row in connection.execute(sql, (*values, limit))]


def read_step(connection: sqlite3.Connection, step_id: str) -> Step | None:
    """Return the step of this id, or None."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM step WHERE id = ?", (step_id,)).fetchone()  # noqa: S608
    return _step(row) if row else None


def _step(row: Any) -> Step:
    step_id, tenant, context, task, outcome, at, subject, reason, details = row
    return Step(
        id=step_id,
        tenant=tenant,
        context=context,
        task=task,
        outcome=Outcome(outcome),
        at=from_us(at),
        subject=subject,
        reason=reason,
        details=json.loads(details),
    )
