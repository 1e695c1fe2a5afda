"""Listing of items: pages in an order, inside a viewer's scope, with a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from typing import NamedTuple, Protocol

from vicw_shared.model import Label, Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports.item_filter import EVERY, ItemCondition
from vicw_shared.ports.scope import Scope


class ListingPlace(NamedTuple):
    """An item's place in an order. Ties are in order of ``arrival`` in a context, then of uids."""

    key: float
    arrival: int
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingQuery:
    """Which items are listed, and in which order.

    Of ``scope`` the tenant, the contexts, the viewer and the time of expiry count. Only live items are listed, unless
    ``retired`` ones are, too. ``after``: only the items behind this place.
    """

    scope: Scope
    condition: ItemCondition = EVERY
    order: ItemOrder = ItemOrder.TOLD
    descending: bool = False
    retired: bool = False
    after: ListingPlace | None = None


@dataclass(frozen=True, slots=True)
class ContextPart:
    """Items of one domain and label in a context: how many, told from ``first`` to ``last``.

    ``passages`` prove them, with so many characters of text; of these so many are ``indexed``.
    """

    context: str
    domain: str
    label: Label
    items: int
    first: datetime
    last: datetime
    passages: int
    chars: int
    indexed: int


@dataclass(frozen=True, slots=True)
class SpeakerPart:
    """The live items of one user and speaker in a context: how many, told from ``first`` to ``last``.

    Either may be None, not both.
    """

    user: str | None
    speaker: str | None
    context: str
    items: int
    first: datetime
    last: datetime

    @property
    def key(self) -> tuple[bool, str]:
        """What users are ordered by: those with an id first."""
        return (self.user is None, self.user if self.user is not None else self.speaker or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePage:
    """The first ``limit`` names with a ``prefix`` that follow the name ``after`` (None: from the beginning)."""

    prefix: str = ""
    after: str | None = None
    limit: int

    def parts_of(self, parts: Sequence[ContextPart]) -> list[ContextPart]:
        """Return those of the page among the parts of all contexts, in their order."""
        names = sorted({part.context for part in parts if part.context.startswith(self.prefix)})
        page = set(islice((name for name in names if self.after is None or name > self.after), self.limit))
        return [part for part in parts if part.context in page]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerPage:
    """The first ``limit`` users by id, then speakers without a user by name; ``after`` is a place in that order.

    A place is whether it is a speaker without a user, and the id or name. ``prefix``: of the id or name.
    """

    prefix: str = ""
    after: tuple[bool, str] | None = None
    limit: int

    def parts_of(self, parts: Sequence[SpeakerPart]) -> list[SpeakerPart]:
        """Return those of the page among the parts of all users."""
        chosen = sorted((part for part in parts if part.key[1].startswith(self.prefix)), key=lambda part: part.key)
        keys = dict.fromkeys(part.key for part in chosen if self.after is None or part.key > self.after)
        page = set(islice(keys, self.limit))
        return [part for part in chosen if part.key in page]


@dataclass(frozen=True, slots=True)
class PassingEstimate:
    """At least how many ``items`` of a tenant pass a condition, by what a sample makes sure, and about which ``share``
    of all does (0 to 1).
    """

    items: int
    share: float


class ItemListing(Protocol):
    """Lists and counts items."""

    async def context_parts(
        self, scope: Scope, *, retired: bool = False, page: NamePage | None = None
    ) -> list[ContextPart]:
        """Return the counts of the live items in a scope, or of the ``retired`` ones, of a ``page`` of contexts or all.

        They are those that ``list_items`` would list. Ordered by context, domain and label. An engine may read all of
        them.
        """
        ...

    async def speaker_parts(self, scope: Scope, page: SpeakerPage | None = None) -> list[SpeakerPart]:
        """Return the counts of the live items in a scope that have a user or a speaker, of a page of users or all.

        They are those that ``list_items`` would list, in no order. An engine may read all of them.
        """
        ...

    async def arrivals_by_day(self, scope: Scope, since: datetime) -> dict[date, int]:
        """Return how many of the live items in a scope were stored on each day of UTC since then, the earliest first.

        Days without any are left out.
        """
        ...

    async def passing_items(
        self,
        tenant: str,
        condition: ItemCondition,
        limit: int,
        *,
        among: Sequence[str] | None = None,
        live: bool = False,
    ) -> list[str]:
        """Return the uids of at most ``limit`` items for which a condition holds, live or retired, in no order.

        ``among``: only these uids. ``live``: no retired ones.
        """
        ...

    async def passing_estimate(
        self, tenant: str, condition: ItemCondition, *, live: bool = False
    ) -> PassingEstimate | None:
        """Return about how many items pass, by a sample of them; None if the engine has no sample at hand.

        ``live``: no retired ones count.
        """
        ...

    async def list_items(self, query: ListingQuery, limit: int) -> list[Node]:
        """Return the first ``limit`` items of a query, in its order.

        Places never change while an item is not changed, so pages that each begin ``after`` the last item of the one
        before have each item once, whatever is written meanwhile.
        """
        ...
