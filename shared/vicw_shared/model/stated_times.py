"""When a statement says that something happened, which is seldom when it was told."""

from __future__ import annotations

from datetime import datetime, time, timedelta

type Interval = tuple[datetime, datetime]
"""[start, end) in UTC, at least a microsecond long."""

_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


def stated_interval(start: datetime, lasts: object) -> Interval:
    """Return the time that a statement gives: ``lasts`` seconds (``core5.LASTS``) from ``start``.

    Without them, as in stores of earlier versions, midnight stands for its day, and another time for an instant.

    >>> from datetime import UTC
    >>> start, end = stated_interval(datetime(2026, 2, 3, tzinfo=UTC), None)
    >>> (end - start).days
    1
    """
    length = _DAY if start.time() == time() else _INSTANT
    if isinstance(lasts, int | float) and not isinstance(lasts, bool):
        try:
            length = max(timedelta(seconds=lasts), _INSTANT)
        except (ValueError, OverflowError):
            length = _INSTANT
    try:
        return start, start + length
    except OverflowError:
        return start, datetime.max.replace(tzinfo=start.tzinfo)
