"""Recency: later events weigh more where a question asks for the current state (seed 002 §8.2).

Age counts from the latest candidate, not from the clock: in a memory that ended a year ago the last statement is still
the latest.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta


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
