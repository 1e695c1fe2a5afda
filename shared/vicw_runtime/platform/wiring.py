"""Base wiring of a platform service: the engines, opened and closed in one event loop."""

from __future__ import annotations

import contextlib

from vicw_core.background import start_background_task
from vicw_runtime.platform.engines import Engines, open_engines
from vicw_runtime.platform.settings import PlatformSettings
from vicw_shared.extensions import load_registries


class PlatformWiring:
    """The open engines; a service adds its own components."""

    def __init__(self, settings: PlatformSettings) -> None:
        self.registry = load_registries().edges
        self.engines: Engines
        self._platform = settings
        self._stack = contextlib.AsyncExitStack()

    async def open(self) -> None:
        """Open the engines and build the components; after an error, nothing stays open."""
        try:
            self.engines = await open_engines(self._platform, self.registry, self._stack)
            await self._build()
        except BaseException:
            await self.close()
            raise

    async def start(self) -> None:
        """Start the background tasks of the running service; ``close`` ends them."""
        start_background_task(self.engines.indexes.follow(), self._stack, "indexes")

    async def _build(self) -> None:
        """Build the components that use the open engines."""

    async def close(self) -> None:
        """Close all resources in reverse order. Safe to call twice."""
        await self._stack.aclose()
