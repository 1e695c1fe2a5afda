"""Builds the sleep worker over the platform's engines."""

from __future__ import annotations

from dataclasses import replace

from vicw_shared.adapters.celery_queue import CeleryQueue
from vicw_shared.adapters.language_servers import open_language_model
from vicw_shared.platform.wiring import PlatformWiring
from vicw_sleep.asking import Asking, asking_of
from vicw_sleep.consolidation.consolidating import Consolidation, Told
from vicw_sleep.dream.dreaming import Dream
from vicw_sleep.resolve.resolving import Resolve
from vicw_sleep.settings import Settings


class Wiring(PlatformWiring):
    """The open engines."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.platform)
        self._settings = settings
        self._queue = CeleryQueue(settings.redis)
        self._stack.push_async_callback(self._queue.close)
        self._asking: Asking | None = None
        if settings.llm.enabled and (settings.consolidation.llm or settings.dream.llm):
            model = open_language_model(settings.llm)
            self._stack.push_async_callback(model.close)
            self._asking = asking_of(model, settings.llm)

    def consolidation(self, told: Told | None = None) -> Consolidation:
        """Return what folds old Events; ``told`` hears of each batch."""
        graph, indexes = self.engines.graph, self.engines.indexes
        made = Consolidation(
            graph,
            graph.unread,
            indexes,
            self.registry,
            self._queue,
            chunk_chars=self._settings.ingest.chunk_chars,
            asking=self._asking if self._settings.consolidation.llm else None,
        )
        return made if told is None else replace(made, told=told)

    def dream(self) -> Dream:
        """Return what dreams of items."""
        asking = self._asking if self._settings.dream.llm else None
        return Dream(self.engines.graph, self.engines.indexes, self.registry, self._queue, asking)

    def resolve(self) -> Resolve:
        """Return what merges duplicates."""
        return Resolve(self.engines.graph, self.registry)

    async def wake(self) -> None:
        """Tell the workers that passages have to follow."""
        await self._queue.wake()
