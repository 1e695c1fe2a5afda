"""What questions need beside the stores: the re-ranker, and what one question leaves for the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.relevance.calibration import load_calibrations
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_retrieval.request.usage_counter import UsageCounter
from vicw_runtime.model_servers.http_reranker import HttpReranker, open_reranker
from vicw_shared.ports import NO_MODEL

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from vicw_runtime.background_throttle import BackgroundThrottle
    from vicw_runtime.indexes import Index, Indexes
    from vicw_shared.model import EdgeRegistry
    from vicw_standalone.settings import StandaloneSettings
    from vicw_stores.data_dir import DataDir
    from vicw_stores.sqlite import SqliteGraphStore


class ReadPath:
    """The read path of one process. ``uses``: the counter of uses; None if the settings count none."""

    def __init__(self, settings: StandaloneSettings, registry: EdgeRegistry) -> None:
        self.uses = UsageCounter() if settings.retrieval.count_uses else None
        self._settings = settings
        self._registry = registry
        self._outage = CircuitBreaker()
        self._reranker: HttpReranker | None = None
        self._calibrations = load_calibrations(settings.retrieval.relevance_file)

    def open(self, stack: AsyncExitStack) -> None:
        """Open the re-ranker of the settings if there is one, closed by ``stack``. Raises SettingsError."""
        if self._settings.rerank.enabled:
            self._reranker = open_reranker(self._settings.rerank)
            stack.push_async_callback(self._reranker.close)

    def ports(
        self,
        graph: SqliteGraphStore,
        indexes: Indexes,
        index: Index,
        throttle: BackgroundThrottle,
        *,
        loading: bool,
        data_dir: DataDir,
    ) -> RetrievalPorts:
        """Return the ports over ``index``; ``loading``: it or its model is not there yet, so words answer."""
        return RetrievalPorts(
            graph,
            index.vectors,
            index.embedder,
            index.query_prefix,
            self._settings.limits,
            self._settings.retrieval,
            self._outage,
            rebuilding=indexes.rebuilding is not None,
            converting=indexes.models.converting,
            loading=loading,
            words=graph if index.model == NO_MODEL else None,
            registry=self._registry,
            reranker=self._reranker,
            outbox=graph.outbox,
            log=graph.log,
            unfinished=graph,
            uses=self.uses,
            disk_bytes=data_dir.size,
            throttle=throttle,
            calibration=self._calibrations.words if loading else self._calibrations.of(index.model),
        )
