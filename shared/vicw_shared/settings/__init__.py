"""Settings: one frozen class per concern, each read once, in wiring, from ``VICW_…`` variables."""

from vicw_shared.settings.agent_hooks import HookSettings
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
    WebhookSettings,
    WorkerSettings,
)
from vicw_shared.settings.documents import DocumentSettings
from vicw_shared.settings.engines import Neo4jSettings, QdrantSettings, RedisSettings
from vicw_shared.settings.imports import ImportSettings
from vicw_shared.settings.mcp import McpSettings
from vicw_shared.settings.model_servers import LlmSettings, RerankSettings
from vicw_shared.settings.oidc import OidcSettings
from vicw_shared.settings.readers import ReaderSettings
from vicw_shared.settings.retrieval import RetrievalSettings
from vicw_shared.settings.sleep_cycle import (
    ConsolidationSettings,
    DreamSettings,
    EvictionSettings,
    MirrorSettings,
    ResolveSettings,
)
from vicw_shared.settings.telemetry import MetricsSettings, TraceSettings

__all__ = [
    "MAX_POLL_SECONDS",
    "ConsolidationSettings",
    "DocumentSettings",
    "DreamSettings",
    "EmbeddingSettings",
    "EvictionSettings",
    "HookSettings",
    "ImportSettings",
    "IngestSettings",
    "LimitSettings",
    "LlmSettings",
    "LogSettings",
    "McpSettings",
    "MetricsSettings",
    "MirrorSettings",
    "Neo4jSettings",
    "OidcSettings",
    "QdrantSettings",
    "ReaderSettings",
    "RedisSettings",
    "ReindexSettings",
    "RerankSettings",
    "ResolveSettings",
    "RetrievalSettings",
    "ServerSettings",
    "SleepSettings",
    "StorageSettings",
    "TraceSettings",
    "WebhookSettings",
    "WorkerSettings",
]
