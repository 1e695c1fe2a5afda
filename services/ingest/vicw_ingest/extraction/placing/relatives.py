"""Whom somebody has as a sister, a boss, a friend: as the texts of one request say, or items before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vicw_ingest.extraction.reading import SPEAKER, Kin, Link
from vicw_ingest.extraction.rules.genders import gender_of
from vicw_ingest.extraction.rules.relationships import canonical, excludes, kind_of, shares
from vicw_shared.merging import canonical_in
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.ports import Direction, Lookups

HAS_RELATIONSHIP = "HAS_RELATIONSHIP"


@dataclass(frozen=True, slots=True)
class Introduction:
    """Somebody whom a text names as the relative of an ``owner``; ``own``: the owner says so."""

    owner: str
    relationship: str
    own: bool

    @classmethod
    def of(cls, link: Link, owner: Node) -> Introduction:
        """Return what a relationship of a text says of the one whom it leads to."""
        return cls(owner.uid, canonical(link.desc or ""), link.source == SPEAKER)


@dataclass(frozen=True, slots=True)
class Relatives:
    """What is known of who is whose; owners by the uids that stand for them."""

    lookups: Lookups
    now: datetime
    _told: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _owners: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def note(self, link: Link, ends: Mapping[str, Node | None]) -> None:
        """Remember a relationship that a text tells of."""
        source, target = ends.get(link.source), ends.get(link.target)
        if link.type == HAS_RELATIONSHIP and source is not None and target is not None and link.desc is not None:
            relationship = canonical(link.desc)
            self._told.setdefault((source.uid, relationship), set()).add(target.uid)
            self._owners.setdefault(target.uid, set()).add((source.uid, relationship))

    async def learn(self, stands_for: Mapping[str, str]) -> None:
        """Find out whose relatives these are: uids, and who stands for each."""
        if not stands_for:
            return
        edges = await self._holding(
            await self.lookups.edges(sorted(stands_for), [HAS_RELATIONSHIP], Direction.IN),
        )
        owners = await canonical_in(self.lookups, {edge.source for edge in edges}, decided=True)
        for edge in edges:
            told = owners[edge.source], canonical(_said(edge))
            self._owners.setdefault(stands_for[edge.target], set()).add(told)

    async def genders(self, people: Sequence[Node]) -> dict[str, str]:
        """Return who of these is known to be a man or a woman, by uid, ``m`` or ``f``: as somebody's brother, …"""
        uids = [node.uid for node in people]
        edges = await self._holding(await self.lookups.edges(uids, [HAS_RELATIONSHIP], Direction.IN))
        said = [(edge.target, _said(edge)) for edge in edges]
        said += [(uid, relationship) for uid in uids for _, relationship in self._owners.get(uid, ())]
        return {uid: gender for uid, relationship in said if (gender := gender_of(relationship)) is not None}

    def is_of(self, person: Node, owner: Node | None) -> bool:
        """Tell whether somebody is known as a relative of an owner."""
        return owner is not None and any(uid == owner.uid for uid, _ in self._owners.get(person.uid, ()))

    def is_anybodys(self, person: Node) -> bool:
        """Tell whether somebody is known as family of anybody."""
        return any(kind_of(relationship) for _, relationship in self._owners.get(person.uid, ()))

    def is_same(self, person: Node, told: Introduction) -> bool:
        """Tell whether somebody is whom a text introduces: the owner has that one in that place."""
        known = self._owners.get(person.uid, ())
        return any(uid == told.owner and not excludes(said, told.relationship) for uid, said in known)

    async def is_another(self, person: Node, told: Introduction) -> bool:
        """Tell whether somebody is known as another than a text introduces.

        So is who has another place in the owner's family, and who is of another's family, unless the two families are
        one. Who works for, or is a friend of, another is not: everybody has a boss.
        """
        for uid, said in self._owners.get(person.uid, ()):
            if uid == told.owner:
                if excludes(said, told.relationship):
                    return True
            elif await self._is_of_another_family(uid, said, told):
                return True
        return False

    async def _is_of_another_family(self, owner: str, said: str, told: Introduction) -> bool:
        kind, other = kind_of(said), kind_of(told.relationship)
        # A text that speaks of others names each of them once; of one's own one speaks without a thought of others.
        if not kind or not other or (kind != other and not told.own):
            return False
        if kind != other:
            return True
        between = await self._between(owner, told.owner)
        return not any(shares(relationship, said) for relationship in between)

    async def _between(self, one: str, other: str) -> set[str]:
        """Return what two persons are to each other."""
        pair = {one, other}
        told = {said for (owner, said), targets in self._told.items() if owner in pair and (pair - {owner}) & targets}
        edges = await self.lookups.edges([one, other], [HAS_RELATIONSHIP], Direction.OUT)
        between = [edge for edge in edges if {edge.source, edge.target} == pair]
        return told | {_said(edge) for edge in await self._holding(between)}

    async def uid_of(self, kin: Kin, ends: Mapping[str, Node | None]) -> str | None:
        """Return the one whom somebody has as a sister, a boss, …; None if nobody or several are known."""
        owner = ends.get(kin.whose)
        if owner is None:
            return None
        relationship = canonical(kin.relationship)
        known = set(self._told.get((owner.uid, relationship), ()))
        if not known:
            edges = await self.lookups.edges([owner.uid], [HAS_RELATIONSHIP], Direction.OUT)
            fitting = [edge for edge in edges if canonical(_said(edge)) == relationship]
            known = {edge.target for edge in await self._holding(fitting)}
        return known.pop() if len(known) == 1 else None

    async def _holding(self, edges: Sequence[Edge]) -> list[Edge]:
        """Leave out what somebody told whose time is over: nobody may have retired it yet."""
        told_by = {str(edge.properties[TOLD_BY]) for edge in edges if TOLD_BY in edge.properties}
        tellers = await self.lookups.nodes(sorted(told_by))
        over = {uid for uid, node in tellers.items() if node.expires_at is not None and node.expires_at <= self.now}
        return [edge for edge in edges if edge.properties.get(TOLD_BY) not in over]


def _said(edge: Edge) -> str:
    return str(edge.properties.get("desc", ""))
