"""The one filter object of all searches: who asks, about what, as of when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who will see the answer (seed 004, "Privacy Model").

    ``subjects`` are the folded names and the uids that stand for the viewer. ``private`` tells a private
    chat from a group. ``context`` is the viewer's own context: what is not portable is seen only there.
    """

    subjects: tuple[str, ...] = ()
    private: bool = True
    context: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a search may see. It is applied inside the search, never after its limit.

    ``contexts``, ``domains`` (canonical names) and ``subtypes`` (of passages: their items', letter by letter) restrict
    when not None; an empty tuple sees nothing. Those of ``subtypes_none`` are not seen.
    Tags are consolidated. With neither ``as_of`` nor ``known_at`` only what is live is seen: not retired by
    ``now``; not expired and still true at ``asked_at``, the asker's now (default: ``now``). ``as_of`` sees
    what was true then, ``known_at`` what was known then. ``audience`` None is the application itself:
    everything inside its tenant.
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
    as_of: datetime | None = None
    known_at: datetime | None = None
    audience: Audience | None = None

    @property
    def judged_at(self) -> datetime:
        """The asker's now, at which expiry and validity are judged."""
        return self.asked_at or self.now
