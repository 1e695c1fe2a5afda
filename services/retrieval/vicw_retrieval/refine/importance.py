"""Importance among what is alike: of results that fit a question about equally well, the more important comes first."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_shared.model.triggers import DEFAULT_IMPORTANCE

_CANDIDATES = 200
"""Candidates that are compared, the best."""
_ALIKE = 0.5
"""Minimum strength, as a share of the best, of what gets a place for its importance."""


def prefer_important(candidates: Sequence[Candidate], weight: float) -> list[Candidate]:
    """Return the candidates in their new order, by how much their importance differs from the usual one.

    Importance 1 gains ``weight`` of the best strength, 0 loses it: a tie is decided, a clear difference is not. Without
    ``weight`` or importance nothing changes.
    """
    first, rest = candidates[:_CANDIDATES], candidates[_CANDIDATES:]
    best = max((one.strength for one in first), default=0.0)
    if not (weight and best) or all(_excess(one) == 0 for one in first):
        return list(candidates)
    scale = weight * best / (1 - DEFAULT_IMPORTANCE)
    ordered = in_order(one.raised(importance=scale * _excess(one)) if _excess(one) else one for one in first)
    return [*ordered, *rest]


def keep_important(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the candidates with important ones among the first ``limit``, when all else is in order.

    Items of more than usual importance that fit half as well as the best, their gain included, take the last places
    from less important ones, half of the places at most.
    """
    first, rest = candidates[:_CANDIDATES], candidates[_CANDIDATES:]
    least = _ALIKE * max((one.strength for one in first), default=0.0)
    late = [one for one in first[limit:] if _excess(one) > 0 and one.strength >= least > 0]
    return [*_with_places(first, late, limit), *rest] if late else list(candidates)


def _excess(candidate: Candidate) -> float:
    """Return by how much an item's importance differs from the usual one, in [-.5, .5]."""
    importance = candidate.item.importance
    return 0.0 if importance is None else importance - DEFAULT_IMPORTANCE


def _with_places(ordered: Sequence[Candidate], late: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the candidates with the ``late`` ones in the places of the last less important ones."""
    last = ordered[:limit][::-1]
    moved: dict[str, float] = {}
    for one in sorted(late, key=_excess, reverse=True)[: limit // 2]:
        lesser = next((other for other in last if other.key not in moved and _excess(other) < _excess(one)), None)
        if lesser is None:
            break
        moved |= {one.key: lesser.score - one.score, lesser.key: one.score - lesser.score}
    return in_order(one.raised(importance=moved[one.key]) if one.key in moved else one for one in ordered)
