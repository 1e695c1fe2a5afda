"""All settings of the one-process server, read once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from vicw_shared.errors import DataDirError
from vicw_shared.settings import (
    ConsolidationSettings,
    DreamSettings,
    EmbeddingSettings,
    EvictionSettings,
    HookSettings,
    ImportSettings,
    IngestSettings,
    LimitSettings,
    LlmSettings,
    LogSettings,
    MirrorSettings,
    OidcSettings,
    RerankSettings,
    ResolveSettings,
    RetrievalSettings,
    ServerSettings,
    SleepSettings,
    StorageSettings,
    TraceSettings,
    WebhookSettings,
)
from vicw_shared.settings.variables import named_by_variable

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
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)
    hooks: HookSettings = field(default_factory=HookSettings)
    oidc: OidcSettings = field(default_factory=OidcSettings)
    imports: ImportSettings = field(default_factory=ImportSettings)

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
            WebhookSettings(),
            HookSettings(),
            OidcSettings(),
            ImportSettings(),
        )

    @property
    def models_dir(self) -> Path:
        """Folder of the model files."""
        return self.embedding.models_dir or self.storage.data_dir / "models"


def read_settings(
    *, host: str | None = None, port: int | None = None, data_dir: Path | None = None, model: str | None = None
) -> StandaloneSettings:
    """Return the settings. Raises SettingsError that names the variable, its value and the fault, or DataDirError."""
    with named_by_variable():
        settings = StandaloneSettings.read()
        storage = StorageSettings() if data_dir is None else StorageSettings(data_dir=data_dir.expanduser().absolute())
    choices = storage.data_dir / CHOICES
    try:
        with named_by_variable(str(choices)):
            settings = replace(settings, storage=storage, embedding=EmbeddingSettings(_env_file=choices))
    except OSError as error:
        raise DataDirError(f"{storage.data_dir} cannot be used as data directory: {error.strerror}") from error
    server = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    if server:
        settings = replace(settings, server=settings.server.model_copy(update=server))
    if model is not None:
        settings = replace(settings, embedding=settings.embedding.model_copy(update={"model": model}))
    return settings
