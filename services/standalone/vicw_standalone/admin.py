"""Admin endpoints: change of the embedding model, vectors for an export."""

from __future__ import annotations

import base64
from collections.abc import Callable
from uuid import UUID

from fastapi import APIRouter, Security

from vicw_runtime.http import PROBES, Gate, bearer_scheme, refusals
from vicw_runtime.indexes import Index
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model.keys import Right
from vicw_shared.wire.admin import (
    DroppedIndexes,
    PointVectors,
    ReindexRequest,
    ReindexResult,
    ReindexState,
    VectorsRequest,
)
from vicw_sleep.reindex.background import BackgroundReindexing


def create_router(
    reindexing: Callable[[], BackgroundReindexing],
    index: Callable[[], Index],
    gate: Gate,
) -> APIRouter:
    """Return the routes; ``gate`` requires the right ``admin``."""
    router = APIRouter(
        prefix="/admin", route_class=gate.route(Right.ADMIN), tags=["admin"], dependencies=[Security(bearer_scheme)]
    )

    @router.post(
        "/reindex",
        status_code=202,
        responses=refusals(401, 403, 409, 413, 422, 503),
        summary="Change the embedding model, or rebuild the index",
    )
    async def post_reindex(request: ReindexRequest) -> ReindexState:
        await reindexing().start(request.model)
        return await _state(reindexing())

    @router.get("/reindex", responses=refusals(401, 403), tags=[PROBES], summary="Get the progress of a model change")
    async def get_reindex() -> ReindexState:
        return await _state(reindexing())

    @router.delete("/reindex/old", responses=refusals(401, 403, 409), summary="Remove unused indexes")
    async def delete_old() -> DroppedIndexes:
        return DroppedIndexes(models=tuple(map(str, await reindexing().drop_old())))

    @router.post("/vectors", responses=refusals(401, 403, 413, 422, 503), summary="Get points' vectors")
    async def post_vectors(request: VectorsRequest) -> PointVectors:
        used = index()
        rows = await used.vectors.dense([_uid(number, given) for number, given in enumerate(request.ids)])
        vectors = {uid: base64.b64encode(row.astype("<f4").tobytes()).decode() for uid, row in rows.items()}
        return PointVectors(model=used.model.key, vectors=vectors)

    return router


def _uid(number: int, text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError as error:
        problem = FieldProblem(f"ids[{number}]", "is not a UUID", "Send the ids of points")
        raise InvalidInputError(problem) from error


async def _state(reindexing: BackgroundReindexing) -> ReindexState:
    work, status = reindexing.work, await reindexing.status()
    before = work.result.before if work.result is not None else None
    result = work.result and ReindexResult(
        model=work.result.model.name,
        before=str(before) if before is not None and before.has_vectors else None,
        embedded=work.result.embedded,
        passages=work.result.passages,
    )
    return ReindexState(
        running=work.running,
        phase=work.phase,
        done=work.done,
        total=work.total,
        error=work.error,
        result=result,
        status=tuple(status.lines()),
    )
