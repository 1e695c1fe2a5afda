"""The doors of the write path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response, Security

from vicw_ingest.pipeline import IngestPorts, ingest, job_status
from vicw_shared.http import Gate, documented, tenant_of
from vicw_shared.model.keys import Right
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.problem import Problem

_PROBLEMS: dict[int | str, dict[str, object]] = {
    401: {"model": Problem, "description": "No key that holds"},
    403: {"model": Problem, "description": "The key lacks the right"},
    409: {"model": Problem, "description": "Contradicts an earlier request"},
    413: {"model": Problem, "description": "Over a size limit"},
    422: {"model": Problem, "description": "A field is wrong; nothing was stored"},
    429: {"model": Problem, "description": "Too much work is waiting; try again after a while"},
    503: {"model": Problem, "description": "A dependency is down"},
    507: {"model": Problem, "description": "The disk is full; nothing was stored"},
}


def create_router(ports: Callable[[], IngestPorts], gate: Gate) -> APIRouter:
    """Return the routes, which ``gate`` admits to. ``ports`` is asked at each request."""
    router = APIRouter(route_class=gate.route(Right.INGEST), tags=["ingest"], dependencies=[Security(documented)])

    @router.post(
        "/ingest",
        status_code=201,
        responses={**_PROBLEMS, 202: {"model": IngestResponse, "description": "Durable; found a little later"}},
        summary="Remember items",
    )
    async def post_ingest(
        request: IngestRequest,
        http: Request,
        response: Response,
        idempotency_key: Annotated[
            str | None, Header(min_length=1, max_length=255, description="Makes a request safe to send twice")
        ] = None,
    ) -> IngestResponse:
        outcome, found = await ingest(request, tenant_of(http), ports(), idempotency_key=idempotency_key)
        response.status_code = 201 if found else 202
        return outcome

    @router.get("/ingest/jobs/{job}", responses={404: {"model": Problem}}, summary="How far is a job?")
    async def get_job(job: str, http: Request) -> JobStatus:
        return await job_status(job, tenant_of(http), ports().record, ports().outbox)

    return router
