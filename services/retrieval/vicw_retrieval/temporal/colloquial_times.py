"""Colloquial times in questions: ten mins ago, Tuesday, at 3pm, the Monday two weeks ago."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from vicw_core.language.times import WEEKDAYS, months_on, times_in

_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
_NUMBERS = {word: number for number, word in enumerate(_WORDS, start=1)} | {"a": 1, "an": 1, "a couple of": 2}
_NUMBER = r"\d{1,4}|a\ couple\ of|an?|" + "|".join(_WORDS)
_WEEKDAY = "|".join(WEEKDAYS)
_HOUR = r"(?:1[0-2]|0?[1-9])(?::[0-5]\d)?\ ?[ap]m\b|(?:[01]?\d|2[0-3]):[0-5]\d(?!:?\d)"
_SPOKEN = re.compile(
    rf"""\b(?:
      (?P<half>an\ hour\ and\ a\ half)\ ago
    | (?P<count>{_NUMBER})\ (?P<unit>seconds?|secs?|mins?|hrs?)\ ago
    | (?:a|one)\ (?P<fortnight>fortnight)\ ago
    | (?P<weeks>{_NUMBER})\ weeks?\ ago,?\ on\ (?P<that_day>{_WEEKDAY})
    | (?:on\ )?(?P<day_first>{_WEEKDAY})\ (?P<weeks_second>{_NUMBER})\ weeks?\ ago
    | (?:in|since|until|of|last|next)\ (?P<month>may|march)(?!\ \d|,?\ (?:of\ )?(?:19|20)\d\d)
    | Q(?P<quarter>[1-4])(?:\ of|,)?\ (?P<year>(?:19|20)\d\d)
    | at\ (?P<clock>{_HOUR})
    | (?P<bare>{_WEEKDAY})(?=\W*$)
    )(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_CLOCK = re.compile(rf"at\ (?:{_HOUR})", re.VERBOSE | re.IGNORECASE)
_CLOCK_AFTER = re.compile(rf",?\ at\ (?P<hour>{_HOUR})(?!\w)", re.VERBOSE | re.IGNORECASE)
_CLOCK_BEFORE = re.compile(rf"\bat\ (?P<hour>{_HOUR}),?\ (?:on\ )?$", re.VERBOSE | re.IGNORECASE)
_PAST = re.compile(r"\b(?:did|was|were|had|happened|came|went|said|told)\b", re.IGNORECASE)
_BEFORE_DAY = re.compile(
    r"\b(?!(?:every|each|any|some|the|an?|this|next|last|of|on|for|to|with|and|or|about|by|like|than|from|between|until"
    r"|before|after|since|is|named?|call(?:ed)?|first|second|third|fourth|black|good|my|our|his|her|their|your|its)\ )"
    r"[a-z]+\ $"
)
"""The word before a bare weekday: not a name, and not a word that makes it another day than the last."""
_BACK = 24
_AROUND = timedelta(minutes=15)

type Spoken = tuple[int, int, datetime, datetime, bool, bool]
"""Position in the question, [start, end) in the asker's zone, whether approximate, and whether without a year."""


def colloquial_times_in(query: str, asked_at: datetime, *, future: bool) -> Iterator[Spoken]:
    """Yield the colloquial times of a question; ambiguous ones are left out."""
    today = asked_at.replace(hour=0, minute=0, second=0, microsecond=0)
    for match in _SPOKEN.finditer(query):
        groups = {name: value.lower() for name, value in match.groupdict().items() if value}
        try:
            if groups.keys() & {"half", "count", "fortnight"}:
                yield (match.start(), match.end(), *about(*_ago(groups, asked_at, today), asked_at), True, False)
            elif "month" in groups:
                yield from _lower_case_month(match, asked_at, future=future)
            elif "clock" in groups or "bare" in groups:
                yield from _past_time(match, query, asked_at, today)
            else:
                yield (match.start(), match.end(), *_calendar_time(groups, today), False, False)
        except (ValueError, OverflowError):
            continue


def _lower_case_month(match: re.Match[str], asked_at: datetime, *, future: bool) -> Iterator[Spoken]:
    """Yield a month in small letters, which would be a verb without the word before it."""
    lead = match[0].lower().split()[0]
    if not match["month"].islower():
        return
    begins = match.start() if lead in {"last", "next"} else match.start("month")
    for time in times_in(f"{'in' if lead == 'of' else lead} {match['month'].title()}", asked_at, ahead=future):
        yield begins, match.end(), time.at, months_on(time.at, 1), False, True


def _past_time(match: re.Match[str], query: str, asked_at: datetime, today: datetime) -> Iterator[Spoken]:
    """Yield an hour of today, or the last day with this name, if the question is about the past."""
    if _PAST.search(query) is None:
        return
    if match["clock"]:
        at = _at(match["clock"].lower(), today)
        if at <= asked_at:
            yield match.start(), match.end(), at - _AROUND, at + _AROUND, True, False
    elif _BEFORE_DAY.search(query[max(0, match.start() - _BACK) : match.start()]):
        for time in times_in(f"on {match['bare']}", asked_at, ahead=False):
            yield match.start(), match.end(), time.at, time.at + timedelta(days=1), False, False


def _calendar_time(groups: dict[str, str], today: datetime) -> tuple[datetime, datetime]:
    """Return a quarter, or a day of the week so many weeks ago."""
    if "quarter" in groups:
        start = today.replace(year=int(groups["year"]), month=3 * int(groups["quarter"]) - 2, day=1)
        return start, months_on(start, 3)
    start = _day_of_week_ago(groups, today)
    return start, start + timedelta(days=1)


def is_clock(words: str) -> bool:
    """Return whether these words are an hour of the day."""
    return _CLOCK.fullmatch(words) is not None


def hour_beside(
    query: str, place: tuple[int, int], over: int, start: datetime, end: datetime
) -> tuple[int, int, datetime, datetime] | None:
    """Return the position of a day or a part of it with its hour, and the time that is meant; None without an hour.

    The words of the day are at ``place``, those of the hour not before ``over``. The hour is one in [start, end), which
    may go on after midnight. Raises OverflowError.
    """
    begins, ends = place
    if match := _CLOCK_AFTER.match(query, ends):
        ends = match.end()
    elif match := _CLOCK_BEFORE.search(query[(back := max(over, begins - _BACK)) : begins]):
        begins = back + match.start()
    else:
        return None
    for day in (start, end):
        if start <= (at := _at(match["hour"].lower(), day)) < end:
            return begins, ends, at - _AROUND, at + _AROUND
    return None


def about(at: datetime, unit: str, asked_at: datetime) -> tuple[datetime, datetime]:
    """Return the interval that is meant by so many units ago.

    Half of the distance to each side for minutes and hours, at least two minutes or half an hour; a quarter for longer
    units, at least half a unit; whole days for days.
    """
    away = abs(asked_at - at)
    if unit in {"minute", "hour"}:
        margin = max(timedelta(minutes=2) if unit == "minute" else timedelta(minutes=30), away / 2)
        return at - margin, min(at + margin, asked_at) if at < asked_at else at + margin
    if unit == "day":
        margin = timedelta(days=away.days // 4)
        return at - margin, at + margin + timedelta(days=1)
    half = {"week": timedelta(days=3.5), "month": timedelta(days=15), "year": timedelta(days=183)}[unit]
    margin = max(half, away / 4)
    return at - margin, at + margin


def _number(words: str) -> int:
    return int(words) if words.isdigit() else _NUMBERS[words]


def _ago(groups: dict[str, str], asked_at: datetime, today: datetime) -> tuple[datetime, str]:
    """Return the instant so long ago, and the unit in which its words count."""
    if "half" in groups:
        return asked_at - timedelta(minutes=90), "minute"
    if "fortnight" in groups:
        return today - timedelta(days=14), "week"
    unit = groups["unit"][:3]
    name = {"sec": "seconds", "min": "minutes", "hr": "hours", "hrs": "hours"}[unit]
    return asked_at - timedelta(**{name: _number(groups["count"])}), "hour" if name == "hours" else "minute"


def _day_of_week_ago(groups: dict[str, str], today: datetime) -> datetime:
    weeks = _number(groups.get("weeks") or groups["weeks_second"])
    day = groups.get("that_day") or groups["day_first"]
    return today - timedelta(days=today.weekday() + 7 * weeks - WEEKDAYS.index(day))


def _at(clock: str, today: datetime) -> datetime:
    hour, _, minute = clock.rstrip("apm ").partition(":")
    number = int(hour) % 12 + 12 * clock.endswith("pm") if clock.endswith("m") else int(hour)
    return today.replace(hour=number, minute=int(minute or 0), second=0, microsecond=0)
