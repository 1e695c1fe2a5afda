"""What works on the stores of one process while nobody waits for it: it lets questions go first."""

from __future__ import annotations

from dataclasses import replace

from vicw_ingest.erasure.service import Eraser
from vicw_ingest.eviction.service import Capacity
from vicw_ingest.index.indexer import Indexer
from vicw_shared.adapters.sqlite.store import SqliteGraphStore
from vicw_shared.background_throttle import BackgroundThrottle, polite
from vicw_shared.indexes import Indexes
from vicw_shared.model import EdgeRegistry
from vicw_shared.throttled_indexes import polite_indexes
from vicw_sleep.consolidation.service import Consolidation, Told
from vicw_sleep.dream.service import Dream
from vicw_sleep.llm_requests import Asking
from vicw_sleep.resolve.service import Resolve
from vicw_standalone.settings import StandaloneSettings


class Maintenance:
    """The use cases of the sleep cycle over open stores. ``graph`` gives way, too."""

    def __init__(
        self,
        settings: StandaloneSettings,
        registry: EdgeRegistry,
        graph: SqliteGraphStore,
        indexes: Indexes,
        indexer: Indexer,
        *,
        courtesy: BackgroundThrottle,
        asking: Asking | None,
    ) -> None:
        self.graph = polite(graph, courtesy)
        self._settings = settings
        self._registry = registry
        self._unread = graph.unread
        self.indexes = indexes
        self._indexer = indexer
        self._courtesy = courtesy
        self._asking = asking

    def consolidation(self, told: Told | None = None) -> Consolidation:
        """Return what consolidates old Events; ``told`` hears of each batch."""
        made = Consolidation(
            self.graph,
            self._unread,
            polite_indexes(self.indexes, self._courtesy),
            self._registry,
            self._indexer,
            chunk_chars=self._settings.ingest.chunk_chars,
            asking=self._asking if self._settings.consolidation.llm else None,
            give_way=self._courtesy.give_way,
        )
        return made if told is None else replace(made, told=told)

    def dream(self) -> Dream:
        """Return what dreams of items."""
        return Dream(self.graph, polite_indexes(self.indexes, self._courtesy), self._registry, self._indexer)

    def capacity(self) -> Capacity:
        """Return what forgets for want of room."""
        return Capacity(self.graph, Eraser(self.graph, self.indexes, self._registry), self._indexer)

    def resolve(self) -> Resolve:
        """Return what merges duplicates."""
        return Resolve(self.graph, self._registry)
