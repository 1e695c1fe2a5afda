"""Sleep cycle log and progress, in the graph's file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import ArrivalCount, JobRun, MaintenanceStep, Outcome, Steps
from vicw_shared.telemetry.engines import measured
from vicw_stores.sqlite.database import SqliteDatabase, Writer
from vicw_stores.sqlite.rows import marks

_COLUMNS = "id, tenant, context, task, outcome, at, subject, reason, details"
_PUT = (
    f"INSERT INTO step ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
    "ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome, at = excluded.at, subject = excluded.subject, "
    "reason = excluded.reason, details = excluded.details"
)
_WITH_ARRIVALS = (
    "SELECT tenant, context, value FROM counter WHERE flow = '' AND value - slept >= max(?, value / 20) LIMIT ?"
)
_RECORD_ARRIVALS = "UPDATE counter SET slept = max(slept, ?) WHERE tenant = ? AND context = ? AND flow = ''"
_PUT_RUN = "INSERT OR REPLACE INTO meta VALUES ('round:' || ?, ?)"
_DROP_RUN = "DELETE FROM meta WHERE key = 'round:' || ?"
_RUNS = "SELECT substr(key, 7), value FROM meta WHERE key GLOB 'round:*' ORDER BY key"


def put_step(connection: sqlite3.Connection, step: MaintenanceStep) -> None:
    """Store a step, replacing one with the same id."""
    details = json.dumps(step.details, ensure_ascii=False)
    row = (step.id, step.tenant, step.context, step.task, step.outcome.value, to_us(step.at), step.subject, step.reason)
    connection.execute(_PUT, (*row, details))


def read_steps(
    connection: sqlite3.Connection, what: Steps, after: MaintenanceStep | None, limit: int
) -> list[MaintenanceStep]:
    """Return steps in the order of a scan."""
    conditions: dict[str, tuple[object, ...]] = {}
    if what.tenant is not None:
        conditions["tenant = ?"] = (what.tenant,)
    if what.task is not None:
        conditions["task = ?"] = (what.task,)
    else:
        conditions[f"task NOT IN ({marks(len(what.left_out))})"] = what.left_out
    if after is not None:
        conditions[f"(at, id) {'>' if what.oldest_first else '<'} (?, ?)"] = (to_us(after.at), after.id)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    values = [value for bound in conditions.values() for value in bound]
    way = "ASC" if what.oldest_first else "DESC"
    sql = f"SELECT {_COLUMNS} FROM step {where} ORDER BY at {way}, id {way} LIMIT ?"  # noqa: S608
    return [_step(row) for row in connection.execute(sql, (*values, limit))]


@measured("sqlite")
class SqliteSleepLog:
    """SleepLog over the database of a graph."""

    def __init__(self, database: SqliteDatabase, write: Writer) -> None:
        self._database = database
        self._write = write

    async def step(self, step_id: str) -> MaintenanceStep | None:
        sql = f"SELECT {_COLUMNS} FROM step WHERE id = ?"  # noqa: S608
        row = await self._database.read(lambda c: c.execute(sql, (step_id,)).fetchone())
        return _step(row) if row else None

    async def contexts_with_arrivals(self, minimum: int, *, limit: int) -> list[ArrivalCount]:
        return await self._database.read(
            lambda c: [ArrivalCount(*row) for row in c.execute(_WITH_ARRIVALS, (minimum, limit))]
        )

    async def record_arrivals(self, count: ArrivalCount) -> None:
        row = (count.arrivals, count.tenant, count.context)
        await self._write(lambda c: c.execute(_RECORD_ARRIVALS, row))

    async def record_job_run(self, job_run: JobRun) -> None:
        times = [to_us(job_run.began), to_us(job_run.at)]
        run_json = json.dumps([*times, job_run.slices, job_run.over, job_run.error, dict(job_run.found)])
        await self._write(lambda c: c.execute(_PUT_RUN, (job_run.task, run_json)))

    async def drop_job_run(self, task: str) -> None:
        await self._write(lambda c: c.execute(_DROP_RUN, (task,)))

    async def job_runs(self) -> list[JobRun]:
        rows = await self._database.read(lambda c: c.execute(_RUNS).fetchall())
        return [_job_run(task, *json.loads(run_json)) for task, run_json in rows]


def _step(row: Any) -> MaintenanceStep:
    step_id, tenant, context, task, outcome, at, subject, reason, details = row
    return MaintenanceStep(
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


def _job_run(
    task: str, began: int, at: int, slices: int, over: bool, error: str, found: Mapping[str, int] | None = None
) -> JobRun:
    """Return a recorded run; an earlier build recorded nothing that was ``found``."""
    return JobRun(task, from_us(began), from_us(at), slices, over, error, found or {})
