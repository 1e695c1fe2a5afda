"""Time expressions of a question, each as an interval.

Dates and counted times are parsed as in statements (``vicw_core.language.times``). This module adds the expressions
typical of questions: parts of a day, the last so many days, seasons, holidays, vague words, and days and months after
"since", "before".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from vicw_core.language.times import MONTHS, WEEKDAYS, Time, is_about_future, months_on, times_in
from vicw_retrieval.temporal.colloquial_times import about, colloquial_times_in, hour_beside, is_clock

EXPLICIT, LOOSE, VAGUE = 0.9, 0.6, 0.3
"""Confidence: of a date or a count; of a season, a holiday, "a few"; of "recently"."""

_YEAR = r"(?:19|20)\d\d"
_WEEKDAY = "|".join(WEEKDAYS)
_MONTH = "|".join(rf"{month}|{month[:3]}\.?" if month != "may" else month for month in MONTHS) + r"|sept\.?"
_COUNT = r"\d{1,4}|a\ couple\ of|couple\ of|few|several|" + "|".join(
    "one two three four five six seven eight nine ten eleven twelve".split()
)
_UNIT = "minute|hour|day|week|month|year"
_LEAD = r"before|prior\ to|after|following|since|until|till|by|from|to|between|and|or|during|through|throughout|around"
_HOLIDAYS = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "new year's eve": (12, 31),
    "new year": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
_HOLIDAY = (
    r"christmas\ eve|christmas|new\ year['’]s\ eve|new\ year(?=['’]s\ day\b|['’]s\b|\b)|halloween|valentine['’]s\ day"
)

_QUESTION_TIME = re.compile(
    rf"""\b(?:
      (?P<day>this|last|yesterday|tomorrow|(?:on\ |last\ )?(?:{_WEEKDAY}))\ (?P<part>morning|afternoon|evening|night)
    | (?:(?:in|over|during|within|for)\ )?(?:the|these|this)?\ ?(?:last|past|previous)
      \ (?P<back>{_COUNT})\ (?P<back_unit>{_UNIT})s?
    | (?:in|over|during|within)\ the\ (?:last|past)\ (?P<rolling>{_UNIT})(?!\w)
    | (?P<few>a\ few|several|some)\ (?P<few_unit>{_UNIT})s\ ago
    | (?P<vague>recently|lately|just\ now|a\ moment\ ago|the\ other\ day|earlier\ today|a\ while\ ago)
    | (?:last|this|next|this\ past|in\ the|during\ the|that|over\ the|since|before|after|around)
      \ (?P<season>spring|summer|autumn|fall|winter)
      (?!\ of\ (?!{_YEAR})|\ (?:olympics|games|sports?)\b)
      (?:\ (?:of\ |in\ )?(?P<season_year>{_YEAR}))?
    | (?P<season_of>spring|summer|autumn|fall|winter)\ (?:of\ |in\ )?(?P<season_of_year>{_YEAR})
    | (?:on|at|over|last|this|before|after|since|until|till|by|around|during|for)\ (?P<feast>{_HOLIDAY})
      (?:\ (?:in\ )?(?P<feast_year>{_YEAR}))?
    | (?:early|mid|late|the\ (?:end|beginning|start|middle)\ of)[ -]?(?P<part_month>{_MONTH})
      (?:,?\ (?P<part_year>{_YEAR}))?
    | (?:{_LEAD})\ (?:early\ |mid-?\ ?|late\ |the\ (?:end|beginning|start)\ of\ |last\ |this\ )?
      (?:(?P<weekday>{_WEEKDAY})|(?P<month>{_MONTH})|(?P<year>{_YEAR}(?!-\d)))
    )\b(?!['’]s\ (?:name|house))""",
    re.VERBOSE | re.IGNORECASE,
)
_LED = re.compile(r"(?:in|on|since|until|by|of|for) ")
"""Lead words of a statement's time: they are left to ``spans``, which reads those before other times."""


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time that a question names: its position, [start, end) in the asker's zone, and its confidence."""

    begins: int
    ends: int
    start: datetime
    end: datetime
    confidence: float
    loose: bool
    """Whether it is approximate ("10 minutes ago")."""
    yearless: bool


def phrases_in(query: str, asked_at: datetime) -> list[TimeExpression]:
    """Return the times of a question in order, without overlaps: the longer one counts, then the first.

    A month or weekday without a year is the last one begun by ``asked_at``, unless the question is about the future.
    """
    future = is_about_coming(query)
    times = list(_question_times(query, asked_at, future))
    for time in times_in(query, asked_at, ahead=future):
        # In a question about the past, "in three months" is a duration.
        if future or time.unit is None or not query[time.span.start :].lower().startswith("in "):
            times.append(_statement_time(time, query, asked_at))
    times += [
        TimeExpression(begins, ends, start, end, EXPLICIT, loose, yearless)
        for begins, ends, start, end, loose, yearless in colloquial_times_in(query, asked_at, future=future)
    ]
    kept: list[TimeExpression] = []
    for phrase in sorted(times, key=lambda one: (one.begins - one.ends, one.begins)):
        if all(phrase.ends <= other.begins or other.ends <= phrase.begins for other in kept):
            kept.append(phrase)
    if len(kept) > 1:  # a lone hour is one of today, which another time may not be
        kept = [one for one in kept if not is_clock(query[one.begins : one.ends])]
    times = []
    for phrase in sorted(kept, key=lambda one: one.begins):
        times.append(_at_hour(phrase, query, times[-1].ends if times else 0))
    return times


def is_about_coming(query: str) -> bool:
    """Return whether a question is about what is still to come."""
    return is_about_future(query) and _ASKS_PAST.match(query) is None


_ASKS_PAST = re.compile(r"\W*(?:what|where|who|when|why|how)\ (?:did|was|were|had)\b", re.IGNORECASE)


def _at_hour(phrase: TimeExpression, query: str, over: int) -> TimeExpression:
    """Return a day, or a part of it, narrowed to about the hour beside it.

    The words of another time end at ``over``.
    """
    if phrase.end - phrase.start > timedelta(days=1):
        return phrase
    try:
        narrowed = hour_beside(query, (phrase.begins, phrase.ends), over, phrase.start, phrase.end)
    except OverflowError:
        return phrase
    if narrowed is None:
        return phrase
    begins, ends, start, end = narrowed
    return replace(phrase, begins=begins, ends=ends, start=start, end=end, loose=True)


def after(start: datetime, precision: str) -> datetime:
    """Return the end of a time of this precision."""
    if precision in {"month", "year"}:
        return months_on(start, 1 if precision == "month" else 12)
    return start + timedelta(**{f"{precision}s": 1})


def _statement_time(time: Time, query: str, asked_at: datetime) -> TimeExpression:
    """Return a statement's time as an interval; a counted one is as wide as people count."""
    words = query[time.span.start : time.span.end].lower()
    lead = _LED.match(words) if time.unit is None else None
    where = (time.span.start + (lead.end() if lead else 0), time.span.end)
    yearless = re.search(r"\d{4}", words) is None and re.search(_MONTH, words, re.I) is not None
    try:
        if time.unit is not None:
            return TimeExpression(*where, *about(time.at, time.unit, asked_at), EXPLICIT, time.unit != "day", False)
        end = time.at + timedelta(days=2) if words.endswith("weekend") else after(time.at, time.precision)
        return TimeExpression(*where, time.at, end, EXPLICIT, False, yearless)
    except (ValueError, OverflowError):
        return TimeExpression(*where, time.at, time.at, 0.0, False, False)


def _question_times(query: str, asked_at: datetime, future: bool) -> Iterator[TimeExpression]:
    today = asked_at.replace(hour=0, minute=0, second=0, microsecond=0)
    for match in _QUESTION_TIME.finditer(query):
        groups = {name: value.lower() for name, value in match.groupdict().items() if value}
        begins = match.start()
        if groups.keys() & {"weekday", "month", "year"}:
            name = next(name for name in ("weekday", "month", "year") if name in groups)
            if (
                name == "month"
                and match["month"].islower()
                and groups["month"] in {"may", "march", "mar", "sep", "dec"}
            ):
                continue
            begins = match.start(name)
        elif groups.keys() & {"season", "feast"}:
            lead = re.match(r"(?:last|this past|this|next|that) ", match[0], re.IGNORECASE)
            begins = match.start() if lead else match.start("season" if "season" in groups else "feast")
        try:
            interval = _interval(groups, asked_at, today, future)
        except (ValueError, OverflowError):
            continue
        if interval is not None:
            loose = "vague" in groups or "few" in groups
            yield TimeExpression(begins, match.end(), *interval, loose, "month" in groups)


def _interval(
    groups: dict[str, str], asked_at: datetime, today: datetime, future: bool
) -> tuple[datetime, datetime, float] | None:
    if "part" in groups:
        return _part_of_day(groups["day"], groups["part"], asked_at)
    if {"back", "rolling", "few", "vague"} & groups.keys():
        return _counted_back(groups, asked_at, today)
    return _calendar_time(groups, asked_at, today, future)


def _counted_back(groups: dict[str, str], asked_at: datetime, today: datetime) -> tuple[datetime, datetime, float]:
    """Return a time counted back from now, exact or approximate."""
    if "few" in groups:
        unit = groups["few_unit"]
        return _back(9 if groups["few"] == "several" else 7, unit, asked_at)[0], _back(2, unit, asked_at)[0], LOOSE
    if groups.get("vague") == "earlier today":
        return today, asked_at, EXPLICIT
    if "vague" in groups:
        back = _VAGUE[groups["vague"]]
        return asked_at - back, asked_at, LOOSE if back < timedelta(days=1) else VAGUE
    unit = groups.get("back_unit") or groups["rolling"]
    return *_back(_NUMBERS.get(groups.get("back", "one")) or int(groups["back"]), unit, asked_at), EXPLICIT


def _calendar_time(
    groups: dict[str, str], asked_at: datetime, today: datetime, future: bool
) -> tuple[datetime, datetime, float] | None:
    """Return a season, a holiday, a month, a year or a day of the week."""
    if "season" in groups or "season_of" in groups:
        name, year = (
            groups.get("season") or groups["season_of"],
            groups.get("season_year") or groups.get("season_of_year"),
        )
        return _latest(_SEASONS[name], 1, 3, year, today, future)
    if "feast" in groups:
        month, day = _HOLIDAYS[groups["feast"].replace("’", "'")]
        return _latest(month, day, 0, groups.get("feast_year"), today, future)
    if "part_month" in groups:
        words = (
            f"{groups['part_month']} {groups['part_year']}"
            if "part_year" in groups
            else f"In {groups['part_month'].title()}"
        )
    else:
        words = (
            f"on {groups['weekday']}"
            if "weekday" in groups
            else f"in {(groups.get('month') or groups['year']).title()}"
        )
    time = next(times_in(words, asked_at, ahead=future), None)
    return (time.at, after(time.at, time.precision), EXPLICIT) if time is not None else None


_NUMBERS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)
} | {"a couple of": 2, "couple of": 2, "few": 5, "several": 7}
_VAGUE = {
    "recently": timedelta(days=14),
    "lately": timedelta(days=14),
    "the other day": timedelta(days=7),
    "a while ago": timedelta(days=90),
    "just now": timedelta(minutes=15),
    "a moment ago": timedelta(minutes=15),
}


def _back(count: int, unit: str, asked_at: datetime) -> tuple[datetime, datetime]:
    if unit in {"month", "year"}:
        return months_on(asked_at, -count * (1 if unit == "month" else 12)), asked_at
    return asked_at - timedelta(**{f"{unit}s": count}), asked_at


def _part_of_day(day: str, part: str, asked_at: datetime) -> tuple[datetime, datetime, float] | None:
    """Return a part of a day; a night is that evening and the hours after midnight."""
    if day == "last" and part != "night":
        day = "yesterday"
    words = {"this": "today", "last": "yesterday"}.get(day, day)
    weekday = words.rpartition(" ")[2]
    time = next(times_in(f"on {weekday}" if weekday in WEEKDAYS else words, asked_at, ahead=False), None)
    if time is None:
        return None
    first, last = _PARTS[part]
    return time.at + timedelta(hours=first), time.at + timedelta(hours=last), EXPLICIT


def _latest(
    month: int, day: int, months: int, year: str | None, today: datetime, future: bool
) -> tuple[datetime, datetime, float]:
    """Return a season (northern, so many months) or a holiday (a day): the year's, else the last begun, or the next."""
    start = today.replace(year=int(year) if year else today.year, month=month, day=day)
    if year is None and not future and start > today:
        start = months_on(start, -12)
    if year is None and future and start < today:
        start = months_on(start, 12)
    return start, months_on(start, months) if months else start + timedelta(days=1), LOOSE
