"""The doors for whoever runs a server: its embedding model, the vectors that an export takes, its sleep cycle."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from uuid import UUID

from fastapi import APIRouter, Security

from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.http import PROBES, Gate, documented
from vicw_shared.indexes import Index
from vicw_shared.model.keys import Right
from vicw_shared.wire.problem import Problem
from vicw_shared.wire.reindex import DroppedIndexes, ReindexRequest, ReindexResult, ReindexState
from vicw_shared.wire.sleep import Undone, UndoRequest
from vicw_shared.wire.vectors import PointVectors, VectorsRequest
from vicw_standalone.reindex.online import Reindexing

_KEY: dict[int | str, dict[str, object]] = {
    401: {"model": Problem, "description": "No key that holds"},
    403: {"model": Problem, "description": "The key lacks the right"},
}
_BUSY: dict[int | str, dict[str, object]] = {409: {"model": Problem, "description": "A change is under way"}}
_GONE: dict[int | str, dict[str, object]] = {
    404: {"model": Problem, "description": "There is no such step, or it cannot be taken back"}
}
_WRONG: dict[int | str, dict[str, object]] = {
    413: {"model": Problem, "description": "Over a size limit"},
    422: {"model": Problem, "description": "The model cannot be had; nothing was begun"},
    503: {"model": Problem, "description": "A dependency is down"},
}


def create_router(
    reindexing: Callable[[], Reindexing],
    index: Callable[[], Index],
    undo: Callable[[str], Awaitable[str]],
    gate: Gate,
) -> APIRouter:
    """Return the routes, which ``gate`` admits to with the right ``admin``. ``undo`` takes a step back."""
    router = APIRouter(
        prefix="/admin", route_class=gate.route(Right.ADMIN), tags=["admin"], dependencies=[Security(documented)]
    )

    @router.post(
        "/reindex",
        status_code=202,
        responses=_KEY | _BUSY | _WRONG,
        summary="Change the embedding model, or mend the index",
    )
    async def post_reindex(request: ReindexRequest) -> ReindexState:
        await reindexing().start(request.model)
        return await _state(reindexing())

    @router.get("/reindex", responses=_KEY, tags=[PROBES], summary="How far is it?")
    async def get_reindex() -> ReindexState:
        return await _state(reindexing())

    @router.delete("/reindex/old", responses=_KEY | _BUSY, summary="Remove the indexes that are not in use")
    async def delete_old() -> DroppedIndexes:
        return DroppedIndexes(models=tuple(map(str, await reindexing().drop_old())))

    @router.post("/vectors", responses=_KEY | _WRONG, summary="The vectors of points, for an export")
    async def post_vectors(request: VectorsRequest) -> PointVectors:
        used = index()
        found = await used.vectors.dense([_uid(number, given) for number, given in enumerate(request.ids)])
        vectors = {uid: base64.b64encode(row.astype("<f4").tobytes()).decode() for uid, row in found.items()}
        return PointVectors(model=used.model.key, vectors=vectors)

    @router.post("/sleep/undo", responses=_KEY | _GONE | _WRONG, summary="Take a step of the sleep cycle back")
    async def post_undo(request: UndoRequest) -> Undone:
        return Undone(told=await undo(request.step))

    return router


def _uid(number: int, given: str) -> str:
    try:
        return str(UUID(given))
    except ValueError as error:
        problem = FieldProblem(f"ids[{number}]", "is no UUID", "Send the ids of points")
        raise InvalidInputError(problem) from error


async def _state(reindexing: Reindexing) -> ReindexState:
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
