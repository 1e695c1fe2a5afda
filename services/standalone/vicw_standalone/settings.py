"""All settings of the one-process server, read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from vicw_shared.settings import (
    ConsolidationSettings,
    DreamSettings,
    EmbeddingSettings,
    EvictionSettings,
    IngestSettings,
    LimitSettings,
    LlmSettings,
    LogSettings,
    MirrorSettings,
    RerankSettings,
    ResolveSettings,
    RetrievalSettings,
    ServerSettings,
    SleepSettings,
    StorageSettings,
    TraceSettings,
)

CHOICES = "vicw.env"
"""File of a data directory with the choice of `vicw model use`; the environment overrides it."""


@dataclass(frozen=True, slots=True)
class StandaloneSettings:
    """All settings of the one-process server."""

    server: ServerSettings
    storage: StorageSettings
    limits: LimitSettings
    embedding: EmbeddingSettings
    ingest: IngestSettings
    retrieval: RetrievalSettings
    log: LogSettings
    traces: TraceSettings
    llm: LlmSettings = field(default_factory=LlmSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    mirror: MirrorSettings = field(default_factory=MirrorSettings)
    sleep: SleepSettings = field(default_factory=SleepSettings)
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    dream: DreamSettings = field(default_factory=DreamSettings)
    eviction: EvictionSettings = field(default_factory=EvictionSettings)
    resolve: ResolveSettings = field(default_factory=ResolveSettings)

    @classmethod
    def read(cls) -> StandaloneSettings:
        """Read the environment."""
        return cls(
            ServerSettings(),
            StorageSettings(),
            LimitSettings(),
            EmbeddingSettings(),
            IngestSettings(),
            RetrievalSettings(),
            LogSettings(),
            TraceSettings(),
            LlmSettings(),
            RerankSettings(),
            MirrorSettings(),
            SleepSettings(),
            ConsolidationSettings(),
            DreamSettings(),
            EvictionSettings(),
            ResolveSettings(),
        )

    @property
    def models_dir(self) -> Path:
        """Folder of the model files."""
        return self.embedding.models_dir or self.storage.data_dir / "models"
