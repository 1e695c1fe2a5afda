"""Causal chain as part of an answer."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_retrieval.causal_chains.direction import ChainDirection
from vicw_shared.model import Edge, Node


@dataclass(frozen=True, slots=True)
class CausalPathEdge:
    """One causal edge: ``passage`` is the uid of the Chunk that proves it, ``quote`` its sentence.

    ``source_item`` is the item whose text states it, None if there is none.
    """

    edge: Edge
    passage: str | None = None
    quote: str | None = None
    source_item: Node | None = None


@dataclass(frozen=True, slots=True)
class CausalPath:
    """Causal edges in the order in which they were followed; ``rank`` is that of the result where it begins.

    Going back, each edge's source caused its target, and the next edge's target is that source, or another description
    of the same event. ``certainty`` in [0, 1] is the product of the edges'. ``complete``: it ends where no further edge
    is visible, not at a limit.
    """

    direction: ChainDirection
    steps: tuple[CausalPathEdge, ...]
    certainty: float
    rank: int
    complete: bool


def certainty_of(edge: Edge) -> float:
    """Return the certainty in [0, 1] that one caused the other: the extracted one, else the edge's weight."""
    certainty = edge.properties.get("certainty")
    return float(certainty) if isinstance(certainty, int | float) else edge.weight
