"""The door of the read path."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request, Response, Security

from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.search import RetrievalPorts
from vicw_shared.http import Gate, documented, tenant_of
from vicw_shared.model.keys import Right
from vicw_shared.wire.problem import Problem
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

_PROBLEMS: dict[int | str, dict[str, object]] = {
    401: {"model": Problem, "description": "No key that holds"},
    403: {"model": Problem, "description": "The key lacks the right"},
    413: {"model": Problem, "description": "Over a size limit"},
    422: {"model": Problem, "description": "A field is wrong"},
    503: {"model": Problem, "description": "A dependency is down"},
}


def create_router(ports: Callable[[], RetrievalPorts], gate: Gate) -> APIRouter:
    """Return the routes, which ``gate`` admits to. ``ports`` is asked at each request."""
    router = APIRouter(route_class=gate.route(Right.RETRIEVE), tags=["retrieve"], dependencies=[Security(documented)])

    @router.post("/retrieve", response_model=RetrieveResponse, responses=_PROBLEMS, summary="Ask for evidence")
    async def post_retrieve(request: RetrieveRequest, http: Request) -> Response:
        answer = await retrieve(request, tenant_of(http), ports())
        # Written as it is: validating a whole graph of our own once more costs a millisecond.
        return Response(answer.model_dump_json(by_alias=True), media_type="application/json")

    return router
