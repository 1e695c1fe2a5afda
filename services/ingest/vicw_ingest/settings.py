"""Settings of the ingest service and its worker, read once."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_runtime.platform.settings import PlatformSettings
from vicw_shared.settings import (
    EvictionSettings,
    ImportSettings,
    IngestSettings,
    LimitSettings,
    LlmSettings,
    LogSettings,
    MetricsSettings,
    OidcSettings,
    RedisSettings,
    ServerSettings,
    SleepSettings,
    TraceSettings,
    WorkerSettings,
)
from vicw_shared.settings.variables import named_by_variable


@dataclass(frozen=True, slots=True)
class IngestServiceSettings:
    """All settings of the ingest service and its worker."""

    server: ServerSettings
    platform: PlatformSettings
    redis: RedisSettings
    limits: LimitSettings
    ingest: IngestSettings
    eviction: EvictionSettings
    sleep: SleepSettings
    llm: LlmSettings
    worker: WorkerSettings
    log: LogSettings
    metrics: MetricsSettings
    traces: TraceSettings
    oidc: OidcSettings
    imports: ImportSettings

    @classmethod
    def read(cls) -> IngestServiceSettings:
        """Read the environment. Raises SettingsError."""
        with named_by_variable():
            return cls(
                ServerSettings(),
                PlatformSettings.read(),
                RedisSettings(),
                LimitSettings(),
                IngestSettings(),
                EvictionSettings(),
                SleepSettings(),
                LlmSettings(),
                WorkerSettings(),
                LogSettings(),
                MetricsSettings(),
                TraceSettings(),
                OidcSettings(),
                ImportSettings(),
            )
