"""Ports of the read path: engines and settings, and the time budget of each per request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from vicw_retrieval.relevance.calibration import Calibration, load_calibrations
from vicw_retrieval.request.engines import CircuitBreaker, Deadline
from vicw_retrieval.request.usage_counter import UsageCounter
from vicw_runtime.background_throttle import BackgroundThrottle
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import DomainCounts, Embedder, GraphStore, Outbox, Reranker, SleepLog, Store, VectorStore
from vicw_shared.settings import LimitSettings, RetrievalSettings


@dataclass(frozen=True, slots=True)
class RetrievalPorts:
    """Engines and settings of the read path. ``query_prefix`` is the embedding model's.

    ``rebuilding``: the vector index lacks data that the graph has. ``loading``: the embedder cannot answer yet; full
    text answers, as while rebuilding. Without vectors, ``words`` counts domains, and the graph's full text is the
    only channel of the first wave. A ``reranker``, if any, reorders the first results.
    ``converting``: words of some passages are those of an earlier version, so a search by words may miss them.
    ``calibration`` has the constants of relevance for the embedding model, by default those of words alone.
    ``outbox`` knows the passages that no vector search finds yet; None: nobody asks for them.
    ``log`` has what was said of items; None: nothing is.
    ``unfinished`` is the store whose work that goes on is counted; None: nobody asks.
    ``disk_bytes`` returns the size of the stores' files, of all tenants; None: they are not on this machine.
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
    converting: bool = field(default=False, kw_only=True)
    registry: EdgeRegistry = field(default_factory=EdgeRegistry.with_core_types)
    loading: bool = False
    words: DomainCounts | None = None
    reranker: Reranker | None = None
    outbox: Outbox | None = None
    log: SleepLog | None = None
    unfinished: Store | None = None
    uses: UsageCounter | None = None
    disk_bytes: Callable[[], int] | None = None
    throttle: BackgroundThrottle = field(default_factory=BackgroundThrottle)
    deadline: Deadline = field(default_factory=Deadline)
    calibration: Calibration = field(default_factory=lambda: load_calibrations().words)

    @property
    def vectors_incomplete(self) -> bool:
        """Whether the vectors cannot answer as they should: full text does."""
        return self.rebuilding or self.loading
