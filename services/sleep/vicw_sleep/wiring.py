"""Builds the sleep worker over the platform's engines."""

from __future__ import annotations

from dataclasses import replace

from vicw_shared.adapters.celery_queue import CeleryQueue
from vicw_shared.platform.wiring import PlatformWiring
from vicw_sleep.consolidation.consolidating import Consolidation, Told
from vicw_sleep.settings import Settings


class Wiring(PlatformWiring):
    """The open engines."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.platform)
        self._chunk_chars = settings.ingest.chunk_chars
        self._queue = CeleryQueue(settings.redis)
        self._stack.push_async_callback(self._queue.close)

    def consolidation(self, told: Told | None = None) -> Consolidation:
        """Return what folds old Events; ``told`` hears of each batch."""
        graph, indexes = self.engines.graph, self.engines.indexes
        made = Consolidation(graph, graph.unread, indexes, self.registry, self._queue, chunk_chars=self._chunk_chars)
        return made if told is None else replace(made, told=told)

    async def wake(self) -> None:
        """Tell the workers that passages have to follow."""
        await self._queue.wake()
