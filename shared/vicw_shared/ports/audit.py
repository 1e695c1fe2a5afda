"""Audit port: scans all tenants page by page, for consistency checks and for rebuilding an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vicw_shared.model import Label, Node
from vicw_shared.ports.outbox import PendingPoint
from vicw_shared.ports.scan import Scans
from vicw_shared.ports.term_counts import TermScope

MAX_UNEXPECTED = 100
"""Maximum number of wrong followers reported for one Event in a chain."""


@dataclass(frozen=True, slots=True)
class ChainLink:
    """The successor of an Event in a chain.

    ``follower`` is the next Event in the chain's order (None: the Event is the last, or not in the chain). ``joined``
    is true if an edge of the chain joins the two. ``unexpected`` are other nodes that edges of the chain lead to,
    MAX_UNEXPECTED at most. ``misplaced`` is true if the chain's index does not have the Event where its fields put it.
    """

    follower: str | None
    joined: bool
    unexpected: tuple[str, ...] = ()
    misplaced: bool = False


class GraphAudit(Scans, Protocol):
    """Read operations of consistency checks and index rebuilds."""

    async def count(self, label: Label) -> int:
        """Return the number of nodes with a label."""
        ...

    async def point_states(self, uids: Sequence[str]) -> dict[str, bool]:
        """Return whether each Chunk or statement among these uids, of any tenant, is indexed; leave out other uids."""
        ...

    async def belongs_to_counts(self, uids: Sequence[str]) -> dict[str, int]:
        """Return the number of BELONGS_TO edges out of each of these nodes. Unknown uids are left out."""
        ...

    async def merge_edges(self, uids: Sequence[str]) -> list[tuple[str, str]]:
        """Return the MERGED_INTO edges out of these nodes, as (source, target)."""
        ...

    async def chain_links(self, chain: str, events: Sequence[Node]) -> dict[str, ChainLink]:
        """Return the successor of each of these Events in its NEXT or HAPPENED_AFTER ``chain``.

        The fields of the given nodes define an Event's place. Events with the same key are ordered by uid. Events that
        are not stored are left out.
        """
        ...

    async def uncounted(self, events: Sequence[Node]) -> set[str]:
        """Return the Events (uids) with an arrival or step number above its counter, which would assign it again."""
        ...

    async def wrong_terms(self, points: Sequence[PendingPoint]) -> set[str]:
        """Return the passages (uids) among these whose counted terms are not those of their text.

        While words are converted (``StoredWords``) it returns none.
        """
        ...

    async def wrong_counts(self) -> list[TermScope]:
        """Return the scopes whose counts are wrong, in order: of terms, not those of their passages, or of items, where
        an engine keeps these, not those of their items.

        It reads all items and the terms of all passages. Writes meanwhile may make scopes appear that are not wrong.
        """
        ...
