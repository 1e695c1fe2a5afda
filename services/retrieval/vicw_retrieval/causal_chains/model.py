"""Causal chain as part of an answer, and the direction in which a question asks for one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vicw_shared.model import Edge, Node

CAUSAL_CHAINS = "causal_chains"


class ChainDirection(StrEnum):
    """``BACK``: from an effect to its causes. ``FORWARD``: from a cause to what it led to."""

    BACK = "back"
    FORWARD = "forward"


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
