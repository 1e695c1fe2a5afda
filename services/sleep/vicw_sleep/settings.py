"""All settings of the sleep worker and its clock, read once."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_runtime.platform.settings import PlatformSettings
from vicw_shared.settings import (
    ConsolidationSettings,
    DreamSettings,
    EvictionSettings,
    IngestSettings,
    LlmSettings,
    LogSettings,
    MetricsSettings,
    MirrorSettings,
    RedisSettings,
    ResolveSettings,
    ServerSettings,
    SleepSettings,
    TraceSettings,
    WorkerSettings,
)
from vicw_shared.settings.variables import named_by_variable


@dataclass(frozen=True, slots=True)
class SleepServiceSettings:
    """All settings of the sleep worker and its clock."""

    server: ServerSettings
    platform: PlatformSettings
    ingest: IngestSettings
    llm: LlmSettings
    redis: RedisSettings
    sleep: SleepSettings
    consolidation: ConsolidationSettings
    dream: DreamSettings
    eviction: EvictionSettings
    resolve: ResolveSettings
    mirror: MirrorSettings
    worker: WorkerSettings
    log: LogSettings
    metrics: MetricsSettings
    traces: TraceSettings

    @classmethod
    def read(cls) -> SleepServiceSettings:
        """Read the environment. Raises SettingsError."""
        with named_by_variable():
            return cls(
                ServerSettings(),
                PlatformSettings.read(),
                IngestSettings(),
                LlmSettings(),
                RedisSettings(),
                SleepSettings(),
                ConsolidationSettings(),
                DreamSettings(),
                EvictionSettings(),
                ResolveSettings(),
                MirrorSettings(),
                WorkerSettings(),
                LogSettings(),
                MetricsSettings(),
                TraceSettings(),
            )
