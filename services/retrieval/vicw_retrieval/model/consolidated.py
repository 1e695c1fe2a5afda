"""Consolidated items in an answer: each remains a result of its own, as before consolidation (decision 0025).

The Macro-Event takes their place in the graph; their first passages keep their fields. A consolidated item keeps its
place in its thread, too: between the other sources of its Macro-Event. The first and last source are next to the
neighbours of the Macro-Event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from vicw_core.consolidation.ledger import entries_of
from vicw_retrieval.access.scope import holds_in_scope
from vicw_retrieval.access.visibility import Visibility, spread_of
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.ranking.fusion import Candidate
from vicw_shared.model import Node
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope, Spread
from vicw_shared.uids import chunk_uid

NEXT: tuple[Spread, ...] = (("NEXT", Direction.OUT), ("NEXT", Direction.IN))


_FANOUT = 3
"""Neighbours of an Event in one direction: one per thread, and few threads share an Event."""


@dataclass(frozen=True, slots=True)
class Adjacent:
    """The item ``key`` next to ``origin``: after it (OUT) or before it (IN). Both may be uids of consolidated items.

    ``node`` is its node in the graph (the Macro-Event of a consolidated item), with the item's own ``qdrant_id``.
    """

    origin: str
    direction: Direction
    key: str
    node: Node


def as_source_item(macro: Node, item: str) -> Node:
    """Return a Macro-Event as the representative of one of its items, with that item's first passage."""
    return macro if item == macro.uid else replace(macro, qdrant_id=chunk_uid(item, 0))


def adjacent(keys: Iterable[str], nodes: Mapping[str, Node], neighbours: Sequence[Neighbour]) -> list[Adjacent]:
    """Return the items next to each of ``keys``.

    ``nodes`` holds the Macro-Events of consolidated items, ``neighbours`` those along NEXT.
    """
    by_direction: dict[tuple[str, Direction], list[Node]] = {}
    for neighbour in neighbours:
        by_direction.setdefault((neighbour.origin, spread_of(neighbour)[2]), []).append(neighbour.node)
    adjacents = []
    for key in keys:
        node = nodes.get(key)
        items = node.items if node is not None else (key,)
        for direction, step in ((Direction.OUT, 1), (Direction.IN, -1)):
            position = items.index(key) + step if key in items else -1
            if node is not None and 0 <= position < len(items):
                adjacents.append(Adjacent(key, direction, items[position], as_source_item(node, items[position])))
                continue
            for next_node in by_direction.get((node.uid if node is not None else key, direction), ()):
                nearest = next_node.items[0 if direction is Direction.OUT else -1]
                shown = next_node if nearest == next_node.uid else as_source_item(next_node, nearest)
                adjacents.append(Adjacent(key, direction, nearest, shown))
    return adjacents


class FlowTraversal:
    """Traversal along visible NEXT edges; ``nodes`` maps consolidated items met so far to their Macro-Events."""

    def __init__(self, graph: GraphStore, visibility: Visibility) -> None:
        self._graph = graph
        self._visibility = visibility
        self.nodes: dict[str, Node] = {}

    async def begin(self, parts: Mapping[str, str]) -> None:
        """Load the Macro-Events of consolidated items (``parts``: uid → uid of the Macro-Event)."""
        macros = await self._graph.nodes(self._visibility.scope.tenant, sorted(set(parts.values()))) if parts else {}
        self.nodes |= {part: as_source_item(macros[uid], part) for part, uid in parts.items() if uid in macros}

    async def adjacent(self, keys: Sequence[str]) -> list[Adjacent]:
        """Return the items next to each of ``keys``. A consolidated key must come from ``begin`` or an earlier call."""
        uids = [self.nodes[key].uid if key in self.nodes else key for key in keys]
        neighbours = await self._visibility.expand(list(dict.fromkeys(uids)), NEXT, _FANOUT)
        adjacents = adjacent(keys, self.nodes, neighbours)
        self.nodes |= {one.key: one.node for one in adjacents if one.node.is_macro}
        return adjacents


_MAX_PASSAGES = 100
"""Passages of one Macro-Event."""


async def read_parts(graph: GraphStore, tenant: str, candidates: Sequence[Candidate]) -> dict[str, Node]:
    """Return the consolidated items among the candidates as they were before, by uid."""
    parts = [one.item.part for one in candidates if one.item.part is not None]
    if not parts:
        return {}
    passages = await graph.nodes(tenant, [chunk_uid(part, 0) for part in parts])
    return {uid: entry.item for uid, entry in entries_of(list(passages.values())).items()}


async def with_adjacent(
    graph: GraphStore, scope: Scope, candidates: Sequence[Candidate], around: Neighbourhood
) -> Neighbourhood:
    """Return ``around`` with the items before and after each result where a consolidated item is involved.

    The text then shows the turn next to a result, not its Macro-Event.
    """
    along = [one for of_one in around.neighbours.values() for one in of_one if spread_of(one)[1:] in NEXT]
    nodes = {
        one.key: as_source_item(around.nodes[one.item.uid], one.key)
        for one in candidates
        if one.item.is_macro and one.item.uid in around.nodes
    }
    touched = {one.origin for one in along if one.node.is_macro} | nodes.keys()
    adjacents = adjacent([one.key for one in candidates if one.key in touched], nodes, along)
    passages = [one.node.qdrant_id for one in adjacents if one.node.is_macro and one.node.qdrant_id is not None]
    chunks = await graph.nodes(scope.tenant, passages) if passages else {}
    beside: dict[str, list[tuple[Direction, Node]]] = {}
    for one in adjacents:
        node = chunks.get(one.node.qdrant_id or "") if one.node.is_macro else one.node
        entries = beside.setdefault(one.origin, [])
        if node is not None and holds_in_scope(scope, node):
            entries.append((one.direction, node))
    texts = {uid: chunk.text for uid, chunk in chunks.items() if chunk.text}
    return replace(around, texts={**around.texts, **texts}, adjacent=beside)


async def proofs_of(graph: GraphStore, tenant: str, summaries: Sequence[str], known: Set[str]) -> list[str]:
    """Return the source passages of Macro-Events, except those ``known``."""
    neighbours = (
        await graph.weighted_neighbours(tenant, summaries, ("EVIDENCED_BY", Direction.OUT), _MAX_PASSAGES)
        if summaries
        else []
    )
    return sorted({lead.uid for lead in neighbours} - known)


def without_summaries(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Leave out Macro-Events whose items were found: originals precede their summary."""
    macros = {one.item.uid for one in candidates if one.item.part is not None}
    return [one for one in candidates if one.item.part is not None or one.item.uid not in macros]
