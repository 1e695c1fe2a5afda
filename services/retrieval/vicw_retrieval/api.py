"""Endpoints of the read path."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request, Response, Security

from vicw_retrieval.feedback.api import create_feedback_router
from vicw_retrieval.items.api import create_items_router
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.profile.api import create_profile_router
from vicw_retrieval.traversal.api import create_graph_router
from vicw_runtime.http import Gate, bearer_scheme, refusals, tenant_of
from vicw_shared.model.keys import Right
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse


def create_router(ports: Callable[[], RetrievalPorts], gate: Gate) -> APIRouter:
    """Return the routes behind ``gate``. ``ports`` is called once per request."""
    router = APIRouter(
        route_class=gate.route(Right.RETRIEVE), tags=["retrieve"], dependencies=[Security(bearer_scheme)]
    )

    @router.post(
        "/retrieve",
        response_model=RetrieveResponse,
        responses=refusals(401, 403, 413, 422, 503),
        summary="Retrieve evidence",
        operation_id="retrieve",
    )
    async def post_retrieve(request: RetrieveRequest, http: Request) -> Response:
        open_ports = ports()
        with open_ports.throttle.foreground_request():
            answer = await retrieve(request, tenant_of(http), open_ports)
        # Serialised directly: validating a whole graph of our own again costs a millisecond.
        return Response(answer.model_dump_json(by_alias=True), media_type="application/json")

    router.include_router(create_feedback_router(ports, gate))
    router.include_router(create_items_router(ports, gate))
    router.include_router(create_profile_router(ports, gate))
    router.include_router(create_graph_router(ports, gate))
    return router
