"""Usage port: how often items were shown in answers. Maintenance spares items in use (design: "Sleep cycle")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Use:
    """Number of ``times`` an item was shown, and the ``last`` time."""

    times: int
    last: datetime


class Uses(Protocol):
    """Uses of all tenants. They are removed and exported with their items."""

    async def add_uses(self, tenant: str, times: Mapping[str, int], at: datetime) -> None:
        """Add to the use counts of items (uids), with ``at`` as the latest use. Unknown items are ignored."""
        ...

    async def record_question(self) -> None:
        """Record that a question is being answered now, so that background work in other processes yields to it."""
        ...

    async def seconds_since_question(self) -> float | None:
        """Return the seconds since the last recorded question, by the engine's clock; None: never."""
        ...

    async def uses(self, tenant: str, uids: Sequence[str]) -> dict[str, Use]:
        """Return the uses of these items. Items without a use are left out."""
        ...
