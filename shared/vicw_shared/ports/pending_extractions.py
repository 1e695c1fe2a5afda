"""Port for items that a language model has not extracted yet (docs/decisions/0018).

The transaction that stores an item adds it here; the transaction that stores the model's extraction removes it. So an
extraction is stored once, however often it is tried. Workers claim items with a lease, as they claim outbox entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vicw_shared.ports.outbox import Backlog, IndexFailure


@dataclass(frozen=True, slots=True)
class PendingExtraction:
    """An ``item`` (uid) pending extraction after ``tries`` failures. A ``dead`` item is not retried."""

    item: str
    tenant: str
    context: str
    tries: int = 0
    dead: bool = False


class PendingExtractions(Protocol):
    """Pending extractions of all tenants."""

    async def claim(self, limit: int, *, seconds: float, items: Sequence[str] | None = None) -> list[PendingExtraction]:
        """Claim due items of one tenant for ``seconds``, the oldest first; return [] if none is due.

        Tenants are served round-robin, claim by claim. With ``items`` only these are claimed, if due. An item that is
        claimed, backing off or dead is not due.
        """
        ...

    async def renew(self, item: str, *, seconds: float) -> None:
        """Extend the claim to ``seconds`` from now."""
        ...

    async def postpone(self, item: str, *, seconds: float | None, error: str | None = None) -> None:
        """Release a claimed item; it is due again in ``seconds``. An ``error`` counts as one more failed try.

        ``seconds`` None: it is dead until it is replayed.
        """
        ...

    async def drop(self, item: str) -> None:
        """Remove the item; it is not extracted."""
        ...

    async def of(self, tenant: str, items: Sequence[str]) -> dict[str, PendingExtraction]:
        """Return the pending extractions among these items, dead ones included, by item uid."""
        ...

    async def failures(self, tenant: str | None, limit: int) -> list[IndexFailure]:
        """Return failed items, most tries first, of one tenant or all. ``point_id`` is the item's uid."""
        ...

    async def replay(self, items: Sequence[str] | None = None, *, tenant: str | None = None) -> int:
        """Make failed items, dead ones included, due now and reset their tries; return how many.

        Restricted to these items, or all; to one tenant, or all.
        """
        ...

    async def backlog(self, tenant: str | None = None) -> Backlog:
        """Return the backlog of one tenant or all."""
        ...
