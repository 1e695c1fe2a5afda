"""Move the edges of consolidated items by the rule that the registry has for each type (``on_consolidate``)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from vicw_core.graph.edge_factory import repoint
from vicw_shared.model import Edge, EdgeRegistry, OnConsolidate
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.model.edges import SOURCE_ITEM

CHAINS = (NEXT, HAPPENED_AFTER)
_NOT_MOVED = frozenset({OnConsolidate.CHAIN, OnConsolidate.DROP})
"""Rules of types that are not moved: their edges are made anew or dropped."""


@dataclass(frozen=True, slots=True)
class EdgeTransfer:
    """Moves edges from ``sources`` (uids) to ``target``.

    Edges that the sources' extraction added count as added by the target's.
    """

    registry: EdgeRegistry
    sources: Collection[str]
    target: str

    def move(self, edge: Edge) -> Edge | None:
        """Return the moved edge; None: both ends would be the target, or edges of its type are not moved.

        The properties stay, but the id changes: two edges may become one.
        """
        if self.registry.get(edge.type).on_consolidate in _NOT_MOVED and self._touches(edge):
            return None
        source, target = self._moved_end(edge.source), self._moved_end(edge.target)
        if source == target:
            return None
        properties = dict(edge.properties)
        if properties.get(SOURCE_ITEM) in self.sources:
            properties[SOURCE_ITEM] = self.target
        return repoint(replace(edge, properties=properties), source, target)

    def _touches(self, edge: Edge) -> bool:
        return edge.source in self.sources or edge.target in self.sources

    def _moved_end(self, uid: str) -> str:
        return self.target if uid in self.sources else uid


def merge_parallel_edges(edges: Iterable[Edge]) -> list[Edge]:
    """Return each edge once: of duplicates the first creator, the highest weight and certainty, and all properties."""
    merged: dict[str, Edge] = {}
    for edge in sorted(edges, key=lambda one: (one.created_at, one.id)):
        first = merged.get(edge.id)
        merged[edge.id] = edge if first is None else _merge_pair(first, edge)
    return list(merged.values())


def _merge_pair(first: Edge, other: Edge) -> Edge:
    properties: Mapping[str, object] = {**other.properties, **first.properties}
    certainties = [edge.properties["certainty"] for edge in (first, other) if "certainty" in edge.properties]
    numbers = [value for value in certainties if isinstance(value, int | float)]
    if numbers:
        properties = {**properties, "certainty": max(numbers)}
    return replace(first, weight=max(first.weight, other.weight), properties=properties)
