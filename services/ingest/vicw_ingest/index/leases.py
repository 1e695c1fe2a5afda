"""Leases: claims on outbox entries, renewed while their holder works (docs/decisions/0007)."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from vicw_shared.errors import UnavailableError, VicwError
from vicw_shared.ports import Outbox, PendingPoint


@dataclass(frozen=True, slots=True)
class ClaimedEntries:
    """Claimed entries. ``since`` is an instant of the monotonic clock before the claim was requested.

    ``trace`` belongs to the first request that waits for some of them, if any.
    """

    points: Sequence[PendingPoint]
    since: float
    trace: Mapping[str, str] = field(default_factory=dict)


class Lease:
    """A claim that is renewed while its holder works, so that a slow model does not lose it."""

    def __init__(self, outbox: Outbox, claim: ClaimedEntries, seconds: float) -> None:
        self.points = list(claim.points)
        self._outbox = outbox
        self._seconds = seconds
        self._until = claim.since + seconds

    def require(self) -> None:
        """Raise UnavailableError if the claim has expired: another indexer may have written newer states by now."""
        if time.monotonic() > self._until:
            raise UnavailableError("graph", "the claim on a batch could not be renewed in time")

    def release(self, point_ids: Collection[str]) -> None:
        """Stop renewing these points, which were given back."""
        self.points = [point for point in self.points if point.point_id not in point_ids]

    @contextlib.asynccontextmanager
    async def renewed(self) -> AsyncIterator[None]:
        """Renew the claim in the background while the block runs."""
        task = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            task.cancel()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._seconds / 3)
            started, points = time.monotonic(), self.points
            with contextlib.suppress(VicwError):  # retried at the next interval; ``require`` detects expiry
                renewed = await self._outbox.renew(points, seconds=self._seconds)
                if renewed < len(points) and points is self.points:
                    self._until = float("-inf")
                    return
                self._until = started + self._seconds
