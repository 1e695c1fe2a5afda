"""Endpoints of the graph."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request, Response, Security

from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.traversal import questions
from vicw_retrieval.traversal.service import Question, ask
from vicw_runtime.http import Gate, bearer_scheme, refusals, tenant_of
from vicw_shared.model.keys import Right
from vicw_shared.wire.graph import (
    FindRequest,
    FlowRequest,
    GraphAnswer,
    GraphQuestion,
    HistoryRequest,
    NodeQuestion,
    WalkRequest,
)


def create_graph_router(ports: Callable[[], RetrievalPorts], gate: Gate) -> APIRouter:
    """Return the routes behind ``gate``. ``ports`` is called once per request."""
    router = APIRouter(
        prefix="/graph",
        route_class=gate.route(Right.RETRIEVE),
        tags=["graph"],
        dependencies=[Security(bearer_scheme)],
        responses=refusals(401, 403, 413, 422, 503),
    )

    async def put[R: GraphQuestion](
        question: Question[R], request: R, http: Request, *, ignore_validity: bool = False
    ) -> Response:
        answer = await ask(question, request, tenant_of(http), ports(), ignore_validity=ignore_validity)
        return Response(answer.model_dump_json(), media_type="application/json")

    @router.post(
        "/find", response_model=GraphAnswer, summary="Find nodes by uid, id or name", operation_id="graph_find"
    )
    async def post_find(request: FindRequest, http: Request) -> Response:
        return await put(questions.find, request, http)

    @router.post("/walk", response_model=GraphAnswer, summary="Walk from nodes", operation_id="graph_walk")
    async def post_walk(request: WalkRequest, http: Request) -> Response:
        return await put(questions.walk_from, request, http)

    @router.post(
        "/about", response_model=GraphAnswer, summary="List the memories about a person", operation_id="graph_about"
    )
    async def post_about(request: NodeQuestion, http: Request) -> Response:
        return await put(questions.about, request, http)

    @router.post("/person", response_model=GraphAnswer, summary="Get a user's person", operation_id="graph_person")
    async def post_person(request: NodeQuestion, http: Request) -> Response:
        return await put(questions.person, request, http)

    @router.post("/users", response_model=GraphAnswer, summary="List a person's users", operation_id="graph_users")
    async def post_users(request: NodeQuestion, http: Request) -> Response:
        return await put(questions.users, request, http)

    @router.post("/merges", response_model=GraphAnswer, summary="List an entity's merges", operation_id="graph_merges")
    async def post_merges(request: NodeQuestion, http: Request) -> Response:
        return await put(questions.merges, request, http)

    @router.post(
        "/history", response_model=GraphAnswer, summary="List what replaced what", operation_id="graph_history"
    )
    async def post_history(request: HistoryRequest, http: Request) -> Response:
        return await put(questions.history, request, http, ignore_validity=True)

    @router.post("/flow", response_model=GraphAnswer, summary="Get a flow in its order", operation_id="graph_flow")
    async def post_flow(request: FlowRequest, http: Request) -> Response:
        return await put(questions.flow_in_order, request, http)

    return router
