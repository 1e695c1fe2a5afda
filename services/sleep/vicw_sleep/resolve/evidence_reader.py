"""Read the evidence on entities that may be the same, each with everything merged into it, inside a transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vicw_shared.canonical import MERGED_INTO, canonical_in
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.model.names import SLOT, is_named_node
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.text import fold_case
from vicw_sleep.resolve.match_rules import EXACT, EntityEvidence, VisibilityKey

MOST = 500
"""Maximum edges of an entity, including those merged into it: above that, the decision is left to a person."""
GENERIC = 40
"""Number of edges from which an entity is too generic to be evidence for the entities named with it."""
_MOST_MERGED = 50
_SAYING = ("MENTIONS", "ABOUT")
_ASIDE = frozenset({"BELONGS_TO", MERGED_INTO})


@dataclass(frozen=True, slots=True)
class EvidenceReader:
    """Reads evidence."""

    transaction: GraphTransaction
    registry: EdgeRegistry

    async def of(self, *things: Node) -> list[EntityEvidence] | None:
        """Return the evidence on each of these entities; None if there are too many edges.

        Evidence on an entity merged into another one of them does not count for that one.
        """
        groups = [await self._group(thing, [node.uid for node in things]) for thing in things]
        uids = sorted({node.uid for group in groups for node in group})
        degrees = await self.transaction.degrees(uids)
        if max(sum(degrees.get(node.uid, 0) for node in group) for group in groups) > MOST:
            return None
        types = [edge_type.name for edge_type in self.registry if edge_type.name not in _ASIDE]
        edges = await self.transaction.edges(uids, types)
        ends = await self.transaction.nodes(sorted({end for edge in edges for end in (edge.source, edge.target)}))
        tellers = sorted(uid for uid, node in ends.items() if uid not in uids and not is_named_node(node))
        said = await self.transaction.edges(tellers, _SAYING, Direction.OUT) if tellers else []
        named = await self.transaction.nodes(sorted({edge.target for edge in said}))
        around = _Surroundings(edges, ends, said, named, await self._canonical(edges, said), await self._generic(named))
        return [around.known(thing, group) for thing, group in zip(things, groups, strict=True)]

    async def _group(self, thing: Node, apart: Collection[str]) -> list[Node]:
        """Return an entity with everything merged into it, except ``apart``."""
        group = {thing.uid: thing}
        fresh = [thing.uid]
        while fresh and len(group) < _MOST_MERGED:
            merges = await self.transaction.edges(fresh, [MERGED_INTO], Direction.IN)
            nodes = await self.transaction.nodes([edge.source for edge in merges])
            fresh = [uid for uid in nodes if uid not in group and uid not in apart]
            group |= {uid: nodes[uid] for uid in fresh}
        return list(group.values())

    async def _canonical(self, *edges: Iterable[Edge]) -> dict[str, str]:
        return await canonical_in(
            self.transaction, sorted({end for some in edges for edge in some for end in (edge.source, edge.target)})
        )

    async def _generic(self, named: Mapping[str, Node]) -> set[str]:
        degrees = await self.transaction.degrees(sorted(named)) if named else {}
        return {uid for uid, degree in degrees.items() if degree >= GENERIC}


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """The ``edges`` of entities and their ``ends``; the edges of the items and statements among these (``said``), and
    the targets (``named``).

    ``canonical`` maps each uid to the entity it was merged into, ``generic`` are the entities with too many edges.
    """

    edges: Sequence[Edge]
    ends: Mapping[str, Node]
    said: Sequence[Edge]
    named: Mapping[str, Node]
    canonical: Mapping[str, str]
    generic: Collection[str]

    def known(self, thing: Node, group: Sequence[Node]) -> EntityEvidence:
        own = {node.uid for node in group}
        mine = [edge for edge in self.edges if edge.source in own or edge.target in own]
        others = {end for edge in mine for end in (edge.source, edge.target)} - own
        tellers = {uid for uid in others if uid in self.ends and not is_named_node(self.ends[uid])}
        return EntityEvidence(
            thing=thing,
            members=frozenset(own),
            edges=len(mine),
            beside=frozenset(others - tellers),
            told_in=frozenset(tellers),
            threads=frozenset(self._threads(mine, own)),
            users=frozenset(edge.source for edge in mine if edge.type == IS_PERSON and edge.target in own),
            relations=frozenset(self._relations(mine, own)),
            company=frozenset(self._company(tellers, own)),
            claims=self._claims(tellers, group),
        )

    def _threads(self, mine: Iterable[Edge], own: Collection[str]) -> Iterable[str]:
        for edge in mine:
            item = self.ends.get(edge.target)
            if edge.type == "INITIATED" and edge.source in own and item is not None and item.content_hash is not None:
                yield item.flow_id or ""

    def _relations(self, mine: Iterable[Edge], own: Collection[str]) -> Iterable[tuple[str, str, str]]:
        for edge in mine:
            if edge.type == "HAS_RELATIONSHIP":
                way, other = ("has", edge.target) if edge.source in own else ("is", edge.source)
                yield way, fold_case(str(edge.properties.get("desc", ""))), self.canonical[other]

    def _company(self, tellers: Collection[str], own: Collection[str]) -> Iterable[tuple[str, VisibilityKey]]:
        """Yield the entities that items name beside this one, each with the item's visibility."""
        about: dict[str, set[str]] = {uid: set() for uid in tellers}
        for edge in self.said:
            if edge.type == "ABOUT" and edge.source in about:
                about[edge.source].add(edge.target)
        for edge in self.said:
            item, other = self.ends[edge.source], self.named.get(edge.target)
            if edge.source not in about or item.content_hash is None or item.retired_at is not None or other is None:
                continue
            if fold_case(other.subtype) not in EXACT and other.uid not in own and other.uid not in self.generic:
                eyes = item.sensitivity.value, item.portable, frozenset(about[item.uid])
                yield self.canonical[other.uid], eyes

    def _claims(self, tellers: Collection[str], group: Sequence[Node]) -> dict[str, frozenset[str]]:
        """Return the attribute claims on an entity: the case-folded values, by attribute."""
        found: dict[str, set[str]] = {}
        names = {
            name for node in group for name in (node.name, *node.aliases)
        }  # a slot's name begins with its owner's name
        for edge in self.said:
            slot = self.named.get(edge.target)
            if edge.source not in tellers or slot is None or slot.subtype != SLOT or edge.properties.get("ended"):
                continue
            if (value := edge.properties.get("value")) is None:
                continue  # a caller may use this subtype for an entity
            for name in names:
                if slot.name.startswith(f"{name} "):
                    found.setdefault(slot.name.removeprefix(name), set()).add(fold_case(str(value)))
        return {attribute: frozenset(values) for attribute, values in found.items()}
