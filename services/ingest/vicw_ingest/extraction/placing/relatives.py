"""Whom somebody has as a sister, a boss, a friend: as the texts of one request say, or items before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vicw_ingest.extraction.reading import Kin, Link
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.ports import Direction, Lookups
from vicw_shared.text import fold

_HAS_RELATIONSHIP = "HAS_RELATIONSHIP"


@dataclass(frozen=True, slots=True)
class Relatives:
    """What is known of who is whose."""

    lookups: Lookups
    now: datetime
    _told: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def note(self, link: Link, ends: Mapping[str, Node | None]) -> None:
        """Remember a relationship that a text tells of."""
        source, target = ends.get(link.source), ends.get(link.target)
        if link.type == _HAS_RELATIONSHIP and source is not None and target is not None and link.desc is not None:
            self._told.setdefault((source.uid, link.desc), set()).add(target.uid)

    async def uid_of(self, kin: Kin, ends: Mapping[str, Node | None]) -> str | None:
        """Return the one whom somebody has as a sister, a boss, …; None if nobody or several are known."""
        owner = ends.get(kin.whose)
        if owner is None:
            return None
        known = set(self._told.get((owner.uid, kin.relationship), ()))
        if not known:
            edges = await self.lookups.edges([owner.uid], [_HAS_RELATIONSHIP], Direction.OUT)
            fitting = [edge for edge in edges if fold(str(edge.properties.get("desc", ""))) == kin.relationship]
            known = {edge.target for edge in await self._holding(fitting)}
        return known.pop() if len(known) == 1 else None

    async def _holding(self, edges: Sequence[Edge]) -> list[Edge]:
        """Leave out what somebody told whose time is over: nobody may have retired it yet."""
        told_by = {str(edge.properties[TOLD_BY]) for edge in edges if TOLD_BY in edge.properties}
        tellers = await self.lookups.nodes(sorted(told_by))
        over = {uid for uid, node in tellers.items() if node.expires_at is not None and node.expires_at <= self.now}
        return [edge for edge in edges if edge.properties.get(TOLD_BY) not in over]
