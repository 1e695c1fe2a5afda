"""The port to the items that a language model has still to read (docs/decisions/0018).

An item is put here by the transaction that stores it and taken out by the one that stores what the model told of it:
so it is read once, however often it is tried. Work on one is a claim with a lease, as on an entry of the outbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vicw_shared.ports.outbox import Backlog, IndexFailure


@dataclass(frozen=True, slots=True)
class PendingExtraction:
    """An item that waits to be read; ``tries`` counts those that failed. One that is ``dead`` is tried no more."""

    item: str
    tenant: str
    context: str
    tries: int = 0
    dead: bool = False


class PendingExtractions(Protocol):
    """The items of all tenants that wait to be read."""

    async def claim(self, limit: int, *, seconds: float, items: Sequence[str] | None = None) -> list[PendingExtraction]:
        """Return due items of one tenant, the oldest first, and hold them for ``seconds``; [] if nothing is due.

        Tenants take turns, claim by claim. With ``items`` only these are claimed, if they are due. What is held, rests
        or is dead is not due.
        """
        ...

    async def renew(self, item: str, *, seconds: float) -> None:
        """Hold a claimed item for ``seconds`` from now."""
        ...

    async def postpone(self, item: str, *, seconds: float | None, error: str | None = None) -> None:
        """Give a claimed item back; it is due in ``seconds``. With an ``error`` that is one more failed try.

        None: it is dead, until it is replayed.
        """
        ...

    async def drop(self, item: str) -> None:
        """Let nobody read this item."""
        ...

    async def of(self, tenant: str, items: Sequence[str]) -> dict[str, PendingExtraction]:
        """Return those of these items that have not been read, dead ones too, by their uids."""
        ...

    async def failures(self, tenant: str | None, limit: int) -> list[IndexFailure]:
        """Return items that have failed, most tries first: of a tenant or of all. ``point_id`` is the item's uid."""
        ...

    async def replay(self, items: Sequence[str] | None = None, *, tenant: str | None = None) -> int:
        """Make items that have failed, dead ones too, due now and their tries forgotten; return how many.

        These items, or all there are; of a tenant, or of all.
        """
        ...

    async def backlog(self, tenant: str | None = None) -> Backlog:
        """Return what waits, of a tenant or of all."""
        ...
