"""``/sleep`` and ``/check``: the sleep cycle and the agreement of the stores over HTTP, with the right ``admin``.

When a job runs and when the stores were compared is told of the whole installation; steps and numbers are those of the
caller's tenant alone. What steps are about is shown to a key that has the right ``retrieve``, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response, Security

from vicw_runtime.http import Gate, bearer_scheme, caller_of, refusals, tenant_of
from vicw_runtime.upkeep.service import (
    RunPorts,
    UndoPorts,
    UpkeepPorts,
    check_state,
    shown_step,
    sleep_state,
    start_job,
    step_to_undo,
)
from vicw_shared.clock import now
from vicw_shared.model.keys import Right
from vicw_shared.ports import Outcome
from vicw_shared.wire.sleep import CheckState, SleepQuery, SleepRun, SleepRunStarted, SleepState, SleepStep, SleepUndo


def create_upkeep_router(ports: Callable[[], UpkeepPorts], gate: Gate) -> APIRouter:
    """Return the routes that read, behind ``gate``. ``ports`` is called once per request."""
    router = _router(gate)

    @router.get(
        "/sleep",
        responses=refusals(401, 403, 422, 503),
        summary="Show the jobs of the sleep cycle and what they did",
        operation_id="get_sleep",
    )
    async def get_sleep(http: Request, query: Annotated[SleepQuery, Query()]) -> SleepState:
        of = ports()
        return await sleep_state(
            of.graph, of.settings, tenant_of(http), query, vectors=of.has_vectors, words=_may_read(http)
        )

    @router.get(
        "/check",
        responses=refusals(401, 403, 503),
        summary="Show whether the two stores agree",
        operation_id="get_check",
    )
    async def get_check(http: Request) -> CheckState:
        of = ports()
        return await check_state(of.graph, of.rebuilding, tenant_of(http))

    return router


def create_undo_router(ports: Callable[[], UndoPorts], gate: Gate) -> APIRouter:
    """Return the route that undoes a step, behind ``gate``. ``ports`` is called once per request."""
    router = _router(gate)

    @router.post(
        "/sleep/undo",
        responses={
            **refusals(401, 403, 404, 413, 422, 503, 507),
            202: {"model": SleepStep, "description": "A worker undoes it; `GET /sleep` shows when it is undone"},
        },
        summary="Undo a step of the sleep cycle",
        operation_id="undo_sleep_step",
    )
    async def post_undo(request: SleepUndo, http: Request, response: Response) -> SleepStep:
        of = ports()
        step = await step_to_undo(of.graph.log, tenant_of(http), request.step, of.grace)
        step = await of.undo(step, caller_of(http).key)
        response.status_code = 200 if step.outcome is Outcome.UNDONE else 202
        return shown_step(step, of.grace, now(), words=_may_read(http))

    return router


def create_run_router(ports: Callable[[], RunPorts], gate: Gate) -> APIRouter:
    """Return the route that starts a job, for the operator, behind ``gate``. ``ports`` is called once per request."""
    router = _router(gate)

    @router.post(
        "/sleep/run",
        status_code=202,
        responses=refusals(401, 403, 409, 413, 422, 503, 507),
        summary="Run a job of the sleep cycle now",
        operation_id="run_sleep_job",
    )
    async def post_run(request: SleepRun, http: Request) -> SleepRunStarted:
        of, caller = ports(), caller_of(http)
        caller.require_operator(of.tenant)
        await start_job(of, request.job, caller.key)
        return SleepRunStarted(job=request.job)

    return router


def _router(gate: Gate) -> APIRouter:
    return APIRouter(route_class=gate.route(Right.ADMIN), tags=["sleep"], dependencies=[Security(bearer_scheme)])


def _may_read(http: Request) -> bool:
    return Right.RETRIEVE in caller_of(http).rights
