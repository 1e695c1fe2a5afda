"""Read the evidence on entities that may be the same, each with everything merged into it, inside a transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vicw_core.graph.canonical import MERGED_INTO, canonical_in
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.model.names import ATTRIBUTE, is_named_node
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.text import fold_case
from vicw_sleep.resolve.match_rules import EXACT, EntityEvidence, VisibilityKey

MAX_EDGES = 500
"""Maximum edges of an entity, including those merged into it: above that, the decision is left to a person."""
GENERIC = 40
"""Number of edges from which an entity is too generic to be evidence for the entities mentioned with it."""
_MAX_MERGED = 50
_MENTION_TYPES = ("MENTIONS", "ABOUT")
_IGNORED_TYPES = frozenset({"BELONGS_TO", MERGED_INTO})


@dataclass(frozen=True, slots=True)
class EvidenceReader:
    """Reads evidence."""

    transaction: GraphTransaction
    registry: EdgeRegistry

    async def of(self, *entities: Node) -> list[EntityEvidence] | None:
        """Return the evidence on each of these entities; None if there are too many edges.

        Evidence on an entity merged into another one of them does not count for that one.
        """
        groups = [await self._group(entity, [node.uid for node in entities]) for entity in entities]
        uids = sorted({node.uid for group in groups for node in group})
        degrees = await self.transaction.degrees(uids)
        if max(sum(degrees.get(node.uid, 0) for node in group) for group in groups) > MAX_EDGES:
            return None
        types = [edge_type.name for edge_type in self.registry if edge_type.name not in _IGNORED_TYPES]
        edges = await self.transaction.edges(uids, types)
        end_nodes = await self.transaction.nodes(sorted({end for edge in edges for end in (edge.source, edge.target)}))
        mentioning = sorted(uid for uid, node in end_nodes.items() if uid not in uids and not is_named_node(node))
        mentions = await self.transaction.edges(mentioning, _MENTION_TYPES, Direction.OUT) if mentioning else []
        mentioned = await self.transaction.nodes(sorted({edge.target for edge in mentions}))
        neighbourhood = _Neighbourhood(
            edges,
            end_nodes,
            mentions,
            mentioned,
            await self._canonical(edges, mentions),
            await self._generic(mentioned),
        )
        return [neighbourhood.evidence(entity, group) for entity, group in zip(entities, groups, strict=True)]

    async def _group(self, entity: Node, apart: Collection[str]) -> list[Node]:
        """Return an entity with everything merged into it, except ``apart``."""
        group = {entity.uid: entity}
        fresh = [entity.uid]
        while fresh and len(group) < _MAX_MERGED:
            merges = await self.transaction.edges(fresh, [MERGED_INTO], Direction.IN)
            nodes = await self.transaction.nodes([edge.source for edge in merges])
            fresh = [uid for uid in nodes if uid not in group and uid not in apart]
            group |= {uid: nodes[uid] for uid in fresh}
        return list(group.values())

    async def _canonical(self, *edges: Iterable[Edge]) -> dict[str, str]:
        return await canonical_in(
            self.transaction, sorted({end for some in edges for edge in some for end in (edge.source, edge.target)})
        )

    async def _generic(self, mentioned: Mapping[str, Node]) -> set[str]:
        degrees = await self.transaction.degrees(sorted(mentioned)) if mentioned else {}
        return {uid for uid, degree in degrees.items() if degree >= GENERIC}


@dataclass(frozen=True, slots=True)
class _Neighbourhood:
    """The ``edges`` of entities and their ``end_nodes``; of the items and statements among these, the edges to what
    they name (``mentions``), and its nodes (``mentioned``).

    ``canonical`` maps each uid to the entity it was merged into, ``generic`` are the entities with too many edges.
    """

    edges: Sequence[Edge]
    end_nodes: Mapping[str, Node]
    mentions: Sequence[Edge]
    mentioned: Mapping[str, Node]
    canonical: Mapping[str, str]
    generic: Collection[str]

    def evidence(self, entity: Node, group: Sequence[Node]) -> EntityEvidence:
        own = {node.uid for node in group}
        own_edges = [edge for edge in self.edges if edge.source in own or edge.target in own]
        others = {end for edge in own_edges for end in (edge.source, edge.target)} - own
        mentioning = {uid for uid in others if uid in self.end_nodes and not is_named_node(self.end_nodes[uid])}
        return EntityEvidence(
            entity=entity,
            members=frozenset(own),
            edges=len(own_edges),
            neighbours=frozenset(others - mentioning),
            mentioned_in=frozenset(mentioning),
            flows=frozenset(self._flows(own_edges, own)),
            users=frozenset(edge.source for edge in own_edges if edge.type == IS_PERSON and edge.target in own),
            relations=frozenset(self._relations(own_edges, own)),
            co_mentioned=frozenset(self._co_mentioned(mentioning, own)),
            claims=self._claims(mentioning, group),
        )

    def _flows(self, own_edges: Iterable[Edge], own: Collection[str]) -> Iterable[str]:
        for edge in own_edges:
            item = self.end_nodes.get(edge.target)
            if edge.type == "INITIATED" and edge.source in own and item is not None and item.content_hash is not None:
                yield item.flow_id or ""

    def _relations(self, own_edges: Iterable[Edge], own: Collection[str]) -> Iterable[tuple[str, str, str]]:
        for edge in own_edges:
            if edge.type == "HAS_RELATIONSHIP":
                direction, relative = ("has", edge.target) if edge.source in own else ("is", edge.source)
                yield direction, fold_case(str(edge.properties.get("desc", ""))), self.canonical[relative]

    def _co_mentioned(self, mentioning: Collection[str], own: Collection[str]) -> Iterable[tuple[str, VisibilityKey]]:
        """Yield the entities that items name beside this one, each with the item's visibility."""
        about: dict[str, set[str]] = {uid: set() for uid in mentioning}
        for edge in self.mentions:
            if edge.type == "ABOUT" and edge.source in about:
                about[edge.source].add(edge.target)
        for edge in self.mentions:
            item, entity = self.end_nodes[edge.source], self.mentioned.get(edge.target)
            if edge.source not in about or item.content_hash is None or item.retired_at is not None or entity is None:
                continue
            if fold_case(entity.subtype) not in EXACT and entity.uid not in own and entity.uid not in self.generic:
                visibility = item.sensitivity.value, item.portable, frozenset(about[item.uid])
                yield self.canonical[entity.uid], visibility

    def _claims(self, mentioning: Collection[str], group: Sequence[Node]) -> dict[str, frozenset[str]]:
        """Return the attribute claims on an entity: the case-folded values, by attribute."""
        claims: dict[str, set[str]] = {}
        names = {
            name for node in group for name in (node.name, *node.aliases)
        }  # a slot's name begins with its owner's name
        for edge in self.mentions:
            slot = self.mentioned.get(edge.target)
            if (
                edge.source not in mentioning
                or slot is None
                or slot.subtype != ATTRIBUTE
                or edge.properties.get("ended")
            ):
                continue
            if (value := edge.properties.get("value")) is None:
                continue  # a caller may use this subtype for an entity
            for name in names:
                if slot.name.startswith(f"{name} "):
                    claims.setdefault(slot.name.removeprefix(name), set()).add(fold_case(str(value)))
        return {attribute: frozenset(values) for attribute, values in claims.items()}
