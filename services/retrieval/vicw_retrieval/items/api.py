"""Endpoints that read items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response, Security

from vicw_retrieval.items.contexts import list_contexts
from vicw_retrieval.items.service import list_items, read_item
from vicw_retrieval.items.statistics import read_statistics
from vicw_retrieval.items.timeline import read_timeline
from vicw_retrieval.items.users import list_users
from vicw_retrieval.ports import RetrievalPorts
from vicw_runtime.http import Gate, bearer_scheme, caller_of, refusals, tenant_of
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model.keys import Right
from vicw_shared.wire.base import Id
from vicw_shared.wire.examples import story
from vicw_shared.wire.items import ContextPage, ContextsQuery, ItemDetails, ItemPage, ItemQueryById, ItemsQuery
from vicw_shared.wire.people import UserPage, UsersQuery
from vicw_shared.wire.stats import StatsQuery, StoreStats
from vicw_shared.wire.timeline import TimelineQuery


def create_items_router(ports: Callable[[], RetrievalPorts], gate: Gate) -> APIRouter:
    """Return the routes behind ``gate``. ``ports`` is called once per request."""
    router = APIRouter(
        route_class=gate.route(Right.RETRIEVE),
        tags=["items"],
        dependencies=[Security(bearer_scheme)],
        responses=refusals(401, 403, 404, 422, 503),
    )

    @router.get(
        "/items",
        operation_id="list_items",
        response_model=ItemPage | ItemDetails,
        summary="List items, or get one by your id",
    )
    async def get_items(http: Request, query: Annotated[ItemsQuery, Query()]) -> Response:
        answer: ItemPage | ItemDetails
        if query.id is None:
            answer = await list_items(query, tenant_of(http), ports())
        else:
            context = _context_of_id(query)
            answer = await read_item(query.id, query, tenant_of(http), ports(), context=context)
        return Response(answer.model_dump_json(), media_type="application/json")

    @router.get("/items/{uid}", operation_id="get_item", response_model=ItemDetails, summary="Get an item, whole")
    async def get_item(
        uid: Annotated[str, Path(examples=[story.BETRAYAL_UID])],
        http: Request,
        query: Annotated[ItemQueryById, Query()],
    ) -> Response:
        answer = await read_item(uid, query, tenant_of(http), ports(), context=query.context)
        return Response(answer.model_dump_json(), media_type="application/json")

    @router.get("/contexts", operation_id="list_contexts", response_model=ContextPage, summary="List contexts")
    async def get_contexts(http: Request, query: Annotated[ContextsQuery, Query()]) -> Response:
        answer = await list_contexts(query, tenant_of(http), ports())
        return Response(answer.model_dump_json(), media_type="application/json")

    @router.get(
        "/contexts/{context:path}/timeline",  # names of contexts have slashes
        operation_id="get_timeline",
        response_model=ItemPage,
        summary="List a context's items in order of time",
    )
    async def get_timeline(
        context: Annotated[Id, Path(examples=[story.NOVEL])], http: Request, query: Annotated[TimelineQuery, Query()]
    ) -> Response:
        answer = await read_timeline(context, query, tenant_of(http), ports())
        return Response(answer.model_dump_json(), media_type="application/json")

    @router.get("/users", operation_id="list_users", response_model=UserPage, summary="List who speaks")
    async def get_users(http: Request, query: Annotated[UsersQuery, Query()]) -> Response:
        answer = await list_users(query, tenant_of(http), ports())
        return Response(answer.model_dump_json(), media_type="application/json")

    @router.get("/stats", operation_id="get_stats", response_model=StoreStats, summary="Count what is stored")
    async def get_stats(http: Request, query: Annotated[StatsQuery, Query()]) -> Response:
        caller = caller_of(http)
        of_disk = Right.ADMIN in caller.rights and caller.is_operator(gate.operator)
        answer = await read_statistics(query, caller.tenant, ports(), of_disk=of_disk)
        return Response(answer.model_dump_json(), media_type="application/json")

    return router


def _context_of_id(query: ItemsQuery) -> str:
    """Return the context of the `id` that a query names. Raises InvalidInputError without one, and for what chooses
    among items besides: the answer would not be what was asked for."""
    unread = sorted(query.model_fields_set - ItemQueryById.model_fields.keys() - {"id"})
    problems = [
        FieldProblem(name, "chooses among items, and `id` names one", f"Leave out {name} or id") for name in unread
    ]
    if query.context is None:
        problems.insert(0, FieldProblem("context", "is missing: an id is unique only inside a context", "Add it"))
    if problems or query.context is None:
        raise InvalidInputError(*problems)
    return query.context
