"""Times that a question names: as every text's (``vicw_core.language.times``), and as wide as a question means them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from vicw_core.language.times.expressions import TimeExpression, later
from vicw_core.language.times.reader import read_times
from vicw_core.language.times.tense import is_about_future

_ASKS_PAST = re.compile(r"\W*(?:what|where|who|when|why|how)\ (?:did|was|were|had)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:did|was|were|had|happened|came|went|said|told|habe?n?|hat|war|waren|ai|avons|est|était|hice|hicimos|pasó|fue"
    r"|ho|abbiamo|fiz|fizemos|aconteceu)\b",
    re.IGNORECASE,
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_LED = re.compile(r"(?:on|the|am|el|le|il) ", re.IGNORECASE)
_LED_KINDS = frozenset({"wd_on", "wd_ordinal", "ordinal", "date", "wd_ago"})
"""Kinds of times whose first word may be one that ``spans`` reads before others."""
_QUARTER_HOUR = timedelta(minutes=15)


def is_about_coming(query: str) -> bool:
    """Return whether a question is about what is still to come."""
    return is_about_future(query) and _ASKS_PAST.match(query) is None


def phrases_in(query: str, asked_at: datetime, *, day_first: bool | None = None) -> list[TimeExpression]:
    """Return the times of a question in order, without overlaps: the longer one counts, then the first.

    A month or weekday without a year is the last one begun by ``asked_at``, unless the question is about the future.
    ``day_first`` is the order of dates with slashes that nothing in the question decides.
    """
    return list(_phrases(query, asked_at, day_first))


def _phrases(query: str, asked_at: datetime, day_first: bool | None) -> Iterator[TimeExpression]:
    future = is_about_coming(query)
    told = _PAST.search(query) is not None or _UNSPACED.search(query) is not None
    ahead = True if future else False if _ASKS_PAST.match(query) else None  # else the tense of its language decides
    for time in read_times(query, asked_at, ahead=ahead, day_first=day_first, hours=told or future):
        if time.kind in {"ahead", "dur_ahead"} and not future and query[time.begins :][:3].lower() == "in ":
            continue  # in a question about the past, "in three months" is a duration
        if time.kind == "bare_wd" and not (told or future):
            continue
        begins = time.begins
        if time.kind in _LED_KINDS and (lead := _LED.match(query, begins)):
            begins = lead.end()
        try:
            start, end = _as_meant(time, asked_at)
        except (ValueError, OverflowError):
            continue
        yield replace(time, begins=begins, start=start, end=end)


def _as_meant(time: TimeExpression, asked_at: datetime) -> tuple[datetime, datetime]:
    """Return an interval as wide as people count, for a counted time or an hour."""
    if time.unit is not None:
        return about(time.start, time.unit, asked_at)
    if time.precision == "minute" and time.loose and not time.rolling:
        last = max(time.start, time.start.replace(fold=1), key=lambda at: at.astimezone(UTC))  # clocks may repeat it
        return later(time.start, -_QUARTER_HOUR), later(last, _QUARTER_HOUR)
    return time.start, time.end


def about(at: datetime, unit: str, asked_at: datetime) -> tuple[datetime, datetime]:
    """Return the interval that is meant by so many units ago.

    Half of the distance to each side for minutes and hours, at least two minutes or half an hour; a quarter for longer
    units, at least half a unit; whole days for days.
    """
    away = abs(asked_at.astimezone(UTC) - at.astimezone(UTC))  # time that passed, whatever the clocks did
    if unit in {"minute", "hour"}:
        margin = max(timedelta(minutes=2) if unit == "minute" else timedelta(minutes=30), away / 2)
        return later(at, -margin), min(later(at, margin), asked_at) if at < asked_at else later(at, margin)
    if unit == "day":
        margin = timedelta(days=away.days // 4)
        return at - margin, at + margin + timedelta(days=1)
    half = {"week": timedelta(days=3.5), "month": timedelta(days=15), "year": timedelta(days=183)}[unit]
    margin = max(half, away / 4)
    return at - margin, at + margin
