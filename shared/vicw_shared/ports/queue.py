"""Work queue port: wakes background workers."""

from __future__ import annotations

from typing import Protocol


class WorkQueue(Protocol):
    """Wakes workers. The work itself is in the outbox, so a lost wake-up loses no work."""

    async def wake(self) -> None:
        """Wake the indexers. Never raises: indexers also poll the outbox."""
        ...
