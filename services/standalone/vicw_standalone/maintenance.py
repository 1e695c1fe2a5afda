"""Background work on the stores of one process, throttled so that questions run first."""

from __future__ import annotations

from dataclasses import replace

from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.eviction.service import Eviction
from vicw_ingest.index.indexer import Indexer
from vicw_runtime.background_throttle import BackgroundThrottle, throttled
from vicw_runtime.indexes import Indexes
from vicw_runtime.throttled_indexes import throttled_indexes
from vicw_shared.extensions import load_extractor
from vicw_shared.model import EdgeRegistry
from vicw_sleep.consolidation.llm_requests import LlmRequester
from vicw_sleep.consolidation.service import Consolidation, OnBatch
from vicw_sleep.dream.service import Dreamer
from vicw_sleep.resolve.service import EntityResolver
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.sqlite.store import SqliteGraphStore


class Maintenance:
    """The use cases of the sleep cycle over open stores. ``graph`` is throttled, too."""

    def __init__(
        self,
        settings: StandaloneSettings,
        registry: EdgeRegistry,
        graph: SqliteGraphStore,
        indexes: Indexes,
        indexer: Indexer,
        *,
        courtesy: BackgroundThrottle,
        asking: LlmRequester | None,
    ) -> None:
        self.graph = throttled(graph, courtesy)
        self._settings = settings
        self._registry = registry
        self._pending_extractions = graph.pending_extractions
        self.indexes = indexes
        self._indexer = indexer
        self._throttle = courtesy
        self._llm_requester = asking

    def consolidation(self, on_batch: OnBatch | None = None) -> Consolidation:
        """Return the consolidation; it calls ``on_batch`` for each batch."""
        made = Consolidation(
            self.graph,
            self._pending_extractions,
            throttled_indexes(self.indexes, self._throttle),
            self._registry,
            self._indexer,
            chunk_chars=self._settings.ingest.chunk_chars,
            llm=self._llm_requester if self._settings.consolidation.llm else None,
            yield_to_foreground=self._throttle.yield_to_foreground,
        )
        return made if on_batch is None else replace(made, on_batch=on_batch)

    def dream(self) -> Dreamer:
        """Return the dream job, which adds auto-tags."""
        extractor = load_extractor(self._settings.ingest.extractor)
        indexes = throttled_indexes(self.indexes, self._throttle)
        return Dreamer(self.graph, indexes, self._registry, self._indexer, extractor)

    def capacity(self) -> Eviction:
        """Return the eviction."""
        return Eviction(self.graph, Eraser(self.graph, self.indexes, self._registry), self._indexer)

    def resolve(self) -> EntityResolver:
        """Return the entity resolution."""
        return EntityResolver(self.graph, self._registry)
