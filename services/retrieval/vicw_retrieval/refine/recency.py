"""Recency boost where a question asks for the current state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_shared.settings import RetrievalSettings


def recency(times: Mapping[str, datetime], half_life: timedelta) -> dict[str, float]:
    """Return each one's recency in (0, 1]: 1 for the latest, half as much for every ``half_life`` before it.

    ``times`` have a time zone; items without a time are not among them and gain nothing.

    >>> from datetime import UTC
    >>> recency({"old": datetime(2026, 1, 1, tzinfo=UTC), "new": datetime(2026, 1, 31, tzinfo=UTC)}, timedelta(days=30))
    {'old': 0.5, 'new': 1.0}
    """
    if not times:
        return {}
    latest = max(times.values())
    return {uid: 0.5 ** min((latest - at) / half_life, 1000.0) for uid, at in times.items()}


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
    gains = {one.key: settings.recency_weight * recencies[one.key] * one.strength for one in best if one.key in times}
    return in_order(one.raised(**{RECENT: gains[one.key]}) if one.key in gains else one for one in candidates)
