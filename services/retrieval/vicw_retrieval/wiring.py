"""Builds the retrieval service over the platform's engines."""

from __future__ import annotations

import contextlib

from vicw_retrieval.search import RetrievalPorts
from vicw_retrieval.settings import Settings
from vicw_shared.adapters.platform import Engines, open_engines
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
            self.engines = await open_engines(self.settings.platform, load_registries().edges, self._stack)
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

    async def close(self) -> None:
        """Close everything in reverse order. Safe to call twice."""
        await self._stack.aclose()
