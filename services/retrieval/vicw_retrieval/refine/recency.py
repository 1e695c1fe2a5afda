"""Recency boost where a question asks for the current state."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from vicw_retrieval.model.candidates import Candidate, in_order
from vicw_retrieval.ranking.recency import recency
from vicw_shared.settings import RetrievalSettings

RECENT = "recent"
_CANDIDATES = 50
"""Candidates that are compared, the best: the age of others does not matter."""


def prefer_recent(candidates: Sequence[Candidate], settings: RetrievalSettings) -> list[Candidate]:
    """Return the candidates in their new order; unchanged if recency has no weight, or fewer than two have a time.

    Each of the best gains the weight times its recency, as a share of its own strength: an irrelevant item gains
    nothing by being recent.
    """
    best = candidates[:_CANDIDATES] if settings.recency_weight else ()
    times = {one.key: one.item.timestamp for one in best if one.item.timestamp is not None}
    if len(times) < 2:
        return list(candidates)
    recencies = recency(times, timedelta(days=settings.recency_days))
    for candidate in best:
        if candidate.key in recencies:
            candidate.boost(RECENT, settings.recency_weight * recencies[candidate.key] * candidate.strength)
    return in_order(candidates)
