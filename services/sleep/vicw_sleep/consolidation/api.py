"""Operation ``sleep/consolidate``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from vicw_core.changes import ChangeKind
from vicw_core.consolidation.consolidate import ConsolidatedBatch
from vicw_runtime.operations import Memory, Operation, Report
from vicw_shared.clock import now
from vicw_shared.ports import Flow
from vicw_shared.wire.base import Id, Message, StrictBool, StrictInt, example
from vicw_shared.wire.examples import story
from vicw_sleep.consolidation.job import consolidation_of, rules_of

Hours = Annotated[float, Field(strict=True, ge=0, le=100_000)]
Limit = Annotated[int, Field(strict=True, ge=1)]


class ConsolidateRequest(Message):
    """Replace several old Events of a flow by one Macro-Event, where its summary loses nothing."""

    model_config = example({"tenant": "default", "dry_run": True, "hours": 168})

    tenant: Id | None = Field(None, description="Only this tenant; null: all")
    dry_run: StrictBool = Field(False, description="Only report what would be consolidated, and what would not")
    hours: Hours | None = Field(None, description="Only Events older than this; null: VICW_CONSOLIDATE_HOURS")
    limit: Limit | None = Field(None, description="Maximum number of Macro-Events to create; null: all")
    again: StrictBool = Field(False, description="Also try batches that were refused or undone before")


class JudgedBatch(Message):
    """A batch of a flow: ``events`` that become the Macro-Event ``name``; without one, the ``reason`` why not."""

    model_config = example(
        {"context": story.NOVEL, "flow": story.CHAPTER, "events": 12, "name": "The theft of the amulet", "reason": ""}
    )

    context: str
    flow: str
    events: StrictInt
    name: str | None
    reason: str


class ConsolidateResult(Message):
    """Counts of a run over Events older than ``hours``."""

    model_config = example(
        {"hours": 168, "flows": 2, "events": 14, "macros": 1, "refused": 0, "skipped": 1, "changed": 0}
    )

    hours: float
    flows: StrictInt
    events: StrictInt
    macros: StrictInt
    refused: StrictInt
    skipped: StrictInt
    changed: StrictInt


async def run(memory: Memory, request: ConsolidateRequest, report: Report[JudgedBatch]) -> ConsolidateResult:
    """Consolidate all batches that are due. Completed ones stay if it is stopped; run it again to continue."""
    settings = memory.settings.consolidation
    if request.hours is not None:
        settings = settings.model_copy(update={"hours": request.hours})

    def judged(flow: Flow, batch: ConsolidatedBatch | None, reason: str) -> None:
        events, name = (len(batch.sources), batch.name) if batch is not None else (0, None)
        report.item(JudgedBatch(context=flow.context, flow=flow.flow_id, events=events, name=name, reason=reason))

    done = await replace(consolidation_of(memory), on_batch=judged).run(
        rules_of(settings),
        now=now(),
        dry=request.dry_run,
        max_batches=request.limit,
        again=request.again,
        tenant=request.tenant,
    )
    return ConsolidateResult(
        hours=settings.hours,
        flows=done.flows,
        events=done.events,
        macros=done.macros,
        refused=done.refused,
        skipped=done.skipped,
        changed=done.changed,
    )


CONSOLIDATE = Operation(
    name="sleep/consolidate",
    summary="Consolidate old Events",
    request=ConsolidateRequest,
    result=ConsolidateResult,
    item=JudgedBatch,
    run=run,
    of_tenant=True,
    change=lambda request: None if request.dry_run else ChangeKind.RUN,
)
