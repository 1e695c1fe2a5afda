"""What the parsing of one document may take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Limits:
    """Address space in MiB, processor and waiting time in seconds, text and unpacked size in MiB, of one document."""

    memory_mb: int = 1024
    seconds: int = 60
    text_mb: int = 64
    unpacked_mb: int = 512


@cache
def limits_of_settings() -> Limits:
    """Return the limits of the settings, read once. Raises SettingsError."""
    from vicw_shared.settings import DocumentSettings
    from vicw_shared.settings.variables import named_by_variable

    with named_by_variable():
        settings = DocumentSettings()
    return Limits(settings.memory_mb, settings.seconds, settings.text_mb, settings.unpacked_mb)
