"""Builds the sleep worker over the platform's engines."""

from __future__ import annotations

from dataclasses import replace

from vicw_runtime.background_throttle import RemoteLoadThrottle, throttled, yield_to_event_loop
from vicw_runtime.indexes import Indexes
from vicw_runtime.model_servers.openai_language import open_language_model
from vicw_runtime.platform.wiring import PlatformWiring
from vicw_runtime.queue.celery_queue import CeleryQueue
from vicw_runtime.throttled_indexes import throttled_indexes
from vicw_shared.extensions import load_extractor
from vicw_sleep.consolidation.llm_requests import LlmRequester, llm_requester
from vicw_sleep.consolidation.service import Consolidation, OnBatch
from vicw_sleep.dream.service import Dreamer
from vicw_sleep.resolve.service import EntityResolver
from vicw_sleep.settings import SleepServiceSettings
from vicw_stores.neo4j import Neo4jGraphStore


class SleepWiring(PlatformWiring):
    """The open engines."""

    def __init__(self, settings: SleepServiceSettings, *, gives_way: bool = False) -> None:
        """``gives_way``: throttle background work while the retrieval service answers questions."""
        super().__init__(settings.platform)
        self._gives_way = gives_way
        self._throttle: RemoteLoadThrottle | None = None
        self.settings = settings
        self._queue = CeleryQueue(settings.redis)
        self._stack.push_async_callback(self._queue.close)
        self._llm: LlmRequester | None = None
        if settings.llm.enabled and settings.consolidation.llm:
            model = open_language_model(settings.llm)
            self._stack.push_async_callback(model.close)
            self._llm = llm_requester(model, settings.llm)

    async def _build(self) -> None:
        if self._gives_way:
            self._throttle = RemoteLoadThrottle(
                self.engines.graph.uses.seconds_since_question, self.settings.sleep.rest_factor
            )

    @property
    def graph(self) -> Neo4jGraphStore:
        """The graph; throttled if the worker gives way."""
        graph = self.engines.graph
        return graph if self._throttle is None else throttled(graph, self._throttle)

    @property
    def indexes(self) -> Indexes:
        """The indexes; throttled if the worker gives way."""
        indexes = self.engines.indexes
        return indexes if self._throttle is None else throttled_indexes(indexes, self._throttle)

    def consolidation(self, on_batch: OnBatch | None = None) -> Consolidation:
        """Return the consolidation use case; ``on_batch`` is called for each batch."""
        consolidation = Consolidation(
            self.graph,
            self.engines.graph.pending_extractions,
            self.indexes,
            self.registry,
            self._queue,
            chunk_chars=self.settings.ingest.chunk_chars,
            llm=self._llm,
            yield_to_foreground=yield_to_event_loop if self._throttle is None else self._throttle.yield_to_foreground,
        )
        return consolidation if on_batch is None else replace(consolidation, on_batch=on_batch)

    def dream(self) -> Dreamer:
        """Return the use case that adds auto-tags."""
        extractor = load_extractor(self.settings.ingest.extractor)
        return Dreamer(self.graph, self.indexes, self.registry, self._queue, extractor)

    def resolve(self) -> EntityResolver:
        """Return the use case that merges duplicate entities."""
        return EntityResolver(self.graph, self.registry)

    async def wake(self) -> None:
        """Wake the workers that index passages."""
        await self._queue.wake()
