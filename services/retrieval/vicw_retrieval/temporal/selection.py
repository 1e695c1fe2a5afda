"""Whether anything but its time selects in a question."""

from __future__ import annotations

from vicw_retrieval.temporal.generic_words import selects_more
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis


def selects_by_time(query: str, reading: TimeAnalysis) -> bool:
    """Return whether nothing but times, events and an order over time selects.

    >>> from datetime import UTC, datetime
    >>> from vicw_retrieval.temporal.query_analyzer import analyse_time
    >>> asked_at = datetime(2026, 3, 12, tzinfo=UTC)
    >>> [selects_by_time(q, analyse_time(q, asked_at)) for q in ("the first thing I did in March?", "my first car?")]
    [True, False]
    """
    parts = [*reading.spans, *reading.event_references, reading.order, reading.recurrence]
    rest = query
    for part in sorted((part for part in parts if part is not None), key=lambda part: -part.begins):
        rest = rest[: part.begins] + " " + rest[part.begins + len(part.text) :]
    return bool(reading) and not selects_more(rest)
