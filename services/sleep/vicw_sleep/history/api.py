"""Operations ``sleep/log``, ``sleep/status`` and ``sleep/undo``."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from vicw_core.tenants import require_tenant
from vicw_runtime.operations import Memory, NoItem, Opening, Operation, Report, Stores
from vicw_shared.clock import now
from vicw_shared.ports import GraphStore, MaintenanceStep, Outcome, Scans, Steps, scan_pages
from vicw_shared.wire.base import Id, Message, StrictBool, StrictInt, example
from vicw_shared.wire.examples import story
from vicw_sleep.history.model import LoggedTask
from vicw_sleep.history.service import undo_step
from vicw_sleep.history.status import status_lines
from vicw_sleep.resolve.model import ends_of

_EXPIRED = "expired"
"""Expired items are counted apart: they may be many, and no maintenance made them."""


class LogRequest(Message):
    """List logged steps, the latest first."""

    model_config = example({"tenant": "default", "limit": 50})

    tenant: Id | None = Field(None, description="Only this tenant; null: all")
    limit: Annotated[int, Field(strict=True, ge=1)] = Field(50, description="Maximum number of steps")
    task: LoggedTask | None = Field(None, description="Only steps of this task")
    refused: StrictBool = Field(False, description="Only refused batches")


class LoggedStep(Message):
    """A step, and the ``names`` of nodes that it merged or retired, by uid."""

    model_config = example(
        {
            "id": story.STEP,
            "tenant": "default",
            "context": story.NOVEL,
            "task": "dream",
            "outcome": "done",
            "at": "2026-01-21T04:00:00Z",
            "subject": story.FLIGHT_UID,
            "reason": "",
            "details": {},
            "names": {},
        }
    )

    id: str
    tenant: str
    context: str
    task: str
    outcome: Outcome
    at: datetime
    subject: str
    reason: str
    details: dict[str, Any]
    names: dict[str, str]

    def step(self) -> MaintenanceStep:
        """Return the step as it was logged."""
        return MaintenanceStep(**{name: getattr(self, name) for name in MaintenanceStep.__slots__})


class LogResult(Message):
    """Number of steps that were listed."""

    model_config = example({"steps": 1})

    steps: StrictInt


class StatusRequest(Message):
    """Say which jobs run, when each runs next, and how many steps were done in the last day."""

    model_config = example({"tenant": "default"})

    tenant: Id | None = Field(None, description="Only steps of this tenant; null: all")


class StatusResult(Message):
    """``jobs`` in sentences, the time of the latest step, and the steps of the last day by outcome."""

    model_config = example(
        {
            "jobs": ["dream runs next on 2026-01-22 at 04:00 UTC"],
            "last_step_at": "2026-01-21T04:00:00Z",
            "recent": {"done": 1},
        }
    )

    jobs: tuple[str, ...]
    last_step_at: datetime | None
    recent: dict[str, StrictInt]


class UndoRequest(Message):
    """Undo a step of the sleep cycle."""

    model_config = example({"step": story.STEP})

    step: Id = Field(description="Its id, as `vicw sleep log` shows it")


class Undone(Message):
    """Outcome of an undo, in a sentence."""

    model_config = example({"message": "The step is undone: its tags are removed"})

    message: str


async def run_log(stores: Stores, request: LogRequest, report: Report[LoggedStep]) -> LogResult:
    """Report the steps as items."""
    steps: list[MaintenanceStep] = []
    async for step in _steps(stores.graph, request.tenant, request.task):
        if not request.refused or step.outcome is Outcome.REFUSED:
            steps.append(step)
        if len(steps) == request.limit:
            break
    names = await _names_in(stores.graph, steps)
    for step in steps:
        own = {uid: names[uid] for uid in _ends_of(step) if uid in names}
        fields = {name: getattr(step, name) for name in MaintenanceStep.__slots__}
        report.item(LoggedStep(**{**fields, "details": dict(step.details)}, names=own))
    return LogResult(steps=len(steps))


async def run_status(stores: Stores, request: StatusRequest, report: Report[NoItem]) -> StatusResult:
    """Read the log of the last day and the recorded runs. The next runs are those of this process's settings.

    Raises InvalidInputError for a tenant without data.
    """
    await require_tenant(stores.graph, request.tenant)
    began, last = now(), None
    recent: Counter[str] = Counter()
    async for step in _steps(stores.graph, request.tenant):
        last = last or step
        if step.at <= began - timedelta(days=1):
            break
        recent[_EXPIRED if step.task == LoggedTask.EXPIRE else step.outcome.value] += 1
    runs = await stores.graph.log.job_runs()
    jobs = status_lines(stores.settings, runs, began, vectors=stores.has_vectors)
    kinds = (*(outcome.value for outcome in Outcome), _EXPIRED)
    return StatusResult(
        jobs=tuple(jobs),
        last_step_at=last.at if last is not None else None,
        recent={kind: recent[kind] for kind in kinds},
    )


async def run_undo(memory: Memory, request: UndoRequest, report: Report[NoItem]) -> Undone:
    """Undo a step. Raises MissingRecordError if it cannot be undone."""
    return Undone(message=await undo_step(memory, request.step, key=report.key))


async def _steps(log: Scans, tenant: str | None, task: str | None = None) -> AsyncIterator[MaintenanceStep]:
    """Yield all logged steps, the latest first."""
    async for page in scan_pages(log, Steps(tenant=tenant, task=task)):
        for step in page:
            yield step


async def _names_in(graph: GraphStore, steps: Iterable[MaintenanceStep]) -> dict[str, str]:
    """Return the names, by uid, of the nodes that these steps merged or retired."""
    uids_by_tenant: dict[str, set[str]] = {}
    for step in steps:
        uids_by_tenant.setdefault(step.tenant, set()).update(_ends_of(step))
    nodes_by_tenant = [await graph.nodes(tenant, sorted(uids)) for tenant, uids in uids_by_tenant.items() if uids]
    return {uid: node.name for nodes in nodes_by_tenant for uid, node in nodes.items()}


def _ends_of(step: MaintenanceStep) -> tuple[str, ...]:
    if step.task == LoggedTask.RESOLVE:
        return ends_of(step)
    return (step.subject,) if step.task == LoggedTask.EXPIRE else ()


LOG = Operation(
    name="sleep/log",
    summary="List completed steps",
    request=LogRequest,
    result=LogResult,
    item=LoggedStep,
    run=run_log,
    opening=Opening.STORES,
    of_tenant=True,
)
STATUS = Operation(
    name="sleep/status",
    summary="Say when the jobs run, and what they did in the last day",
    request=StatusRequest,
    result=StatusResult,
    item=NoItem,
    run=run_status,
    opening=Opening.STORES,
)
UNDO = Operation(
    name="sleep/undo",
    summary="Undo a step of the sleep cycle",
    request=UndoRequest,
    result=Undone,
    item=NoItem,
    run=run_undo,
)
OPERATIONS = (LOG, STATUS, UNDO)
