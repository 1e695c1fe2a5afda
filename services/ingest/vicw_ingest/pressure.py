"""Back-pressure: no more is taken in than can be worked off (design: "Write path")."""

from __future__ import annotations

import time
from dataclasses import dataclass

from vicw_shared.errors import OverloadedError
from vicw_shared.ports import Outbox

_LOOK_AGAIN_SECONDS = 1.0


@dataclass(slots=True)
class Pressure:
    """Refuses new work while more than ``most`` passages wait for their vectors. Looks once a second."""

    outbox: Outbox
    most: int
    _waiting: int = 0
    _looked_at: float = float("-inf")

    async def require_room(self) -> None:
        """Raise OverloadedError if too much waits."""
        instant = time.monotonic()
        if instant - self._looked_at >= _LOOK_AGAIN_SECONDS:
            self._looked_at = instant
            self._waiting = (await self.outbox.backlog()).waiting
        if self._waiting > self.most:
            raise OverloadedError(
                f"{self._waiting} passages wait for their vectors; VICW_INGEST_MAX_BACKLOG allows {self.most}",
                retry_after_seconds=10,
            )
