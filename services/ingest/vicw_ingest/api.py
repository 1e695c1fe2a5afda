"""The doors of the write path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Header, Response

from vicw_ingest.pipeline import IngestPorts, ingest, job_status
from vicw_shared.http import StrictRoute
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.problem import Problem

_PROBLEMS: dict[int | str, dict[str, object]] = {
    409: {"model": Problem, "description": "Contradicts an earlier request"},
    413: {"model": Problem, "description": "Over a size limit"},
    422: {"model": Problem, "description": "A field is wrong; nothing was stored"},
    503: {"model": Problem, "description": "A dependency is down"},
    507: {"model": Problem, "description": "The disk is full; nothing was stored"},
}


def create_router(ports: Callable[[], IngestPorts], tenant: Callable[[], str]) -> APIRouter:
    """Return the routes. ``ports`` and ``tenant`` are asked at each request."""
    router = APIRouter(route_class=StrictRoute, tags=["ingest"])

    @router.post(
        "/ingest",
        status_code=201,
        responses={**_PROBLEMS, 202: {"model": IngestResponse, "description": "Durable; found a little later"}},
        summary="Remember items",
    )
    async def post_ingest(
        request: IngestRequest,
        response: Response,
        idempotency_key: Annotated[
            str | None, Header(min_length=1, max_length=255, description="Makes a request safe to send twice")
        ] = None,
    ) -> IngestResponse:
        outcome, found = await ingest(request, tenant(), ports(), idempotency_key=idempotency_key)
        response.status_code = 201 if found else 202
        return outcome

    @router.get("/ingest/jobs/{job}", responses={404: {"model": Problem}}, summary="How far is a job?")
    async def get_job(job: str) -> JobStatus:
        return await job_status(job, tenant(), ports())

    return router
