"""The door of the read path."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Response

from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.search import RetrievalPorts
from vicw_shared.http import StrictRoute
from vicw_shared.wire.problem import Problem
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

_PROBLEMS: dict[int | str, dict[str, object]] = {
    413: {"model": Problem, "description": "Over a size limit"},
    422: {"model": Problem, "description": "A field is wrong"},
    503: {"model": Problem, "description": "A dependency is down"},
}


def create_router(ports: Callable[[], RetrievalPorts], tenant: Callable[[], str]) -> APIRouter:
    """Return the routes. ``ports`` and ``tenant`` are asked at each request."""
    router = APIRouter(route_class=StrictRoute, tags=["retrieve"])

    @router.post("/retrieve", response_model=RetrieveResponse, responses=_PROBLEMS, summary="Ask for evidence")
    async def post_retrieve(request: RetrieveRequest) -> Response:
        answer = await retrieve(request, tenant(), ports())
        # Written as it is: validating a whole graph of our own once more costs a millisecond.
        return Response(answer.model_dump_json(by_alias=True), media_type="application/json")

    return router
