"""Progress callbacks of long operations."""

from __future__ import annotations

from collections.abc import Callable

type Progress = Callable[[str, int, int], None]
"""Called with the step's name, the number done and the total (0: unknown)."""


def silent(step: str, done: int, total: int) -> None:
    """Ignore the progress."""
