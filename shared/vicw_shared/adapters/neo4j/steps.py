"""The log of the sleep cycle, as records of the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vicw_shared.adapters.neo4j.cypher import records
from vicw_shared.adapters.neo4j.database import Database, Run
from vicw_shared.adapters.neo4j.keys import step_record
from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import Outcome, Step, Steps

_LATEST = 2**62
_LAST_ID = "\U0010ffff"


async def put_step(run: Run, step: Step) -> None:
    """Keep a step, in place of one of the same id."""
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


async def find_steps(database: Database, what: Steps, after: Step | None, limit: int) -> list[Step]:
    """Return steps, the latest first."""
    at, step_id = (to_us(after.at), after.id) if after is not None else (_LATEST, _LAST_ID)
    rows = await database.read(records.STEPS, at=at, id=step_id, tenant=what.tenant, task=what.task, limit=limit)
    return [_step(row["step"]) for row in rows]


async def find_step(database: Database, step_id: str) -> Step | None:
    """Return the step of this id, or None."""
    rows = await database.read(records.STEP, record=step_record(step_id))
    return _step(rows[0]["step"]) if rows else None


def _step(row: Mapping[str, Any]) -> Step:
    return Step(
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
