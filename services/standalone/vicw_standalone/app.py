"""The one-process server: ingest, retrieval and admin endpoints over the embedded stores."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import Depends, FastAPI

from vicw_embedding.process.supervisor import EmbeddingProcess
from vicw_ingest.api import create_router as ingest_router
from vicw_ingest.file_import.api import create_import_router
from vicw_ingest.mcp.writer import IngestWriter
from vicw_page.api import add_page
from vicw_retrieval.agent_hooks.api import create_hooks_router
from vicw_retrieval.agent_hooks.service import HookPorts
from vicw_retrieval.api import create_router as retrieval_router
from vicw_retrieval.mcp.reader import RetrievalReader
from vicw_retrieval.webhooks.api import create_webhooks_router
from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.http import Caller, KeyGate, create_app
from vicw_runtime.http.serve import serve_while_opening
from vicw_runtime.keys.router import create_keys_router
from vicw_runtime.keys.service import KeyPorts
from vicw_runtime.mcp.endpoint import McpEndpoint
from vicw_runtime.mcp.port import McpPorts
from vicw_runtime.oidc.metadata import add_metadata
from vicw_runtime.oidc.token_verifier import TokenVerifier
from vicw_runtime.upkeep.router import create_run_router, create_undo_router, create_upkeep_router
from vicw_shared.errors import UnavailableError
from vicw_shared.wire.host_names import is_loopback
from vicw_standalone.agent_hooks.local_files import LocalAgentFiles
from vicw_standalone.lifecycle.start import Probes, Start
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.wiring import Standalone

_DESCRIPTION = """
Long-term memory for LLM applications. **Store** with `POST /ingest`, **ask** with `POST /retrieve`: the answer is the
right evidence with its causes, its order, its people and the raw text that proves it, within a budget you choose.

Errors are RFC 9457 problem documents that name the field and the fix. Every answer carries `X-Request-ID`.
"""


def create_standalone_app(standalone: Standalone) -> FastAPI:
    """Return the application over ``standalone``, which it closes at the end. Until that is open, requests wait for
    it, and get 503 after ten seconds."""
    app, add_operations = create_starting_app(standalone)
    add_operations()
    return app


def create_starting_app(standalone: Standalone) -> tuple[FastAPI, Callable[[], None]]:
    """Return the application without its operations, and what adds them: they are slow to import and seldom called.

    Until they are added, they get 503.
    """
    closing = AsyncExitStack()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await closing.aclose()
            await standalone.close()

    server = standalone.settings.server
    probes = Probes(standalone)
    tokens = TokenVerifier.of(standalone.settings.oidc, server.tenant)
    gate = KeyGate(
        lambda: standalone.keys,
        required=not is_loopback(server.host),
        tenant=server.tenant,
        owner_token=lambda: standalone.owner_token,
        tokens=tokens,
    )

    async def probe_embedding() -> None:
        await probes.embedding()
        if too_early in app.router.routes:  # ready means all of the server
            raise UnavailableError("embedding", "the server is starting")

    app = create_app(
        title="VICW",
        description=_DESCRIPTION,
        version=version("vicw"),
        limits=standalone.settings.limits,
        probes={
            "embedding": probe_embedding,
            "graph": probes.graph,
            "vectors": probes.vectors,
        },
        lifespan=lifespan,
        optional={"issuer": tokens.probe} if tokens is not None else None,
        guard=BrowserGuard.of(server),
        gate=gate,
        describe=standalone.describe,
        more_metrics=standalone.embedding_metrics,
    )

    if tokens is not None:
        add_metadata(app, tokens.settings)
        closing.push_async_callback(tokens.close)

    def open_writer(caller: Caller, _: str | None) -> IngestWriter:
        return IngestWriter(standalone.ingest_ports(), caller.tenant, caller.key)

    opened = [Depends(standalone.gate.wait)]
    app.include_router(ingest_router(standalone.ingest_ports, gate), dependencies=opened)
    app.include_router(create_import_router(standalone.imports, gate), dependencies=opened)
    app.include_router(retrieval_router(standalone.retrieval_ports, gate), dependencies=opened)
    app.include_router(create_webhooks_router(standalone.webhooks, gate), dependencies=opened)
    app.include_router(create_hooks_router(_hook_ports(standalone), open_writer, gate), dependencies=opened)
    app.include_router(
        create_keys_router(lambda: KeyPorts(standalone.keys, standalone.graph), gate), dependencies=opened
    )
    app.include_router(create_upkeep_router(standalone.upkeep, gate), dependencies=opened)
    app.include_router(create_undo_router(standalone.undo, gate), dependencies=opened)
    app.include_router(create_run_router(standalone.runs, gate), dependencies=opened)

    mcp = McpEndpoint(
        McpPorts(
            lambda caller: RetrievalReader(standalone.retrieval_ports(), caller.tenant),
            open_writer,
        ),
        gate,
        standalone.settings.limits.body_bytes,
        standalone.gate.wait,
    )
    mcp.mount(app)
    add_page(app)
    closing.push_async_callback(mcp.close)

    @app.post("/admin/{name:path}", include_in_schema=False)
    async def post_too_early(name: str) -> None:
        raise UnavailableError("server", "it is starting; send the request again in a moment")

    too_early = app.router.routes[-1]

    def add_operations() -> None:
        from vicw_runtime.operations.router import OperationServer
        from vicw_standalone.operations import OPERATIONS

        operations = OperationServer(OPERATIONS, standalone.memory, server.tenant)
        closing.push_async_callback(operations.close)
        app.router.routes.remove(too_early)
        app.include_router(operations.router(gate))
        app.openapi_schema = None  # what was described until now lacks them

    return app, add_operations


def _hook_ports(standalone: Standalone) -> HookPorts:
    settings = standalone.settings.hooks
    files = LocalAgentFiles(settings) if is_loopback(standalone.settings.server.host) else None
    return HookPorts(standalone.retrieval_ports, settings, files, standalone.settings.server.tenant)


async def serve(settings: StandaloneSettings, listener: socket.socket, process: EmbeddingProcess | None) -> None:
    """Serve on ``listener`` until SIGTERM or SIGINT; ``process``, which has begun, may still be loading its model.

    Raises FatalError if the stores cannot be opened or the model cannot be loaded.
    """
    standalone = Standalone(settings, process=process)
    app, add_operations = create_starting_app(standalone)
    start = Start(standalone, add_operations, needs_key=not is_loopback(settings.server.host))
    announcement = f"VICW answers on {{url}} (API: /docs), data in {settings.storage.data_dir}"
    await serve_while_opening(app, start, listener, settings.server, announcement)
