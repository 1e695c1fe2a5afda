"""What is read: a time with its interval, and the calendar arithmetic that it takes."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

EXPLICIT, LOOSE, VAGUE = 0.9, 0.6, 0.3
"""Confidence: of a date or a count; of a season, a holiday, "a few"; of "recently"."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """Days of the week (Monday is 0; none: every day) and hours, [``since``, ``until``), that come again."""

    weekdays: frozenset[int] = frozenset()
    since: time | None = None
    until: time | None = None


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time that a text names: its position, and [start, end) on the clock of the zone that it was read in."""

    begins: int
    ends: int
    start: datetime
    end: datetime
    precision: str = "day"
    """``minute``, ``hour``, ``part`` (of a day), ``day``, ``week``, ``month`` or ``year``: of the words."""
    confidence: float = EXPLICIT
    loose: bool = False
    """Whether it is approximate ("10 minutes ago")."""
    yearless: bool = False
    """Whether a date or a month has no year, which was then chosen by the tense."""
    unit: str | None = None
    """Unit of a counted time ("two weeks ago"), which may be coarser than ``precision``."""
    rolling: bool = False
    """Whether it is a length up to now or from now on ("the last three weeks")."""
    repeats: Repeats | None = None
    """For "on Mondays": the interval then says nothing."""
    language: str = "any"
    kind: str = ""
    """Which of the languages' patterns it is."""


def midnight(at: datetime) -> datetime:
    """Return the beginning of an instant's day in its own zone."""
    return at.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def later(at: datetime, length: timedelta) -> datetime:
    """Return the instant so much later: of time that passes, whatever the clocks of the zone do.

    Raises OverflowError outside the years 1 to 9999.
    """
    return (at.astimezone(UTC) + length).astimezone(at.tzinfo)


def months_on(at: datetime, months: int) -> datetime:
    """Return the same day ``months`` months later, or the last day of the month if it has no such day.

    Raises ValueError outside the years 1 to 9999.
    """
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ValueError(f"the year {year} is out of range")
    return at.replace(year=year, month=month + 1, day=min(at.day, calendar.monthrange(year, month + 1)[1]))


def end_of(start: datetime, precision: str) -> datetime:
    """Return the end of the day, week, month or year that begins then."""
    if precision in {"month", "year"}:
        return months_on(start, 1 if precision == "month" else 12)
    return start + timedelta(days=7 if precision == "week" else 1)
