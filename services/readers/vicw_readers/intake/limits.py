"""What readers hold in memory, and how far archives may expand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

OUT_OF_MEMORY = 77
"""Exit code of a process that reads files when its memory is at an end. Here, for who waits for one loads no reader."""
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The limits in bytes, characters and numbers; ``archive_expansion`` is unpacked bytes for each packed one.

    ``archive_bytes`` and ``member_bytes`` are never too much, however well they are packed.
    """

    text_bytes: int = 8 * _MIB
    line_bytes: int = 32 * _MIB
    value_chars: int = 64 * _MIB
    mail_bytes: int = 8 * _MIB
    archive_files: int = 200_000
    archive_bytes: int = 1024 * _MIB
    archive_expansion: int = 250
    member_bytes: int = 32 * _MIB
    copy_bytes: int = 1024 * _MIB


@cache
def limits() -> ReadLimits:
    """Return the limits of the settings, read once. Raises SettingsError."""
    from vicw_shared.settings import ReaderSettings
    from vicw_shared.settings.variables import named_by_variable

    with named_by_variable():
        settings = ReaderSettings()
    return ReadLimits(
        text_bytes=settings.text_mb * _MIB,
        line_bytes=settings.line_mb * _MIB,
        value_chars=settings.value_mb * _MIB,
        mail_bytes=settings.mail_mb * _MIB,
        archive_files=settings.archive_files,
        archive_bytes=settings.archive_mb * _MIB,
        archive_expansion=settings.archive_expansion,
        member_bytes=settings.member_mb * _MIB,
        copy_bytes=settings.copy_mb * _MIB,
    )
