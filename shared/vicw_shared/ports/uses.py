"""The port to how often items were shown in answers: what is asked for is kept as it is (design: "Sleep cycle")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Use:
    """How many ``times`` an item was shown, and when it was ``last``."""

    times: int
    last: datetime


class Uses(Protocol):
    """The uses of all tenants. They go with their items, into exports, too."""

    async def note_uses(self, tenant: str, times: Mapping[str, int], at: datetime) -> None:
        """Count that items (uids) were shown so many times more, the last time ``at``. Unknown ones are ignored."""
        ...

    async def note_asked(self) -> None:
        """Note that somebody asks just now: work in other processes gives way to that."""
        ...

    async def asked_ago(self) -> float | None:
        """Return how many seconds ago that was noted last, by the engine's clock; None: never."""
        ...

    async def uses(self, tenant: str, uids: Sequence[str]) -> dict[str, Use]:
        """Return the uses of these items; what was never shown is left out."""
        ...
