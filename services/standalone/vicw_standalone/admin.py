"""Admin endpoint: undo of sleep cycle steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Security

from vicw_runtime.http import Gate, bearer_scheme, refusals
from vicw_shared.model.keys import Right
from vicw_shared.wire.admin import (
    Undone,
    UndoRequest,
)


def create_router(
    undo: Callable[[str], Awaitable[str]],
    gate: Gate,
) -> APIRouter:
    """Return the routes; ``gate`` requires the right ``admin``. ``undo`` undoes a step and returns its message."""
    router = APIRouter(
        prefix="/admin", route_class=gate.route(Right.ADMIN), tags=["admin"], dependencies=[Security(bearer_scheme)]
    )

    @router.post(
        "/sleep/undo", responses=refusals(401, 403, 404, 413, 422, 503), summary="Undo a step of the sleep cycle"
    )
    async def post_undo(request: UndoRequest) -> Undone:
        return Undone(message=await undo(request.step))

    return router
