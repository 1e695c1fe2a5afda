"""Wiring of the retrieval service over the platform's engines."""

from __future__ import annotations

from dataclasses import replace

from vicw_core.background import start_background_task
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.relevance.calibration import load_calibrations
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_retrieval.request.usage_counter import UsageCounter
from vicw_retrieval.settings import RetrievalServiceSettings
from vicw_retrieval.webhooks.sender import WebhookSender
from vicw_retrieval.webhooks.service import WebhookPorts
from vicw_runtime.mcp.http_writer import HttpWriters
from vicw_runtime.model_servers.http_reranker import HttpReranker, open_reranker
from vicw_runtime.platform.wiring import PlatformWiring
from vicw_runtime.upkeep.service import UpkeepPorts
from vicw_runtime.webhooks.http_receiver import HttpWebhookReceiver


class RetrievalWiring(PlatformWiring):
    """The open engines, and the ports of the read path."""

    def __init__(self, settings: RetrievalServiceSettings) -> None:
        # No question waits longer for the graph.
        super().__init__(replace(settings.platform, graph_seconds=settings.retrieval.graph_ms / 1000))
        self.settings = settings
        self._outage = CircuitBreaker()
        self._uses = UsageCounter() if settings.retrieval.count_uses else None
        self._receiver = HttpWebhookReceiver(settings.webhooks)
        self._reranker: HttpReranker | None = None
        self._calibrations = load_calibrations(settings.retrieval.relevance_file)
        self.writers = HttpWriters(settings.mcp)

    async def _build(self) -> None:
        self._stack.push_async_callback(self._receiver.close)
        if self.settings.rerank.enabled:
            self._reranker = open_reranker(self.settings.rerank)
            self._stack.push_async_callback(self._reranker.close)
        self._stack.push_async_callback(self.writers.close)

    async def start(self) -> None:
        """Start the background tasks of the service; ``close`` ends them."""
        await super().start()
        if self._uses is not None:
            start_background_task(self._uses.keep_flushing(self.engines.graph.uses), self._stack, "uses")
        if self.settings.webhooks.enabled:
            sender = WebhookSender(self.engines.graph.webhooks, lambda: self.ports, self._receiver)
            start_background_task(sender.run(), self._stack, "webhooks")

    @property
    def ports(self) -> RetrievalPorts:
        """The ports of a new request: the engines in use now."""
        indexes = self.engines.indexes
        index = indexes.read_index
        return RetrievalPorts(
            self.engines.graph,
            index.vectors,
            index.embedder,
            index.query_prefix,
            self.settings.limits,
            self.settings.retrieval,
            self._outage,
            indexes.rebuilding is not None,
            self.registry,
            converting=indexes.models.converting,
            reranker=self._reranker,
            outbox=self.engines.graph.outbox,
            log=self.engines.graph.log,
            unfinished=self.engines.graph,
            uses=self._uses,
            calibration=self._calibrations.of(index.model),
        )

    @property
    def webhooks(self) -> WebhookPorts:
        """What makes and lists webhooks."""
        return WebhookPorts(self.engines.graph, self._receiver, self.settings.webhooks)

    @property
    def upkeep(self) -> UpkeepPorts:
        """What tells of the sleep cycle and of the two stores."""
        indexes = self.engines.indexes
        return UpkeepPorts(self.engines.graph, self.settings, indexes.read_index.model.has_vectors, indexes.rebuilding)
