"""Where the edges of consolidated items lead: what the registry says of each type (``on_consolidate``)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from vicw_shared.edge_factory import repoint
from vicw_shared.model import Edge, EdgeRegistry, OnConsolidate
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.model.edges import TOLD_BY

CHAINS = (NEXT, HAPPENED_AFTER)
_LEFT = frozenset({OnConsolidate.CHAIN, OnConsolidate.DROP})
"""What is made anew for the one that stands for others."""


@dataclass(frozen=True, slots=True)
class EdgeTransfer:
    """Moves edges from ``sources`` (uids) to ``target``, and has this tell what those told."""

    registry: EdgeRegistry
    sources: Collection[str]
    target: str

    def move(self, edge: Edge) -> Edge | None:
        """Return the edge in its new place; None: it joined what is one now, or its type is made anew.

        What is told of it does not change, but its id does: two edges may become one.
        """
        if self.registry.get(edge.type).on_consolidate in _LEFT and self._touches(edge):
            return None
        source, target = self._place(edge.source), self._place(edge.target)
        if source == target:
            return None
        properties = dict(edge.properties)
        if properties.get(TOLD_BY) in self.sources:
            properties[TOLD_BY] = self.target
        return repoint(replace(edge, properties=properties), source, target)

    def _touches(self, edge: Edge) -> bool:
        return edge.source in self.sources or edge.target in self.sources

    def _place(self, uid: str) -> str:
        return self.target if uid in self.sources else uid


def merge_parallel_edges(edges: Iterable[Edge]) -> list[Edge]:
    """Return each edge once: of several the first maker, the highest weight and certainty, and all that is said."""
    found: dict[str, Edge] = {}
    for edge in sorted(edges, key=lambda one: (one.created_at, one.id)):
        known = found.get(edge.id)
        found[edge.id] = edge if known is None else _merge_pair(known, edge)
    return list(found.values())


def _merge_pair(first: Edge, other: Edge) -> Edge:
    properties: Mapping[str, object] = {**other.properties, **first.properties}
    certainties = [one.properties["certainty"] for one in (first, other) if "certainty" in one.properties]
    numbers = [value for value in certainties if isinstance(value, int | float)]
    if numbers:
        properties = {**properties, "certainty": max(numbers)}
    return replace(first, weight=max(first.weight, other.weight), properties=properties)
