"""Instants as integers (microseconds in the graph, milliseconds in filters) and as readable text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECONDS = 1_000_000
"""Microseconds in a second."""
_MICROSECOND = timedelta(microseconds=1)
_EXACT_AS_SECONDS = 4 * 10**15
"""Microseconds up to which (year 2096) a float of seconds is exact, which converts three times as fast."""
_FIRST_YEAR = 1000
"""The first year with four digits."""


def now() -> datetime:
    """Return the current instant, timezone-aware UTC."""
    return datetime.now(UTC)


@overload
def to_us(instant: datetime) -> int: ...
@overload
def to_us(instant: None) -> None: ...
def to_us(instant: datetime | None) -> int | None:
    """Return microseconds since 1970-01-01T00:00Z; exact for the years 0001 to 9999."""
    return None if instant is None else (instant - EPOCH) // _MICROSECOND


@overload
def from_us(microseconds: int) -> datetime: ...
@overload
def from_us(microseconds: None) -> None: ...
def from_us(microseconds: int | None) -> datetime | None:
    """Convert microseconds back to an instant."""
    if microseconds is None:
        return None
    if 0 <= microseconds < _EXACT_AS_SECONDS:
        return datetime.fromtimestamp(microseconds / MICROSECONDS, UTC)
    return EPOCH + timedelta(microseconds=microseconds)


def to_ms(instant: datetime) -> int:
    """Return whole milliseconds since 1970, rounded down; exact in a float64, as filters need."""
    return to_us(instant) // 1000


def from_ms(milliseconds: int) -> datetime:
    """Convert milliseconds back to an instant, to the millisecond."""
    return from_us(milliseconds * 1000)


def format_minute(at: datetime | None) -> str:
    """Return an instant as readable text, to the minute; "" for None or a year before 1000."""
    return at.strftime("%Y-%m-%d %H:%M") if at is not None and at.year >= _FIRST_YEAR else ""
