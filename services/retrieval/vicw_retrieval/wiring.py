"""Builds the retrieval service over the platform's engines."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from vicw_retrieval.search import RetrievalPorts
from vicw_retrieval.settings import Settings
from vicw_shared.adapters.platform import Engines, PlatformSettings, open_engines
from vicw_shared.extensions import load_registries


class Wiring:
    """The open engines, and what works with them. Opened and closed by one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.engines: Engines
        self.ports: RetrievalPorts
        self._stack = contextlib.AsyncExitStack()

    async def open(self) -> None:
        """Open everything, or nothing."""
        try:
            self.engines = await open_engines(self._patient(), load_registries().edges, self._stack)
        except BaseException:
            await self.close()
            raise
        engines = self.engines
        self.ports = RetrievalPorts(
            engines.graph,
            engines.vectors,
            engines.embedder,
            engines.query_prefix,
            self.settings.limits,
            self.settings.retrieval,
        )

    def _patient(self) -> PlatformSettings:
        """Return the engines' settings with no more patience for the graph than a question has."""
        platform, seconds = self.settings.platform, self.settings.retrieval.graph_ms / 1000
        neo4j = platform.neo4j
        most = {
            name: min(getattr(neo4j, name), seconds) for name in ("acquire_seconds", "query_seconds", "retry_seconds")
        }
        return replace(platform, neo4j=neo4j.model_copy(update=most))

    async def close(self) -> None:
        """Close everything in reverse order. Safe to call twice."""
        await self._stack.aclose()
