"""HTTP endpoints of the write path."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response, Security

from vicw_ingest.audit.api import add_audit_route
from vicw_ingest.erasure.requests.api import add_erasure_routes
from vicw_ingest.identity.api import add_entity_routes
from vicw_ingest.knowledge.page_list import list_pages
from vicw_ingest.patch.api import add_patch_routes
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_ingest.response.job_status import job_status
from vicw_ingest.versions.replacement import supersede
from vicw_ingest.versions.retraction import retract
from vicw_runtime.http import Gate, bearer_scheme, caller_of, refusals, tenant_of
from vicw_shared.model.keys import Right
from vicw_shared.wire.examples import story
from vicw_shared.wire.ingest import IngestRequest, IngestResponse, JobStatus
from vicw_shared.wire.knowledge import KnowledgeQuery, KnownPages
from vicw_shared.wire.retract import RetractRequest, RetractResponse
from vicw_shared.wire.supersede import SupersedeRequest, SupersedeResponse

_TAGS: list[str | Enum] = ["ingest"]


def create_router(ports: Callable[[], IngestPorts], gate: Gate) -> APIRouter:
    """Return the routes, protected by ``gate``. Each request calls ``ports`` anew."""
    router = APIRouter(route_class=gate.route(Right.INGEST), dependencies=[Security(bearer_scheme)])

    @router.post(
        "/ingest",
        tags=_TAGS,
        status_code=201,
        responses={
            **refusals(401, 403, 409, 413, 422, 429, 503, 507),
            202: {"model": IngestResponse, "description": "Durable; found a little later"},
        },
        summary="Store items",
        operation_id="ingest",
    )
    async def post_ingest(
        request: IngestRequest,
        http: Request,
        response: Response,
        idempotency_key: Annotated[
            str | None,
            Header(
                min_length=1,
                max_length=255,
                description="Makes a request safe to send twice",
                examples=["chapter-3-draft-2"],
            ),
        ] = None,
    ) -> IngestResponse:
        outcome, is_findable = await ingest(
            request, tenant_of(http), ports(), idempotency_key=idempotency_key, key=caller_of(http).key
        )
        response.status_code = 201 if is_findable else 202
        return outcome

    @router.post(
        "/items/retract",
        responses={
            **refusals(401, 403, 413, 422, 429, 503, 507),
            202: {"model": RetractResponse, "description": "Durable; the vector store follows a little later"},
        },
        summary="Retract items",
        operation_id="retract_items",
    )
    async def post_retract(request: RetractRequest, http: Request, response: Response) -> RetractResponse:
        outcome, settled = await retract(request, tenant_of(http), ports(), key=caller_of(http).key)
        response.status_code = 200 if settled else 202
        return outcome

    @router.post(
        "/supersede",
        tags=["items"],
        responses={
            **refusals(401, 403, 404, 409, 413, 422, 429, 503, 507),
            202: {"model": SupersedeResponse, "description": "Durable; the vector store follows a little later"},
        },
        summary="State that an item replaces another",
        operation_id="supersede_item",
    )
    async def post_supersede(request: SupersedeRequest, http: Request, response: Response) -> SupersedeResponse:
        outcome, settled = await supersede(request, tenant_of(http), ports(), key=caller_of(http).key)
        response.status_code = 200 if settled else 202
        return outcome

    @router.get(
        "/ingest/jobs/{job}",
        tags=_TAGS,
        responses=refusals(401, 403, 404, 422, 503),
        summary="Get a job's status",
        operation_id="get_job",
    )
    async def get_job(job: Annotated[str, Path(examples=[story.JOB])], http: Request) -> JobStatus:
        stores = ports()
        return await job_status(
            job, tenant_of(http), stores.graph, stores.record, stores.outbox, stores.pending_extractions
        )

    @router.get(
        "/knowledge",
        tags=_TAGS,
        responses=refusals(401, 403, 422, 503),
        summary="List a knowledge folder's pages",
        operation_id="list_pages",
    )
    async def get_knowledge(http: Request, query: Annotated[KnowledgeQuery, Query()]) -> KnownPages:
        return await list_pages(ports().graph, tenant_of(http), query)

    add_patch_routes(router, ports)
    add_erasure_routes(router, ports, gate)
    add_audit_route(router, ports, gate)
    add_entity_routes(router, ports)
    return router
