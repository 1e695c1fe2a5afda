"""All settings of the retrieval service, read once."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_runtime.platform.settings import PlatformSettings
from vicw_runtime.schedule.jobs import schedules
from vicw_shared.clock import now
from vicw_shared.settings import (
    ConsolidationSettings,
    DreamSettings,
    EvictionSettings,
    HookSettings,
    LimitSettings,
    LogSettings,
    McpSettings,
    OidcSettings,
    RerankSettings,
    ResolveSettings,
    RetrievalSettings,
    ServerSettings,
    SleepSettings,
    WebhookSettings,
)
from vicw_shared.settings.variables import named_by_variable


@dataclass(frozen=True, slots=True)
class RetrievalServiceSettings:
    """All settings of the retrieval service. Those of the sleep cycle it only tells of."""

    server: ServerSettings
    platform: PlatformSettings
    limits: LimitSettings
    retrieval: RetrievalSettings
    log: LogSettings
    rerank: RerankSettings
    sleep: SleepSettings
    consolidation: ConsolidationSettings
    dream: DreamSettings
    eviction: EvictionSettings
    resolve: ResolveSettings
    mcp: McpSettings
    webhooks: WebhookSettings
    oidc: OidcSettings
    hooks: HookSettings

    @classmethod
    def read(cls) -> RetrievalServiceSettings:
        """Read the environment. Raises SettingsError, also for a schedule that is none."""
        with named_by_variable():
            settings = cls(
                ServerSettings(),
                PlatformSettings.read(),
                LimitSettings(),
                RetrievalSettings(),
                LogSettings(),
                RerankSettings(),
                SleepSettings(),
                ConsolidationSettings(),
                DreamSettings(),
                EvictionSettings(),
                ResolveSettings(),
                McpSettings(),
                WebhookSettings(),
                OidcSettings(),
                HookSettings(),
            )
        schedules(settings, now())
        return settings
