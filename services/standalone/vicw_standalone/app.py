"""The one-process server: ingest, retrieval and admin endpoints over the embedded stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

import structlog
from fastapi import FastAPI

from vicw_ingest.api import create_router as ingest_router
from vicw_retrieval.api import create_router as retrieval_router
from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.http import KeyGate, create_app
from vicw_runtime.http.serve import serve as serve_app
from vicw_runtime.operations.router import OperationServer
from vicw_shared.wire.host_names import is_loopback
from vicw_standalone.operations import OPERATIONS
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.wiring import Standalone

_log = structlog.get_logger()
_DESCRIPTION = """
Long-term memory for LLM applications. **Store** with `POST /ingest`, **ask** with `POST /retrieve`: the answer is the
right evidence with its causes, its order, its people and the raw text that proves it, within a budget you choose.

Errors are RFC 9457 problem documents that name the field and the fix. Every answer carries `X-Request-ID`.
"""


def create_standalone_app(standalone: Standalone) -> FastAPI:
    """Return the application. It starts the background work of the open ``standalone``, and closes it at the end."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await standalone.finish_erasures()
        standalone.start_indexer()
        if gate.required and not await standalone.keys.keys():
            _log.warning("requests need a key and none exists yet: `vicw keys create` creates one")
        try:
            yield
        finally:
            await operations.close()
            await standalone.close()

    server = standalone.settings.server
    operations = OperationServer(OPERATIONS, standalone.memory)
    gate = KeyGate(
        lambda: standalone.keys,
        required=not is_loopback(server.host),
        tenant=server.tenant,
        owner_token=lambda: standalone.data_dir.owner_token,
    )
    app = create_app(
        title="VICW",
        description=_DESCRIPTION,
        version=version("vicw"),
        limits=standalone.settings.limits,
        probes={
            "embedding": standalone.probe_embedding,
            "graph": standalone.probe_graph,
            "vectors": standalone.probe_vectors,
        },
        lifespan=lifespan,
        guard=BrowserGuard.of(server),
        gate=gate,
        describe=standalone.describe,
        more_metrics=standalone.embedding_metrics,
    )

    app.include_router(ingest_router(standalone.ingest_ports, gate))
    app.include_router(retrieval_router(standalone.retrieval_ports, gate))

    app.include_router(operations.router(gate))
    return app


async def serve(settings: StandaloneSettings) -> None:
    """Serve until SIGTERM or SIGINT. Raises FatalError before it answers if anything cannot be opened."""
    standalone = Standalone(settings)
    announcement = f"VICW answers on {{url}} (API: /docs), data in {settings.storage.data_dir}"
    await serve_app(
        create_standalone_app(standalone),
        standalone,
        settings.server,
        announcement,
        lambda url: standalone.data_dir.record_address(url),  # noqa: PLW0108 - data_dir is set by open()
    )
