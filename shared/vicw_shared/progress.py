"""Callbacks of long operations: their progress, and the yield between two steps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

type Progress = Callable[[str, int, int], None]
"""Called with the step's name, the number done and the total (0: unknown)."""


type Yield = Callable[[], Awaitable[None]]
"""Awaited between two steps."""


async def yield_to_event_loop() -> None:
    """Yield to the event loop only, without throttling."""
    await asyncio.sleep(0)


def silent(step: str, done: int, total: int) -> None:
    """Ignore the progress."""


def from_threads(progress: Progress) -> Progress:
    """Return a callback for other threads that calls ``progress`` in the running event loop."""
    loop = asyncio.get_running_loop()

    def report(step: str, done: int, total: int) -> None:
        loop.call_soon_threadsafe(progress, step, done, total)

    return report
