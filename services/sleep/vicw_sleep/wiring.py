"""Builds the sleep worker over the platform's engines."""

from __future__ import annotations

import contextlib

from vicw_shared.adapters.platform import Engines, open_engines
from vicw_shared.extensions import load_registries
from vicw_sleep.settings import Settings


class Wiring:
    """The open engines. Opened and closed by one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.engines: Engines
        self._stack = contextlib.AsyncExitStack()

    async def open(self) -> None:
        """Open everything, or nothing."""
        try:
            self.engines = await open_engines(self.settings.platform, load_registries().edges, self._stack)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close everything in reverse order. Safe to call twice."""
        await self._stack.aclose()
