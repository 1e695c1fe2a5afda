"""Progress callbacks of long operations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

type Progress = Callable[[str, int, int], None]
"""Called with the step's name, the number done and the total (0: unknown)."""


def silent(step: str, done: int, total: int) -> None:
    """Ignore the progress."""


def from_threads(progress: Progress) -> Progress:
    """Return a callback for other threads that calls ``progress`` in the running event loop."""
    loop = asyncio.get_running_loop()

    def report(step: str, done: int, total: int) -> None:
        loop.call_soon_threadsafe(progress, step, done, total)

    return report
