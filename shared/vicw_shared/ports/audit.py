"""The port of a check, and of what makes an index anew: everything there is, of all tenants, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vicw_shared.model import Label, Node
from vicw_shared.ports.scan import Scans

MOST_STRAYS = 100
"""Wrong neighbours that are told of one Event in a chain."""


@dataclass(frozen=True, slots=True)
class ChainLink:
    """What stands after an Event in a chain.

    ``follower`` is the chain's next member (None: there is none, or the Event is no member), ``joined`` tells whether
    an edge of the chain joins the two, ``strays`` are other nodes that such edges have follow it, MOST_STRAYS at most.
    ``misplaced``: who looks for the Event in the chain's order does not find it where its fields say it is.
    """

    follower: str | None
    joined: bool
    strays: tuple[str, ...] = ()
    misplaced: bool = False


class GraphAudit(Scans, Protocol):
    """What a check and a new index read."""

    async def count(self, label: Label) -> int:
        """Return how many nodes of a label there are."""
        ...

    async def point_states(self, uids: Sequence[str]) -> dict[str, bool]:
        """Return, for those of these uids that are a Chunk's or a statement's, of any tenant, whether it is indexed."""
        ...

    async def homes(self, uids: Sequence[str]) -> dict[str, int]:
        """Return how many BELONGS_TO edges lead out of each of these nodes. Unknown uids are left out."""
        ...

    async def merged(self, uids: Sequence[str]) -> list[tuple[str, str]]:
        """Return the MERGED_INTO edges out of these nodes, as (source, target)."""
        ...

    async def links(self, chain: str, events: Sequence[Node]) -> dict[str, ChainLink]:
        """Return what stands after each of these Events in its NEXT or HAPPENED_AFTER ``chain``.

        An Event's place is what its fields say, as they are given here. Of two Events with one key the lower uid goes
        first. Events that are not stored are left out.
        """
        ...

    async def uncounted(self, events: Sequence[Node]) -> set[str]:
        """Return which of these Events (uids) have an arrival or a step that its counter would give once more."""
        ...
