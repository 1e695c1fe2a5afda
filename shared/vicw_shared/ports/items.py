"""Item look-ups outside a write: by id, trigger phrase, text and time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from vicw_shared.model import Node
from vicw_shared.ports.item_views import ItemView


class ItemIndex(Protocol):
    """Index of callers' items."""

    async def items(self, tenant: str, source_id: str, contexts: Sequence[str]) -> list[Node]:
        """Return the latest version (live or retired) of the item with this id in each of these contexts, by context.

        An id is unique within one context only.
        """
        ...

    async def triggered(
        self, tenant: str, phrases: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> list[Node]:
        """Return the live items with one of these trigger phrases (``model.triggers``), in order of precedence.

        At most ``limit`` items per phrase, the highest precedence first; each item once. ``contexts`` None: the whole
        tenant.
        """
        ...

    async def by_text_key(
        self, tenant: str, keys: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> dict[str, list[Node]]:
        """Return the live Chunks and items with each of these text keys (``model.text_keys``), oldest first.

        At most ``limit`` per key; keys without a match are left out. ``contexts`` None: the whole tenant.
        """
        ...

    async def between(
        self, tenant: str, start: datetime, end: datetime, *, contexts: Sequence[str] | None = None, limit: int
    ) -> list[Node]:
        """Return the live Events of the HAPPENED_AFTER chain with a ``timestamp`` in [start, end), the latest first.

        All of them are callers' items: an item with a time is an Event. Of equal timestamps the last to arrive comes
        first. ``contexts`` None: the whole tenant, at the cost of one look-up per context.
        """
        ...

    async def expired(self, before: datetime, *, limit: int) -> list[Node]:
        """Return live items of all tenants with ``expires_at`` at or before an instant, the longest expired first."""
        ...

    async def item_views(self, tenant: str, uids: Sequence[str]) -> list[ItemView]:
        """Return the live items among ``uids`` with the data of their edges, in uid order."""
        ...
