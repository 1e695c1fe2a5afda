"""Items outside a write: look-ups by id, trigger phrase, text and time, and item views with the data of their edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from vicw_shared.model import Node
from vicw_shared.model.stated_times import Interval


@dataclass(frozen=True, slots=True)
class ItemView:
    """A live item with the data of its edges.

    ``passages`` are the Chunks that prove it, in uid order; for a Macro-Event those of its summary and of the items it
    consolidates. ``tags`` and ``buckets`` are the names of its TAGGED targets, except those that only another item's
    extraction reported. ``about`` holds the names, earlier names and uids of its ABOUT targets. ``auto_tags`` are the
    names of its AUTO_TAGGED targets, which no caller gave. All names are sorted and distinct.
    """

    item: Node
    passages: tuple[Node, ...] = ()
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    auto_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageChange:
    """The latest change of a Chunk or of its payload data; ``at`` is by the engine's clock.

    Two changes of the same Chunk have different ``seq``. The Chunk may no longer exist.
    """

    uid: str
    at: datetime
    seq: int


@dataclass(frozen=True, slots=True)
class PassageTimes:
    """When the statements of a passage happened.

    ``stated`` are the times that they, and the extracted events, give. ``untimed``: one of the statements gives none,
    so it is of the time of its telling.
    """

    passage: str
    stated: tuple[Interval, ...] = ()
    untimed: bool = False


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
        self,
        tenant: str,
        start: datetime,
        end: datetime,
        *,
        contexts: Sequence[str] | None = None,
        limit: int,
        earliest: bool = False,
    ) -> list[Node]:
        """Return the live Events of the HAPPENED_AFTER chain with a ``timestamp`` in [start, end), the latest first.

        All of them are callers' items: an item with a time is an Event. Of equal timestamps the last to arrive comes
        first. ``earliest``: the other way round. ``contexts`` None: the whole tenant, at the cost of one look-up per
        context.
        """
        ...

    async def stated_between(
        self,
        tenant: str,
        start: datetime,
        end: datetime,
        *,
        contexts: Sequence[str] | None = None,
        limit: int,
        earliest: bool = False,
    ) -> list[Node]:
        """Return the live Events that are no items and whose text gives a time in [start, end), the latest first.

        These are statements and extracted events; one without a time of its own is not among them. Ties are in uid
        order. ``earliest`` and ``contexts`` as in ``between``.
        """
        ...

    async def stated_times(self, tenant: str, items: Sequence[str]) -> dict[str, list[PassageTimes]]:
        """Return the times of the statements of these items, live or retired, one entry for each passage with any."""
        ...

    async def expired(self, before: datetime, *, limit: int) -> list[Node]:
        """Return live items of all tenants with ``expires_at`` at or before an instant, the longest expired first."""
        ...

    async def item_views(self, tenant: str, uids: Sequence[str]) -> list[ItemView]:
        """Return the live items among ``uids`` with the data of their edges, in uid order."""
        ...


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
