"""Causal chain as part of an answer, and the direction in which a question asks for one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from vicw_shared.model import Edge, Node

_READ_CHARS = 2000


_SOMETHING = r"[^.?!]{1,120}?"


_DO = r"(?:did|does|do|will|would|could|might|may|can|has|have|had)"


_BACK = re.compile(
    r"\bwhy\b|\bhow come\b|\bhow did (?:it|this|that) come\b|\broot[- ]causes?\b|\bbecause of what\b|\bdue to what\b"
    r"|\b(?:what|who|which \w+) (?:has |had |have )?"
    r"(?:caused|causes|led|leads|made|makes|triggered|triggers|brought|provoked|resulted in|prompted)\b"
    r"|\bwhat (?:is|was|were|are|lies|lay) behind\b|\bwhat(?:'s| is| was) to blame\b"
    r"|\b(?:cause|causes|reason|reasons|explanation) (?:of|for|why|that|behind)\b|\bfor (?:what|which) reason\b"
    r"|\bwhat (?:is|was|were|are) (?:the |its |his |her |their |your )?(?:\w+ ){0,2}(?:causes?|reasons?)\b"
)


_FORWARD = re.compile(
    r"\bwhat if\b|\bwhat (?:would|will|could|might|may) (?:\w+ )?(?:break|fail|happen|change|go wrong)\b"
    r"|\bwhat (?:happens|happened|follows|followed|came|comes|broke|breaks|changed|changes) "
    r"(?:\w+ ){0,3}?(?:because|as a result|due to|after|when|once|if|from|of)\b"
    rf"|\b(?:what|where|which \w+|who) {_DO} {_SOMETHING} "
    r"(?:lead to|led to|caused?|result in|resulted in|trigger|triggered|bring about|brought about|affect|affected)\b"
    r"|\b(?:consequences?|effects?|impact|implications?|aftermath|outcome|repercussions?) (?:of|for|did|does|would)\b"
)


class ChainDirection(StrEnum):
    """``BACK``: from an effect to its causes. ``FORWARD``: from a cause to what it led to."""

    BACK = "back"
    FORWARD = "forward"


def direction_of(query: str) -> ChainDirection | None:
    """Return the direction in which a question asks, None if it asks for no causes; of two the one that comes first.

    >>> direction_of("Why is the server throwing a 500 error?")
    <ChainDirection.BACK: 'back'>
    >>> direction_of("What did the outage lead to?")
    <ChainDirection.FORWARD: 'forward'>
    >>> direction_of("Where does Ana live?")
    """
    words = query[:_READ_CHARS].casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    matches = [(match.start(), direction) for direction, pattern in _FORMS.items() if (match := pattern.search(words))]
    return min(matches)[1] if matches else None


_FORMS = {ChainDirection.BACK: _BACK, ChainDirection.FORWARD: _FORWARD}


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
