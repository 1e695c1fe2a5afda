"""The FastAPI application of the embedding server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI

from vicw_embedding import api
from vicw_runtime import http

if TYPE_CHECKING:
    from vicw_embedding.wiring import ServedModel
    from vicw_runtime.browser_guard import BrowserGuard
    from vicw_shared.settings import LimitSettings


def create_app(served: ServedModel, gate: http.Gate, limits: LimitSettings, guard: BrowserGuard | None) -> FastAPI:
    """Return the application over a loaded model, which it frees when it stops.

    ``gate`` checks the key, ``guard`` what browsers send (None: no browser reaches the socket).
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(served.close)

    app = http.create_app(
        title="VICW embedding",
        description="One embedding model, a lane for queries and one for bulk, on the OpenAI embeddings protocol.",
        version=version("vicw"),
        limits=limits,
        probes={"model": served.batcher.check},
        lifespan=lifespan,
        guard=guard,
        gate=gate,
    )
    app.state.served = served
    app.include_router(api.create_router(gate))
    return app
