"""Ports of the read path: engines and settings, and the time budget of each per request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from vicw_retrieval.request.engines import CircuitBreaker, Deadline, bounded, cached_graph
from vicw_retrieval.request.usage_counter import UsageCounter
from vicw_runtime.background_throttle import BackgroundThrottle
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import Embedder, GraphStore, Reranker, VectorStore, WordIndex
from vicw_shared.settings import LimitSettings, RetrievalSettings

_AMONG = 256
"""Edges per node and spread from which the heaviest are chosen, in stores that do not sort them."""


@dataclass(frozen=True, slots=True)
class RetrievalPorts:
    """Engines and settings of the read path. ``query_prefix`` is the embedding model's.

    ``rebuilding``: the vector index lacks data that the graph has. Without vectors, ``words`` has the word statistics,
    and the graph's full text is the only channel of the first wave. A ``reranker``, if any, reorders the first results.
    ``uses`` counts shown items. ``throttle`` makes background work yield. ``outage`` lives as long as the process.
    """

    graph: GraphStore
    vectors: VectorStore
    embedder: Embedder
    query_prefix: str
    limits: LimitSettings
    settings: RetrievalSettings
    outage: CircuitBreaker
    rebuilding: bool = False
    registry: EdgeRegistry = field(default_factory=EdgeRegistry.with_core_types)
    words: WordIndex | None = None
    reranker: Reranker | None = None
    uses: UsageCounter | None = None
    throttle: BackgroundThrottle = field(default_factory=BackgroundThrottle)
    deadline: Deadline = field(default_factory=Deadline)

    def for_request(self, *, viewed: bool, deadline: Deadline | None = None) -> RetrievalPorts:
        """Return the ports of one request that begins now: all calls end in time, and no graph read happens twice.

        Hubs are not read completely, except for a viewer: invisible edges must not take the places of visible ones.
        ``deadline``: that of an earlier attempt.
        """
        settings = self.settings
        deadline = deadline or Deadline.in_ms(settings.total_ms or settings.channel_ms + settings.graph_ms)
        graph = cached_graph(bounded(self.graph, "graph", deadline, settings.graph_ms), None if viewed else _AMONG)
        words = bounded(self.words, "graph", deadline, settings.graph_ms) if self.words is not None else None
        vectors = bounded(self.vectors, "vectors", deadline, settings.channel_ms)
        return replace(self, graph=graph, words=words, vectors=vectors, deadline=deadline)
