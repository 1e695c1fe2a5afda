"""The port to callers' items outside a write: by their ids, and in the order of their threads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from vicw_shared.model import Node
from vicw_shared.ports.item_views import ItemView


class ItemIndex(Protocol):
    """Callers' items, by what callers know of them."""

    async def items(self, tenant: str, source_id: str, contexts: Sequence[str]) -> list[Node]:
        """Return the latest version (live or retired) of the item with this id in each of these contexts, by context.

        An id is unique inside a context only.
        """
        ...

    async def triggered(
        self, tenant: str, phrases: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> list[Node]:
        """Return the live items that have one of these trigger phrases (``model.triggers``), in order of precedence.

        Of each phrase at most ``limit``, the foremost; each item once. ``contexts`` None: of all that the tenant has.
        """
        ...

    async def worded(
        self, tenant: str, keys: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> dict[str, list[Node]]:
        """Return the live Chunks and items that have each of these text keys (``model.wording``), oldest first.

        At most ``limit`` a key; a key that nothing has is left out. ``contexts`` None: of all that the tenant has.
        """
        ...

    async def between(
        self, tenant: str, start: datetime, end: datetime, *, contexts: Sequence[str] | None = None, limit: int
    ) -> list[Node]:
        """Return the live Events of the clock whose ``timestamp`` is in [start, end), the latest first.

        These are callers' items: what has a time is an Event. Of one time the last to arrive comes first.
        ``contexts`` None: of all that the tenant has, which costs a look-up each.
        """
        ...

    async def expired(self, before: datetime, *, limit: int) -> list[Node]:
        """Return live items of all tenants whose ``expires_at`` is not after an instant, the longest over first."""
        ...

    async def whole(self, tenant: str, uids: Sequence[str]) -> list[ItemView]:
        """Return those of ``uids`` that are live items, with what their edges say, in uid order."""
        ...
