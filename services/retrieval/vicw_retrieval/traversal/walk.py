"""Breadth-first walk along typed edges, one batched hop at a time, within the visible graph.

Hubs are not read completely: per node, type and direction the heaviest edges are followed, up to a fan-out. Invisible
nodes and edges are removed before anything is counted, so no limit reveals them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched

from vicw_core.graph.canonical import MERGED_INTO
from vicw_retrieval.access.scope import is_named
from vicw_retrieval.access.visibility import Visibility, at_most
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope, Spread

_BATCH = 100
_MAX_EXTRACTED = 100
_BOTH = (Direction.OUT, Direction.IN)
_MERGES = tuple((MERGED_INTO, way) for way in _BOTH)
_COMMON_TYPES = frozenset({"MENTIONS", "EVIDENCED_BY", "BELONGS_TO", "HAPPENED_AFTER", "DERIVED_FROM"})
"""Edges that every extracted event has: they alone make none worth a look beside its item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkPlan:
    """How a walk spreads.

    ``fanout`` is how many edges of a node and spread are followed. ``known_by`` are the spreads along which a
    named node becomes known to a viewer.
    """

    spreads: Sequence[Spread]
    known_by: Sequence[Spread]
    hops: int
    limit: int
    fanout: int
    min_weight: float = 0.0
    statements: bool = False


@dataclass(slots=True)
class Walk:
    """A resumable walk: ``nodes`` by uid in the order in which they were reached, and the distance of each."""

    graph: GraphStore
    scope: Scope
    visibility: Visibility
    plan: WalkPlan
    nodes: dict[str, Node] = field(default_factory=dict)
    hops: dict[str, int] = field(default_factory=dict)
    complete: bool = True
    _edges: dict[str, Edge] = field(default_factory=dict)
    _near: dict[str, list[Neighbour]] = field(default_factory=dict)
    _named: set[str] = field(default_factory=set)

    async def run(self, starts: Iterable[Node]) -> None:
        """Walk from visible nodes until the hops or the node limit are used up."""
        frontier = await self._take(starts, 0)
        for hop in range(1, self.plan.hops + 1):
            if not frontier:
                break
            neighbours = await self._around(frontier)
            reached = sorted(neighbours, key=_order)
            frontier = await self._take([*await self._extracted_events(frontier), *(n.node for n in reached)], hop)
        await self._around([uid for uid in self.nodes if uid not in self._near], last=True)

    @property
    def edges(self) -> list[Edge]:
        """The edges among the nodes of the walk."""
        edges = self._edges.values()
        return sorted(
            (e for e in edges if e.source in self.nodes and e.target in self.nodes), key=lambda e: (e.type, e.id)
        )

    def adopt(self, other: Walk) -> None:
        """Adopt the edges found by another walk."""
        self._edges |= other._edges

    async def leading_nodes(self, nodes: Sequence[Node], counted_types: Collection[str] = ()) -> list[Node]:
        """Return the nodes from which the walk would lead anywhere, by name.

        Edges that every extracted event has count only if their type is in ``counted_types``; those of a statement only
        if the plan includes statements.
        """
        self._named |= {node.uid for node in nodes if is_named(node)}
        neighbours = await self._around([node.uid for node in nodes])
        mere = {node.uid for node in nodes if node.is_statement and not self.plan.statements}
        leading = {
            neighbour.origin
            for neighbour in neighbours
            if (kind := neighbour.edge.type) not in _COMMON_TYPES
            or (kind in counted_types and neighbour.origin not in mere)
        }
        return sorted((node for node in nodes if node.uid in leading), key=lambda node: (node.name, node.uid))

    async def _take(self, reached: Iterable[Node], hop: int) -> list[str]:
        """Add new nodes, and the nodes merged with them, up to the limit; return their uids."""
        taken: list[str] = []
        fresh = self.add(reached, hop)
        while fresh:
            taken += fresh
            merged = [uid for uid in fresh if self.nodes[uid].label in {Label.ENTITY, Label.CONCEPT}]
            neighbours = await self.read(merged, _MERGES) if merged else []
            self._add_found(neighbours)
            fresh = self.add((n.node for n in sorted(neighbours, key=_order)), hop)
        return taken

    def add(self, reached: Iterable[Node], hop: int = 0) -> list[str]:
        """Add new nodes up to the limit; return their uids."""
        added = []
        for node in reached:
            if node.uid in self.nodes:
                continue
            if len(self.nodes) >= self.plan.limit:
                self.complete = False
                break
            self.nodes[node.uid] = node
            self.hops[node.uid] = hop
            self._named |= {node.uid} if is_named(node) else set()
            added.append(node.uid)
        return added

    async def _around(self, uids: Sequence[str], *, last: bool = False) -> list[Neighbour]:
        """Return the neighbours to follow; after the ``last`` hop, they only connect its nodes."""
        missing = [uid for uid in uids if uid not in self._near]
        self._near |= {uid: [] for uid in missing}
        for neighbour in await self.read(missing, self.plan.spreads, last=last):
            self._near[neighbour.origin].append(neighbour)
        neighbours = [neighbour for uid in uids for neighbour in self._near[uid]]
        self._add_found(neighbours)
        return neighbours

    def _add_found(self, neighbours: Iterable[Neighbour]) -> None:
        self._edges |= {neighbour.edge.id: neighbour.edge for neighbour in neighbours}

    async def read(
        self, uids: Sequence[str], spreads: Sequence[Spread], *, last: bool = False, fanout: int | None = None
    ) -> list[Neighbour]:
        """Return the heaviest visible edges of each node and spread, up to the fan-out: the plan's by default."""
        fanout = fanout or self.plan.fanout
        kept: list[Neighbour] = []
        for batch in batched(uids, _BATCH):
            seen = await self.visibility.heaviest(batch, spreads, fanout + 1, self._followed, ties=True)
            kept += self._cut(seen, fanout, last=last)
        return kept

    async def _followed(self, neighbours: Sequence[Neighbour]) -> list[Neighbour]:
        """Keep the neighbours that are visible and to be followed."""
        seen = [n for n in await self.visibility.visible(neighbours) if n.edge.weight >= self.plan.min_weight]
        if not self.plan.statements:
            seen = [n for n in seen if n.edge.type != "MENTIONS" or not n.node.is_statement or n.node.uid in self.nodes]
        # Between named nodes, an edge without a source item reveals nothing: its end must be known otherwise.
        doubtful = {
            n.node.uid: n.node
            for n in seen
            if is_named(n.node) and SOURCE_ITEM not in n.edge.properties and n.origin in self._named
        }
        known = await self.visibility.known(list(doubtful.values()), self.plan.known_by)
        hidden = doubtful.keys() - {node.uid for node in known}
        return [n for n in seen if n.node.uid not in hidden]

    def _cut(self, seen: Sequence[Neighbour], fanout: int, *, last: bool) -> list[Neighbour]:
        kept = at_most(sorted(seen, key=_order), fanout)
        self.complete &= last or len(kept) == len(seen)
        return kept

    async def _extracted_events(self, uids: Sequence[str]) -> list[Node]:
        """Return the events extracted from the texts of these items that lead anywhere."""
        items = [uid for uid in uids if self.nodes[uid].content_hash is not None]
        passages = await self._prove(items, Direction.OUT)
        events = await self._prove([n.node.uid for n in passages if n.node.label is Label.CHUNK], Direction.IN)
        extracted = {n.node.uid: n.node for n in events if n.node.label is Label.EVENT and n.node.content_hash is None}
        return await self.leading_nodes(list(extracted.values()))

    async def _prove(self, uids: Sequence[str], direction: Direction) -> list[Neighbour]:
        if not uids:
            return []
        neighbours = await self.graph.expand(self.scope.tenant, uids, [("EVIDENCED_BY", direction)], _MAX_EXTRACTED)
        return await self.visibility.visible(neighbours)


def when(node: Node) -> datetime:
    """Return the time of a node: its timestamp, else its time of creation."""
    return node.timestamp or node.created_at


def _order(neighbour: Neighbour) -> tuple[float, float, str, str]:
    """Sort key: heaviest edge first, then newest node; the order never depends on the engine."""
    node = neighbour.node
    return (-neighbour.edge.weight, -when(node).timestamp(), node.uid, neighbour.edge.id)
