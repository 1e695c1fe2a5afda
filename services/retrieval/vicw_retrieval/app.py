"""Retrieval service: the read path's endpoints over the platform's engines."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import FastAPI

from vicw_retrieval.agent_hooks.api import create_hooks_router
from vicw_retrieval.agent_hooks.service import HookPorts
from vicw_retrieval.api import create_router
from vicw_retrieval.mcp.reader import RetrievalReader
from vicw_retrieval.patch.api import create_changes_router
from vicw_retrieval.webhooks.api import create_webhooks_router
from vicw_retrieval.wiring import RetrievalWiring
from vicw_runtime.mcp.port import McpPorts
from vicw_runtime.platform.app import create_platform_app
from vicw_runtime.upkeep.router import create_upkeep_router


def create_retrieval_app(wiring: RetrievalWiring) -> FastAPI:
    """Return the application; it starts and closes ``wiring``, which is open already."""
    hooks = HookPorts(lambda: wiring.ports, wiring.settings.hooks)  # no files: agents are on other machines
    return create_platform_app(
        wiring,
        [
            lambda gate: create_router(lambda: wiring.ports, gate),
            lambda gate: create_webhooks_router(lambda: wiring.webhooks, gate),
            lambda gate: create_hooks_router(hooks, lambda _, sent: wiring.writers.of(sent), gate),
            lambda gate: create_changes_router(lambda: wiring.writers, gate),
            lambda gate: create_upkeep_router(lambda: wiring.upkeep, gate),
        ],
        title="VICW retrieval",
        description="**Ask** with `POST /retrieve`: you get the right evidence with its causes, its order, who did "
        "it, and the raw text that proves it, within a budget you name.",
        version=version("vicw"),
        server=wiring.settings.server,
        oidc=wiring.settings.oidc,
        limits=wiring.settings.limits,
        mcp=McpPorts(
            lambda caller: RetrievalReader(wiring.ports, caller.tenant),
            lambda _, authorization: wiring.writers.of(authorization),
        ),
    )
