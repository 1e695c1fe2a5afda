"""Term statistics port: in how many passages of a context, or of a tenant, each term occurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

MAX_CONTEXTS = 64
"""Maximum number of contexts whose counts are added up."""


class TermScope(NamedTuple):
    """A context of a tenant, or with "" the whole tenant."""

    tenant: str
    context: str


@dataclass(frozen=True, slots=True)
class TermCounts:
    """The number of ``passages``, and of those that have each term, by term id; terms of none are left out."""

    passages: int = 0
    counts: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TermFrequencies:
    """The counts of what is searched, ``asked``, and of its whole ``tenant``."""

    asked: TermCounts = field(default_factory=TermCounts)
    tenant: TermCounts = field(default_factory=TermCounts)


class TermStatistics(Protocol):
    """Counts of terms, kept with the passages and their index entries.

    A passage counts from the acknowledgement of its index entry (``Outbox.acknowledge``) until that of its retirement,
    or until it is removed: every term of its BM25 text once. A term is an index of its sparse vector.
    """

    async def frequencies(self, tenant: str, contexts: Sequence[str] | None, terms: Sequence[int]) -> TermFrequencies:
        """Return the counts of these terms in the contexts together, or in the tenant (None), and in the tenant.

        Of more than MAX_CONTEXTS contexts it returns the tenant's.
        """
        ...
