"""Settings: one frozen class per concern, each read once, in wiring, from ``VICW_…`` variables."""

from vicw_shared.settings.concerns import (
    MAX_POLL_SECONDS,
    EmbeddingSettings,
    IngestSettings,
    LimitSettings,
    LogSettings,
    ReindexSettings,
    ServerSettings,
    SleepSettings,
    StorageSettings,
    WorkerSettings,
)
from vicw_shared.settings.consolidation import ConsolidationSettings
from vicw_shared.settings.dream import DreamSettings
from vicw_shared.settings.engines import Neo4jSettings, QdrantSettings, RedisSettings
from vicw_shared.settings.eviction import EvictionSettings
from vicw_shared.settings.llm import LlmSettings
from vicw_shared.settings.mirror import MirrorSettings
from vicw_shared.settings.rerank import RerankSettings
from vicw_shared.settings.resolve import ResolveSettings
from vicw_shared.settings.retrieval import RetrievalSettings
from vicw_shared.settings.telemetry import MetricsSettings, TraceSettings

__all__ = [
    "MAX_POLL_SECONDS",
    "ConsolidationSettings",
    "DreamSettings",
    "EmbeddingSettings",
    "EvictionSettings",
    "IngestSettings",
    "LimitSettings",
    "LlmSettings",
    "LogSettings",
    "MetricsSettings",
    "MirrorSettings",
    "Neo4jSettings",
    "QdrantSettings",
    "RedisSettings",
    "ReindexSettings",
    "RerankSettings",
    "ResolveSettings",
    "RetrievalSettings",
    "ServerSettings",
    "SleepSettings",
    "StorageSettings",
    "TraceSettings",
    "WorkerSettings",
]
