"""Instants as integers (microseconds in the graph, milliseconds in filters) and as readable text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
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


def in_zone(at: datetime, zone: tzinfo) -> datetime:
    """Return an instant in ``zone``; in UTC if it has no year of four digits there."""
    try:
        return at.astimezone(zone)
    except OverflowError:
        return at.astimezone(UTC)


def format_minute(at: datetime | None, zone: tzinfo = UTC) -> str:
    """Return an instant as readable text of ``zone``, to the minute; "" for None or a year before 1000.

    UTC says so by a ``Z``. Times of another zone stand alone, but for the hour that a change of clocks repeats: it has
    its offset.

    >>> from zoneinfo import ZoneInfo
    >>> at = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    >>> [format_minute(at + timedelta(hours=hours), ZoneInfo("Europe/Berlin")) for hours in (0, 1, 2)]
    ['2026-10-25 02:30+02:00', '2026-10-25 02:30+01:00', '2026-10-25 03:30']
    >>> format_minute(at)
    '2026-10-25 00:30Z'
    """
    if at is None:
        return ""
    local = in_zone(at, zone)
    if local.year < _FIRST_YEAR:
        return ""
    if local.tzinfo is UTC:
        return f"{local:%Y-%m-%d %H:%M}Z"
    earlier, later = local.replace(fold=0).utcoffset(), local.replace(fold=1).utcoffset()
    repeated = earlier is not None and later is not None and earlier > later
    return f"{local:%Y-%m-%d %H:%M%:z}" if repeated else f"{local:%Y-%m-%d %H:%M}"
