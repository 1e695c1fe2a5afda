"""The port to whoever works in the background."""

from __future__ import annotations

from typing import Protocol


class WorkQueue(Protocol):
    """Wakes workers. What there is to do is in the outbox, so that a lost wake-up loses nothing."""

    async def wake(self) -> None:
        """Tell whoever indexes that there is work. Never raises: they look by themselves, too, in a while."""
        ...
