"""The ingest service: the write path's doors over the platform's engines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version

from fastapi import FastAPI

from vicw_ingest.api import create_router
from vicw_ingest.wiring import Wiring
from vicw_shared.adapters.platform import PROBED
from vicw_shared.http import Gate, create_app, is_loopback

_DESCRIPTION = """
**Remember** with `POST /ingest`: items become durable memory, with their causes, order, agents and proof.

Errors are RFC 9457 problem documents that name the field and the fix. Every answer carries `X-Request-ID`.
"""


def create_ingest_app(wiring: Wiring) -> FastAPI:
    """Return the application; it closes ``wiring``, which is open when it starts to answer."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        wiring.start_indexer()
        try:
            yield
        finally:
            await wiring.close()

    async def probe(name: str) -> None:
        await wiring.engines.probe(name)

    async def describe(tenant: str) -> dict[str, object]:
        return await wiring.engines.describe(tenant)

    server = wiring.settings.server
    gate = Gate(lambda: wiring.engines.graph.key_ring, required=not is_loopback(server.host), tenant=server.tenant)
    app = create_app(
        title="VICW ingest",
        description=_DESCRIPTION,
        version=version("vicw-ingest"),
        max_body_bytes=wiring.settings.limits.body_bytes,
        probes={name: partial(probe, name) for name in PROBED},
        lifespan=lifespan,
        gate=gate,
        describe=describe,
    )
    app.include_router(create_router(lambda: wiring.ports, gate))
    return app
