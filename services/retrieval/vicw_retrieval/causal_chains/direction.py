"""Direction in which a question asks for causes, decided by its words alone."""

from __future__ import annotations

import re
from enum import StrEnum

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
