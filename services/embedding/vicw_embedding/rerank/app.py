"""``POST /v1/rerank``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response, Security

from vicw_embedding.rerank.engine import RerankEngine
from vicw_embedding.serving import CLIENT_GONE, unless_gone
from vicw_shared import http
from vicw_shared.errors import TooLargeError
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.rerank import RerankRequest, RerankResponse, RerankRow


def create_app(engine: RerankEngine, gate: http.Gate, limits: LimitSettings, documents: int) -> FastAPI:
    """Return the application over a loaded model, which it frees when it stops; ``gate`` admits to it.

    A request may have so many ``documents``.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(engine.close)

    async def alive() -> None:
        """Answer: a process that does has its model."""

    app = http.create_app(
        title="VICW re-ranking",
        description="One cross-encoder in a GGUF file: how well each text answers a question.",
        version=version("vicw-embedding"),
        limits=limits,
        probes={"model": alive},
        lifespan=lifespan,
        gate=gate,
    )
    router = APIRouter(prefix="/v1", route_class=gate.route(None), dependencies=[Security(http.documented)])

    @router.post("/rerank", response_model=RerankResponse, responses=http.refusals(401, 413, 422, 429, 503))
    async def rerank(body: RerankRequest, request: Request) -> RerankResponse | Response:
        if len(body.documents) > documents:
            raise TooLargeError(f"{len(body.documents)} documents in one request; VICW_RERANK_DOCUMENTS is {documents}")
        scores = await unless_gone(request, engine.rerank(body.query, body.documents))
        if scores is None:
            return Response(status_code=CLIENT_GONE)
        rows = [RerankRow(index=at, relevance_score=score) for at, score in enumerate(scores)]
        rows.sort(key=lambda row: -row.relevance_score)
        return RerankResponse(results=rows[: body.top_n], model=engine.name)

    @router.get("/models", responses=http.refusals(401))
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": engine.name, "object": "model"}]}

    app.include_router(router)
    return app
