"""Endpoint of feedback on results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request, Security

from vicw_retrieval.feedback.service import give_feedback, list_feedback
from vicw_retrieval.ports import RetrievalPorts
from vicw_runtime.http import Gate, bearer_scheme, refusals, tenant_of
from vicw_shared.model.keys import Right
from vicw_shared.wire.feedback import Feedback, FeedbackPage, FeedbackQuery, FeedbackRequest


def create_feedback_router(ports: Callable[[], RetrievalPorts], gate: Gate) -> APIRouter:
    """Return the route behind ``gate``. ``ports`` is called once per request."""
    router = APIRouter(
        route_class=gate.route(Right.RETRIEVE), tags=["retrieve"], dependencies=[Security(bearer_scheme)]
    )

    @router.post(
        "/feedback",
        status_code=201,
        responses=refusals(401, 403, 404, 413, 422, 503, 507),
        summary="Say that a result was useful or wrong",
        operation_id="give_feedback",
    )
    async def post_feedback(request: FeedbackRequest, http: Request) -> Feedback:
        return await give_feedback(request, tenant_of(http), ports())

    @router.get(
        "/feedback",
        responses=refusals(401, 403, 422, 503),
        summary="List what was said of items",
        operation_id="list_feedback",
    )
    async def get_feedback(http: Request, query: Annotated[FeedbackQuery, Query()]) -> FeedbackPage:
        return await list_feedback(query, tenant_of(http), ports())

    return router
