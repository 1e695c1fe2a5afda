"""All settings of the retrieval service, read once."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_runtime.platform.settings import PlatformSettings
from vicw_shared.settings import LimitSettings, LogSettings, RerankSettings, RetrievalSettings, ServerSettings
from vicw_shared.settings.variables import named_by_variable


@dataclass(frozen=True, slots=True)
class RetrievalServiceSettings:
    """All settings of the retrieval service."""

    server: ServerSettings
    platform: PlatformSettings
    limits: LimitSettings
    retrieval: RetrievalSettings
    log: LogSettings
    rerank: RerankSettings

    @classmethod
    def read(cls) -> RetrievalServiceSettings:
        """Read the environment. Raises SettingsError."""
        with named_by_variable():
            return cls(
                ServerSettings(),
                PlatformSettings.read(),
                LimitSettings(),
                RetrievalSettings(),
                LogSettings(),
                RerankSettings(),
            )
