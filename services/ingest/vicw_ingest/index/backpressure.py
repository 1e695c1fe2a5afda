"""Back-pressure: no more is taken in than can be worked off (design: "Write path").

Each tenant has a limit of its own beside that of all, so that what one imports does not close the door for the others;
and what is said to a tenant has no figure of anybody else's in it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from vicw_shared.errors import OverloadedError
from vicw_shared.ports import Outbox
from vicw_shared.settings import IngestSettings

_LOOK_AGAIN_SECONDS = 1.0
_MOST_LOOKS = 1000
_RETRY_AFTER_SECONDS = 10


@dataclass(slots=True)
class _BacklogReading:
    """What waited at an instant of the monotonic clock."""

    waiting: int = 0
    at: float = float("-inf")


@dataclass(slots=True)
class Backpressure:
    """Refuses new work while more than ``most`` passages wait for their vectors, or ``most_of_tenant`` of a tenant.

    Looks once a second, at each tenant too.
    """

    outbox: Outbox
    most: int
    most_of_tenant: int
    look_seconds: float = _LOOK_AGAIN_SECONDS
    most_looks: int = _MOST_LOOKS
    _looks: dict[str | None, _BacklogReading] = field(default_factory=dict)

    @classmethod
    def of(cls, outbox: Outbox, settings: IngestSettings) -> Backpressure:
        """Return one with the limits of the settings."""
        return cls(outbox, settings.max_backlog, settings.max_backlog_of_tenant)

    async def require_room(self, tenant: str) -> None:
        """Raise OverloadedError if too much waits."""
        of_all = await self._waiting(None)
        own = await self._waiting(tenant) if of_all > self.most_of_tenant else 0
        if own > self.most_of_tenant:
            raise OverloadedError(
                f"{own} of your passages wait for their vectors; VICW_INGEST_MAX_BACKLOG and "
                f"VICW_INGEST_BACKLOG_SHARE allow {self.most_of_tenant}",
                retry_after_seconds=_RETRY_AFTER_SECONDS,
            )
        if of_all > self.most:
            raise OverloadedError(
                "too many passages wait for their vectors; VICW_INGEST_MAX_BACKLOG allows no more",
                retry_after_seconds=_RETRY_AFTER_SECONDS,
            )

    async def _waiting(self, tenant: str | None) -> int:
        """Return what waits, of a tenant or of all."""
        look = self._looks[tenant] = self._looks.pop(tenant, _BacklogReading())  # who asked last is forgotten last
        if len(self._looks) > self.most_looks:
            del self._looks[next(iter(self._looks))]
        instant = time.monotonic()
        if instant - look.at >= self.look_seconds:
            look.at = instant
            look.waiting = (await self.outbox.backlog(tenant)).waiting
        return look.waiting
