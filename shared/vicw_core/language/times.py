"""Time expressions in English: dates and relative times, resolved against the time of the item or question.

The words determine the precision: "last week" is a week, "in March" a month. Vague expressions ("the other day",
"soon") are ignored, not guessed.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from vicw_shared.text import Span

WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTHS = "january february march april may june july august september october november december".split()
_NUMBERS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"a": 1, "an": 1, "a couple of": 2, "half a dozen": 6, "a dozen": 12}
_UNITS = ("minute", "hour", "day", "week", "month", "year")

_NUMBER = r"\d{1,4}|a\ couple\ of|half\ a\ dozen|a\ dozen|an?|" + "|".join(list(_NUMBERS)[1:13])
_WEEKDAY = "|".join(WEEKDAYS)
_MONTH = "|".join(rf"{month}|{month[:3]}\.?" if month != "may" else month for month in MONTHS) + r"|sept\.?"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?:19|20)\d\d"

_TIME = re.compile(
    rf"""\b(?:
      (?P<iso>{_YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?
    | (?P<near>the\ day\ before\ yesterday|the\ day\ after\ tomorrow|yesterday|last\ night|today|tonight|tomorrow
               |this\ (?:morning|afternoon|evening))
    | (?P<count>half\ an(?=\ hour)|{_NUMBER})\ (?P<unit>{"|".join(_UNITS)})s?\ (?P<way>ago|from\ now|from\ today)
    | in\ (?P<ahead>half\ an(?=\ hour)|{_NUMBER})\ (?P<ahead_unit>{"|".join(_UNITS)})s?(?!\w|\ of|')
    | (?P<which>last|this\ past|this|next|on|this\ coming|for|until|by)\ (?P<weekday>{_WEEKDAY})
    | (?P<whose>last|this|next|the\ past|the\ previous)\ (?P<period>weekend|week|month|year)
    | (?P<day_first>{_DAY})(?:st|nd|rd|th)?\ (?:of\ )?(?P<month_second>{_MONTH})(?:,?\ (?P<year_third>{_YEAR}))?
    | (?P<month_first>{_MONTH})\ (?P<day_second>{_DAY})(?:st|nd|rd|th)?(?!\d)(?:,?\ (?P<year_last>{_YEAR}))?
    | (?P<month>{_MONTH}),?\ (?P<month_year>{_YEAR})
    | (?P<in_month>(?:in|last|next|(?:since|until)(?!\ (?:{_MONTH})\ {_DAY}(?:st|nd|rd|th)?(?!\w)))
      \ (?:{_MONTH}))(?!,?\ {_YEAR})
    | (?:in|since|until|by|of)\ (?P<year>{_YEAR})(?!-\d)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|'ll|next|tomorrow|plan(?:s|ned|ning)?\ (?:to|for|on)"
    r"|(?:am|is|are|'m|'s|'re)\s+(?:planned|scheduled|due|booked|set|\w+ing))\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:is|are|am|come|comes|starts?|begins?|leaves?|arrives?|opens?|closes?|meets?|visits?|have|has|get|gets)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:\w{2,}ed|was|were|had|did|didn't|went|came|got|said|told|saw|met|left|broke|ran|took|made|found|gave|sent|"
    r"bought|lost|won|began|built|wrote|read|put|cut|hit|fell|flew|drove|felt|heard|held|kept|knew|paid|slept|"
    r"spoke|spent|stood|taught|thought|threw|understood|woke|wore)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Time:
    """A time expression: its span, its start (in the item's time zone), and its precision."""

    span: Span
    at: datetime
    precision: str
    """``minute``, ``hour``, ``day``, ``week``, ``month`` or ``year``."""
    unit: str | None = None
    """Unit of a counted time ("two weeks ago"), which may be coarser than ``precision``."""


def times_in(text: str, now: datetime, *, ahead: bool | None = None) -> Iterator[Time]:
    """Yield the times of a sentence in order, relative to ``now``, the time of its item.

    A weekday or month without a year is the next one if the sentence is about the future, else the last one. ``ahead``
    overrides whether the sentence is about the future.
    """
    future = is_about_future(text) if ahead is None else ahead
    for match in _TIME.finditer(text):
        try:
            parts = _parts(match)
            resolved = _resolve(parts, now, future)
        except (ValueError, OverflowError):
            continue  # the 31st of February; the year 12000
        if resolved is not None:
            unit = parts.get("unit", parts.get("ahead_unit"))
            yield Time(Span(match.start(), match.end()), *resolved, unit and unit.lower())


def is_about_future(text: str) -> bool:
    """Return whether a sentence is about the future."""
    return _FUTURE.search(text) is not None or (_PRESENT.search(text) is not None and _PAST.search(text) is None)


def months_on(at: datetime, months: int) -> datetime:
    """Return the same day ``months`` months later, or the last day of the month if it has no such day.

    Raises ValueError outside the years 1 to 9999.
    """
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ValueError(f"the year {year} is out of range")
    return at.replace(year=year, month=month + 1, day=min(at.day, calendar.monthrange(year, month + 1)[1]))


def _parts(match: re.Match[str]) -> dict[str, str]:
    """Return the named parts of a match; half an hour becomes thirty minutes."""
    parts = {name: value for name, value in match.groupdict().items() if value}
    for count, unit in (("count", "unit"), ("ahead", "ahead_unit")):
        if parts.get(count, "").lower() == "half an":
            parts |= {count: "30", unit: "minute"}
    return parts


def _resolve(parts: dict[str, str], now: datetime, future: bool) -> tuple[datetime, str] | None:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if "near" in parts:
        return today + timedelta(days=_NEAR.get(parts["near"].lower(), 0)), "day"
    if "count" in parts or "ahead" in parts:
        return _counted(parts, now, today)
    if "weekday" in parts:
        return _weekday(parts["which"].lower(), parts["weekday"], today, future), "day"
    if "period" in parts:
        return _period(parts["whose"].lower(), parts["period"].lower(), today)
    if "iso" in parts or "year" in parts:
        year, month, day = map(int, parts.get("iso", f"{parts.get('year')}-1-1").split("-"))
        return today.replace(year=year, month=month, day=day), "day" if "iso" in parts else "year"
    return _date(parts, today, future)


_NEAR = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}


def _counted(parts: dict[str, str], now: datetime, today: datetime) -> tuple[datetime, str]:
    count = (parts.get("count") or parts["ahead"]).lower()
    unit = (parts.get("unit") or parts["ahead_unit"]).lower()
    number = int(count) if count.isdigit() else _NUMBERS[count]
    sign = -1 if parts.get("way", "").lower() == "ago" else 1
    start = now if unit in {"minute", "hour"} else today
    lengths = {
        "minute": timedelta(minutes=1),
        "hour": timedelta(hours=1),
        "day": timedelta(days=1),
        "week": timedelta(7),
    }
    if unit in lengths:
        return start + sign * number * lengths[unit], "day" if unit == "week" else unit
    return months_on(start, sign * number * (1 if unit == "month" else 12)), unit


def _weekday(modifier: str, name: str, today: datetime, future: bool) -> datetime:
    ahead = (WEEKDAYS.index(name.lower()) - today.weekday()) % 7
    if modifier in {"next", "this coming", "for", "until", "by"} or (modifier == "on" and future):
        return today + timedelta(days=ahead or 7)
    if modifier == "this":
        return today + timedelta(days=ahead)
    return today + timedelta(days=ahead - 7)


def _period(modifier: str, name: str, today: datetime) -> tuple[datetime, str]:
    steps = {"this": 0, "next": 1}.get(modifier, -1)
    if name in {"week", "weekend"}:
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=steps)
        return (monday, "week") if name == "week" else (monday + timedelta(days=5), "day")
    if name == "month":
        return months_on(today.replace(day=1), steps), "month"
    return months_on(today.replace(month=1, day=1), 12 * steps), "year"


def _date(parts: dict[str, str], today: datetime, future: bool) -> tuple[datetime, str] | None:
    """Resolve a month with or without day and year."""
    named = parts.get("month_second") or parts.get("month_first") or parts.get("month") or parts["in_month"].split()[-1]
    month = 1 + next(number for number, name in enumerate(MONTHS) if name.startswith(named.lower()[:3]))
    day = int(parts.get("day_first") or parts.get("day_second") or 1)
    year = parts.get("year_third") or parts.get("year_last") or parts.get("month_year")
    precision = "day" if "day_first" in parts or "day_second" in parts else "month"
    if year is not None:
        return today.replace(year=int(year), month=month, day=day), precision
    if precision == "month" and named.islower() and named in {"may", "march"}:
        return None  # verbs, more often than not
    at = today.replace(month=month, day=day)
    if future or parts.get("in_month", "").lower().startswith(("next", "until")):
        return at if at >= today else months_on(at, 12), precision
    return at if at <= today else months_on(at, -12), precision
