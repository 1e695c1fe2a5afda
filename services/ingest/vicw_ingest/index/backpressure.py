"""Back-pressure: refuse new items while too many passages wait for their vectors.

Each tenant has its own limit besides the global one, so that one tenant's import does not block the others. An error
to a tenant contains no figures of other tenants.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from vicw_shared.errors import OverloadedError
from vicw_shared.ports import Outbox
from vicw_shared.settings import IngestSettings

_POLL_SECONDS = 1.0
_MAX_READINGS = 1000
_RETRY_AFTER_SECONDS = 10


@dataclass(slots=True)
class _BacklogReading:
    """Number of waiting passages at an instant of the monotonic clock."""

    waiting: int = 0
    at: float = float("-inf")


@dataclass(slots=True)
class Backpressure:
    """Refuse new work while over ``max_waiting`` passages wait for vectors, or ``max_waiting_of_tenant`` of a tenant.

    The counts, also those of each tenant, are cached for ``poll_seconds`` (one second).
    """

    outbox: Outbox
    max_waiting: int
    max_waiting_of_tenant: int
    poll_seconds: float = _POLL_SECONDS
    max_readings: int = _MAX_READINGS
    _readings: dict[str | None, _BacklogReading] = field(default_factory=dict)

    @classmethod
    def of(cls, outbox: Outbox, settings: IngestSettings) -> Backpressure:
        """Return back-pressure with the limits of the settings."""
        return cls(outbox, settings.max_backlog, settings.max_backlog_of_tenant)

    async def require_room(self, tenant: str) -> None:
        """Raise OverloadedError if too many passages wait, of this tenant or of all."""
        of_all = await self._waiting(None)
        own = await self._waiting(tenant) if of_all > self.max_waiting_of_tenant else 0
        if own > self.max_waiting_of_tenant:
            raise OverloadedError(
                f"{own} of your passages wait for their vectors; VICW_INGEST_MAX_BACKLOG and "
                f"VICW_INGEST_BACKLOG_SHARE allow {self.max_waiting_of_tenant}",
                retry_after_seconds=_RETRY_AFTER_SECONDS,
            )
        if of_all > self.max_waiting:
            raise OverloadedError(
                "too many passages wait for their vectors; VICW_INGEST_MAX_BACKLOG allows no more",
                retry_after_seconds=_RETRY_AFTER_SECONDS,
            )

    async def _waiting(self, tenant: str | None) -> int:
        """Return the number of waiting passages of a tenant, or of all (None), from the cache while it is fresh."""
        reading = self._readings[tenant] = self._readings.pop(
            tenant, _BacklogReading()
        )  # least recently used goes first
        if len(self._readings) > self.max_readings:
            del self._readings[next(iter(self._readings))]
        instant = time.monotonic()
        if instant - reading.at >= self.poll_seconds:
            reading.at = instant
            reading.waiting = (await self.outbox.backlog(tenant)).waiting
        return reading.waiting
