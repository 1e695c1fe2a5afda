"""The filter object of all searches: viewer, contexts, domains and point in time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_shared.ports.item_filter import ItemCondition


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Viewer of the answer.

    ``subjects`` are the case-folded names and the uids of the viewer. ``private`` is true for a private chat, false for
    a group. ``context`` is the viewer's own context: data that is not portable is visible only there.
    """

    identities: tuple[str, ...] = ()
    private: bool = True
    context: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Records that a search may return. The filter applies inside the search, never after its limit.

    ``contexts``, ``domains`` (canonical names) and ``subtypes`` (of the passages' items, case-sensitive) restrict when
    not None; an empty tuple matches no record. Items of ``subtypes_none`` are hidden. Tags are case-folded.

    ``condition`` has to hold for a record's item. ``items`` are then the uids of all items for which it does, if these
    are few: vector stores know no other form of it. Records of the items ``without`` (uids) do not match.

    With neither ``as_of`` nor ``known_at`` only live records match: not retired by ``now``, and not expired and still
    valid at ``asked_at``, the caller's now (default: ``now``). ``as_of`` matches records valid then, ``known_at``
    records known then. ``with_past`` adds live records that were superseded. ``audience`` None is the application
    itself, which sees its whole tenant.
    """

    tenant: str
    now: datetime
    asked_at: datetime | None = None
    contexts: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None
    subtypes: tuple[str, ...] | None = None
    subtypes_none: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    tags_none: tuple[str, ...] = ()
    condition: ItemCondition | None = None
    items: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    as_of: datetime | None = None
    known_at: datetime | None = None
    with_past: bool = False
    audience: Audience | None = None

    @property
    def travels(self) -> bool:
        """Whether it is about what was true or known at another time."""
        return self.as_of is not None or self.known_at is not None

    @property
    def judged_at(self) -> datetime:
        """The caller's now: the time at which expiry and validity are evaluated."""
        return self.asked_at or self.now
