"""Causal chain as part of an answer."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_retrieval.causal_chains.direction import ChainDirection
from vicw_shared.model import Edge, Node


@dataclass(frozen=True, slots=True)
class CausalPathEdge:
    """One causal edge: ``passage`` is the uid of the Chunk that proves it, ``quote`` its sentence.

    ``teller`` is the item whose text tells of it, None where nobody's does.
    """

    edge: Edge
    passage: str | None = None
    quote: str | None = None
    source_item: Node | None = None


@dataclass(frozen=True, slots=True)
class CausalPath:
    """Causal edges in the order in which they were followed; ``rank`` is that of the result where it begins.

    Going back, each edge's source brought about its target, and the next edge's target is that source, or another
    telling of the same. ``certainty`` in [0, 1] is the product of the edges'. ``complete``: it ends where nothing
    further is known to the asker, not at a bound.
    """

    direction: ChainDirection
    steps: tuple[CausalPathEdge, ...]
    certainty: float
    rank: int
    complete: bool


def certainty_of(edge: Edge) -> float:
    """Return how sure it is, in [0, 1], that one brought the other about: as it was told, else the edge's weight."""
    certainty = edge.properties.get("certainty")
    return float(certainty) if isinstance(certainty, int | float) else edge.weight
