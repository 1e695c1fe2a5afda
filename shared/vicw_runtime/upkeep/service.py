"""What the sleep cycle plans and did, and whether the stores agree: the use cases behind ``/sleep`` and ``/check``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from vicw_core.changes import ChangeKind, record_change_now
from vicw_core.page_cursor import fingerprint_of
from vicw_core.step_pages import cursor_of, place_of
from vicw_core.undo import UNDOABLE, require_undoable
from vicw_runtime.job_runs import in_progress
from vicw_runtime.schedule.jobs import ScheduledJob, ScheduleSettings
from vicw_runtime.schedule.plans import JobPlan, job_plans
from vicw_runtime.upkeep.drift import COMPARISON, drift_task
from vicw_shared.clock import now
from vicw_shared.errors import StateConflictError
from vicw_shared.ports import MaintenanceStep, Outcome, SleepLog, Steps, Store
from vicw_shared.wire.sleep import (
    CheckState,
    Comparison,
    Drift,
    RunnableJob,
    SleepJob,
    SleepQuery,
    SleepState,
    SleepStep,
)


@dataclass(frozen=True, slots=True)
class UpkeepPorts:
    """What is told of: the graph and its log, the settings of the schedules, and the state of the vector index."""

    graph: Store
    settings: ScheduleSettings
    has_vectors: bool
    rebuilding: datetime | None


@dataclass(frozen=True, slots=True)
class UndoPorts:
    """What undoes steps.

    ``undo`` takes a step and the id of the caller's key, and returns the step as it is then, still done if that goes on
    in the background. It raises MissingRecordError, with the reason, if the step cannot be undone.
    """

    graph: Store
    grace: timedelta
    undo: Callable[[MaintenanceStep, str | None], Awaitable[MaintenanceStep]]


@dataclass(frozen=True, slots=True)
class RunPorts:
    """What starts jobs, which are of all tenants: keys of ``tenant``, the operator's, may ask for them.

    ``stopped_by`` returns the setting that keeps a job from being run, or None. ``start`` has it run soon, once if it
    is asked for several times before it begins; it raises UnavailableError if no worker could be told.
    """

    graph: Store
    tenant: str
    stopped_by: Callable[[ScheduledJob], str | None]
    start: Callable[[ScheduledJob], Awaitable[None]]


async def start_job(ports: RunPorts, job: RunnableJob, key: str | None) -> None:
    """Have a job run now, which the record of changes has, with the id of the caller's ``key``.

    Raises StateConflictError with the setting that keeps it from running.
    """
    scheduled = ScheduledJob(job.value)
    if (stopped_by := ports.stopped_by(scheduled)) is not None:
        raise StateConflictError(f"The job {job.value} does not run here: {stopped_by}")
    await record_change_now(ports.graph, ports.tenant, ChangeKind.RUN, key=key)
    await ports.start(scheduled)


async def sleep_state(
    graph: Store,
    settings: ScheduleSettings,
    tenant: str,
    query: SleepQuery,
    *,
    vectors: bool,
    words: bool,
) -> SleepState:
    """Return the jobs' plans, by these settings, and a page of the tenant's steps.

    ``vectors``: passages are embedded. ``words``: the caller may read what is stored, so steps tell of contexts and
    reasons. Raises InvalidInputError for an ``after`` of no page.
    """
    at = now()
    fingerprint = fingerprint_of(tenant, "sleep", {"task": query.task})
    after = place_of(query.after, fingerprint)
    found = await graph.scan(Steps(tenant=tenant, task=query.task), after=after, limit=query.limit + 1)
    shown = found[: query.limit]
    plans = job_plans(settings, await graph.log.job_runs(), at, vectors=vectors)
    return SleepState(
        jobs=tuple(_job(plan) for plan in plans),
        steps=tuple(shown_step(step, settings.sleep.grace, at, words=words) for step in shown),
        next=cursor_of(shown[-1], fingerprint) if len(found) > len(shown) else None,
    )


async def step_to_undo(log: SleepLog, tenant: str, step_id: str, grace: timedelta) -> MaintenanceStep:
    """Return a step of the tenant's that may be undone. Raises MissingRecordError, with the reason, for any other."""
    step = await log.step(step_id)
    if step is not None and step.tenant != tenant:
        step = None
    require_undoable(step, step_id, now=now(), grace=grace)
    assert step is not None
    return step


def shown_step(step: MaintenanceStep, grace: timedelta, at: datetime, *, words: bool) -> SleepStep:
    """Return a step as it is shown at an instant; without ``words``, nothing of what is stored is in it."""
    until = step.at + grace
    may_undo = step.outcome is Outcome.DONE and step.task in UNDOABLE and at <= until
    return SleepStep(
        id=step.id,
        task=step.task,
        outcome=step.outcome.value,
        at=step.at,
        subject=step.subject,
        undo_until=until if may_undo else None,
        context=step.context if words else None,
        reason=step.reason if words else None,
    )


async def check_state(graph: Store, rebuilding: datetime | None, tenant: str | None) -> CheckState:
    """Return what the last comparisons of the stores found, of a tenant or (None) of all.

    ``rebuilding`` is the mark of a lost index.
    """
    runs = {run.task: run for run in await graph.log.job_runs()}
    last, drift = runs.get(COMPARISON), runs.get(drift_task(tenant))
    return CheckState(
        compared=Comparison(began=last.began, at=last.at, running=in_progress(last), error=last.error or None)
        if last is not None
        else None,
        drift=Drift(
            began=drift.began,
            at=drift.at,
            missing=drift.found.get("missing", 0),
            stale=drift.found.get("stale", 0),
            orphaned=drift.found.get("orphaned", 0),
        )
        if drift is not None
        else None,
        rebuilding=rebuilding,
        passages_waiting=(await graph.outbox.backlog(tenant)).waiting,
    )


def _job(plan: JobPlan) -> SleepJob:
    run = plan.run
    return SleepJob(
        job=plan.job,
        stopped_by=plan.stopped_by,
        next_at=plan.next_at,
        running=run is not None and in_progress(run),
        began=run.began if run is not None else None,
        at=run.at if run is not None else None,
        slices=run.slices if run is not None else 0,
        error=(run.error or None) if run is not None else None,
    )
