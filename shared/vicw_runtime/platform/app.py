"""Application factory of a platform service: its own routes, and the endpoints of every service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from fastapi import APIRouter, FastAPI

from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.http import Gate, KeyGate, Probe, create_app
from vicw_runtime.mcp.endpoint import McpEndpoint
from vicw_runtime.mcp.port import McpPorts
from vicw_runtime.oidc.metadata import add_metadata
from vicw_runtime.oidc.token_verifier import TokenVerifier
from vicw_runtime.platform.engines import PROBED
from vicw_runtime.platform.wiring import PlatformWiring
from vicw_shared.settings import LimitSettings, OidcSettings, ServerSettings
from vicw_shared.wire.host_names import is_loopback


def create_platform_app(
    wiring: PlatformWiring,
    routers: Sequence[Callable[[Gate], APIRouter]],
    *,
    title: str,
    description: str,
    version: str,
    server: ServerSettings,
    oidc: OidcSettings,
    limits: LimitSettings,
    optional: Mapping[str, Probe] | None = None,
    mcp: McpPorts | None = None,
) -> FastAPI:
    """Return the application with the routes of ``routers``; it starts and closes ``wiring``, which is open already.

    ``optional`` are probes of dependencies that the service can do without. ``mcp``: it has a door for agents, too.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await wiring.start()
        try:
            yield
        finally:
            if agents is not None:
                await agents.close()
            if tokens is not None:
                await tokens.close()
            await wiring.close()

    async def probe(name: str) -> None:
        await wiring.engines.probe(name)

    async def describe(tenant: str | None) -> dict[str, object]:
        return await wiring.engines.describe(tenant)

    tokens = TokenVerifier.of(oidc, server.tenant)
    gate = KeyGate(
        lambda: wiring.engines.graph.key_ring,
        required=not is_loopback(server.host),
        tenant=server.tenant,
        tokens=tokens,
    )
    app = create_app(
        title=title,
        description=f"{description}\n\n{_ERRORS}",
        version=version,
        limits=limits,
        probes={name: partial(probe, name) for name in PROBED},
        lifespan=lifespan,
        guard=BrowserGuard.of(server),
        optional={**(optional or {}), **({"issuer": tokens.probe} if tokens is not None else {})},
        gate=gate,
        describe=describe,
    )
    for router in routers:
        app.include_router(router(gate))
    agents = McpEndpoint(mcp, gate, limits.body_bytes) if mcp is not None else None
    if agents is not None:
        agents.mount(app)
    if tokens is not None:
        add_metadata(app, oidc)
    return app


_ERRORS = "Errors are RFC 9457 problem documents that name the field and the fix. Every answer carries `X-Request-ID`."
