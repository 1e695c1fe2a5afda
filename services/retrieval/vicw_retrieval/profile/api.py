"""Endpoint of a person's profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response, Security

from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.profile.person import read_profile
from vicw_runtime.http import Gate, bearer_scheme, refusals, tenant_of
from vicw_shared.model.keys import Right
from vicw_shared.wire.examples import story
from vicw_shared.wire.people import PersonProfile, ProfileQuery


def create_profile_router(ports: Callable[[], RetrievalPorts], gate: Gate) -> APIRouter:
    """Return the route behind ``gate``. ``ports`` is called once per request."""
    router = APIRouter(
        route_class=gate.route(Right.RETRIEVE),
        tags=["people"],
        dependencies=[Security(bearer_scheme)],
        responses=refusals(401, 403, 404, 422, 503),
    )

    @router.get(
        "/people/{uid}/profile",
        operation_id="get_profile",
        response_model=PersonProfile,
        summary="Get what a person told of themself",
    )
    async def get_profile(
        uid: Annotated[str, Path(examples=[story.ANA])], http: Request, query: Annotated[ProfileQuery, Query()]
    ) -> Response:
        answer = await read_profile(uid, query, tenant_of(http), ports())
        return Response(answer.model_dump_json(), media_type="application/json")

    return router
