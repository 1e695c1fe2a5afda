"""What a request to erase selects: the use case behind ``POST /forget``."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_ingest.erasure.jobs import ErasureJobs, selected
from vicw_ingest.erasure.selection import (
    ErasureSelection,
    choose_by_filter,
    choose_context,
    choose_items,
    choose_person,
    choose_tenant,
    choose_user,
)
from vicw_shared.errors import FieldProblem, InvalidInputError, MissingRecordError, StateConflictError
from vicw_shared.ports import Store
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.forget import EraseRequest, Erasure

_FIX = "Name items, filter, user, person or context alone"


async def erase(
    request: EraseRequest,
    tenant: str,
    jobs: ErasureJobs,
    *,
    limits: LimitSettings,
    wait_seconds: float,
    key: str | None = None,
) -> Erasure:
    """Select, and begin to erase; return the erasure as it is when it is proven or the wait is over.

    Raises InvalidInputError for a request that names nothing or too much, MissingRecordError for an unknown item,
    user, person or context, and a filter that nothing passes; StateConflictError for an ambiguous one. Nothing is
    erased then.
    """
    problems = list(_problems(request, limits.items))
    if problems:
        raise InvalidInputError(*problems)
    chosen = await _choose(request, tenant, jobs.eraser.graph, limits)
    if chosen.is_only_mentioned:
        raise StateConflictError("No item is by or about this person: `mentions` also erases items that mention it")
    if request.dry_run:
        return selected(chosen)
    if chosen.is_empty:
        raise MissingRecordError("No item passes the filter")
    begun = await jobs.begin(chosen, key=key)
    assert begun.erasure is not None
    return await jobs.wait(tenant, begun.erasure, wait_seconds) if request.wait else begun


def _problems(request: EraseRequest, max_items: int) -> Iterator[FieldProblem]:
    named = [name for name in ("items", "filter", "user", "person") if getattr(request, name) is not None]
    if len(named) > 1:
        yield FieldProblem(named[1], f"stands beside {named[0]}", _FIX)
    elif named and named != ["filter"] and request.all:
        yield FieldProblem("all", f"stands beside {named[0]}", f"{_FIX}, or `all` for everything")
    elif not named and request.context is None and not request.all:
        yield FieldProblem("all", "is not true, and nothing else is named", f"{_FIX}; `all` erases the whole tenant")
    if request.items is not None and len(request.items) > max_items:
        yield FieldProblem(
            "items",
            f"has {len(request.items)} items, over the limit of {max_items}",
            "Send them in several requests, or raise VICW_MAX_ITEMS",
        )
    if request.everywhere and request.person is None:
        yield FieldProblem("everywhere", "has no person beside it", "Name a person, or leave it out")
    if request.mentions and request.person is None and request.user is None:
        yield FieldProblem("mentions", "has no person or user beside it", "Name one, or leave it out")


async def _choose(request: EraseRequest, tenant: str, graph: Store, limits: LimitSettings) -> ErasureSelection:
    if request.filter is not None:
        return await choose_by_filter(graph, tenant, request.filter, request.context, limits, everything=request.all)
    if request.items is not None:
        return await choose_items(graph, tenant, request.items, request.context)
    if request.user is not None:
        return await choose_user(graph, tenant, request.user, request.context, with_mentions=request.mentions)
    if request.person is not None:
        return await choose_person(
            graph,
            tenant,
            request.person,
            request.context,
            everywhere=request.everywhere,
            with_mentions=request.mentions,
        )
    if request.context is None:
        return await choose_tenant(graph, tenant)
    chosen = await choose_context(graph, tenant, request.context)
    if not request.all and len(await graph.contexts(tenant)) == 1:
        raise InvalidInputError(
            FieldProblem("all", f"is not true, and {request.context!r} is all there is", "Send `all` as well")
        )
    return chosen
