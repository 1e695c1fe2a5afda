"""Settings, one small frozen class a concern, each read once in wiring from ``VICW_…`` variables."""

from vicw_shared.settings.concerns import (
    EmbeddingSettings,
    IngestSettings,
    LimitSettings,
    LogSettings,
    QdrantSettings,
    RetrievalSettings,
    ServerSettings,
    SleepSettings,
    StorageSettings,
)

__all__ = [
    "EmbeddingSettings",
    "IngestSettings",
    "LimitSettings",
    "LogSettings",
    "QdrantSettings",
    "RetrievalSettings",
    "ServerSettings",
    "SleepSettings",
    "StorageSettings",
]
