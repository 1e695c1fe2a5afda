"""Claims on outbox entries: those of waiting requests first, held by renewed leases (docs/decisions/0007)."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from vicw_shared.errors import UnavailableError, VicwError
from vicw_shared.ports import Outbox, PendingPoint
from vicw_shared.telemetry.spans import trace_headers

_ITEMS_AT_ONCE = 256
_WAITERS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class ClaimedEntries:
    """Claimed entries. ``since`` is an instant of the monotonic clock before the claim was requested.

    ``trace`` belongs to the first request that waits for some of them, if any.
    """

    points: Sequence[PendingPoint]
    since: float
    trace: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Waiter:
    """A request that waits for its items. ``items`` are those whose passages may still be claimed."""

    items: dict[str, None] = field(default_factory=dict)
    trace: Mapping[str, str] = field(default_factory=trace_headers)


class Waiters(deque[Waiter]):
    """The requests that wait for their items, the next one to be served first."""

    async def claim(self, outbox: Outbox, limit: int, seconds: float) -> tuple[list[PendingPoint], Mapping[str, str]]:
        """Claim up to ``limit`` awaited entries, with an equal share for each of the next few waiting requests.

        The trace of the first of them is returned with it.
        """
        points: list[PendingPoint] = []
        trace: Mapping[str, str] = {}
        shares = min(len(self), _WAITERS_AT_ONCE)
        for number in range(shares):
            if not self:
                break
            waiter = self[0]
            self.rotate(-1)
            items = list(islice(waiter.items, _ITEMS_AT_ONCE))
            share = (limit - len(points)) // (shares - number)
            if not items or share < 1:
                continue
            claimed = await outbox.claim(share, seconds=seconds, items=items)
            if len(claimed) < share:  # none are left, or other indexers hold them
                for item in items:
                    waiter.items.pop(item, None)
            if claimed and not points:
                trace = waiter.trace
            points += claimed
        return points, trace


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
