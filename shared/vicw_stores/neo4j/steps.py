"""Sleep cycle log and progress, as records of the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Label
from vicw_shared.ports import ArrivalCount, JobRun, MaintenanceStep, Outcome, Steps
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import nodes, records
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement
from vicw_stores.neo4j.keys import arrivals_record, job_run_record, step_record
from vicw_stores.neo4j.rows import nodes_in

_PAGE = 1000
_EARLIEST, _LATEST = -(2**62), 2**62
_LAST_ID = "\U0010ffff"


async def put_step(run: RunStatement, step: MaintenanceStep) -> None:
    """Store a step, replacing one with the same id."""
    await run(
        records.PUT_STEP,
        record=step_record(step.id),
        id=step.id,
        tenant=step.tenant,
        context=step.context,
        task=step.task,
        outcome=step.outcome.value,
        at=to_us(step.at),
        subject=step.subject,
        reason=step.reason,
        details=json.dumps(step.details, ensure_ascii=False),
    )


async def find_steps(
    database: Neo4jDatabase, what: Steps, after: MaintenanceStep | None, limit: int
) -> list[MaintenanceStep]:
    """Return steps in the order of a scan."""
    statement, begin = (
        (records.STEPS_FORWARD, (_EARLIEST, "")) if what.oldest_first else (records.STEPS, (_LATEST, _LAST_ID))
    )
    at, step_id = (to_us(after.at), after.id) if after is not None else begin
    rows = await database.read(
        statement, at=at, id=step_id, tenant=what.tenant, task=what.task, left_out=list(what.left_out), limit=limit
    )
    return [_step(row["step"]) for row in rows]


@measured("neo4j")
class Neo4jSleepLog:
    """SleepLog on one database."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def step(self, step_id: str) -> MaintenanceStep | None:
        rows = await self._database.read(records.STEP, record=step_record(step_id))
        return _step(rows[0]["step"]) if rows else None

    async def contexts_with_arrivals(self, minimum: int, *, limit: int) -> list[ArrivalCount]:
        counts: list[ArrivalCount] = []
        query, after = nodes.page(Label.CONTEXT), ""
        # A counter record does not contain its context's name, so the contexts are scanned.
        while len(counts) < limit and (
            contexts := nodes_in(await self._database.read(query, after=after, limit=_PAGE))
        ):
            after = contexts[-1].uid
            roots = {arrivals_record(root.tenant, root.context): (root.tenant, root.context) for root in contexts}
            rows = await self._database.read(records.CONTEXTS_WITH_ARRIVALS, records=list(roots), by=minimum)
            counts += [ArrivalCount(*roots[row["record"]], row["value"]) for row in rows]
        return counts[:limit]

    async def record_arrivals(self, count: ArrivalCount) -> None:
        record = arrivals_record(count.tenant, count.context)
        await self._database.write(lambda run: run(records.RECORD_ARRIVALS, record=record, arrivals=count.arrivals))

    async def record_job_run(self, job_run: JobRun) -> None:
        properties = {
            "task": job_run.task,
            "began": to_us(job_run.began),
            "at": to_us(job_run.at),
            "turns": job_run.slices,
            "over": job_run.over,
            "error": job_run.error,
            "found": json.dumps(dict(job_run.found)),
        }
        await self._database.write(
            lambda run: run(records.PUT_JOB_RUN, record=job_run_record(job_run.task), told=properties)
        )

    async def drop_job_run(self, task: str) -> None:
        await self._database.write(lambda run: run(records.DROP_JOB_RUN, record=job_run_record(task)))

    async def job_runs(self) -> list[JobRun]:
        rows = await self._database.read(records.JOB_RUNS)
        return [_job_run(row["told"]) for row in rows]


def _step(row: Mapping[str, Any]) -> MaintenanceStep:
    return MaintenanceStep(
        id=row["step_id"],
        tenant=row["step_of"],
        context=row["step_context"],
        task=row["task"],
        outcome=Outcome(row["outcome"]),
        at=from_us(row["step_at"]),
        subject=row["subject"],
        reason=row["reason"],
        details=json.loads(row["details"]),
    )


def _job_run(row: Mapping[str, Any]) -> JobRun:
    """Return a recorded run; an earlier build recorded nothing that was ``found``."""
    return JobRun(
        row["task"],
        from_us(row["began"]),
        from_us(row["at"]),
        row["turns"],
        row["over"],
        row["error"],
        json.loads(row.get("found") or "{}"),
    )
