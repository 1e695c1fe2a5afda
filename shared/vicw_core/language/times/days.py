"""Times of days and hours, and times counted from now."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta

from vicw_core.language.times.expressions import LOOSE, VAGUE, Repeats, end_of, later, months_on
from vicw_core.language.times.matched import DAY, DAYS, MINUTES, MONTHS, MatchedWords, Meaning, Question, away, clock
from vicw_core.language.times.vocabulary import fold


def _minutes(asked: Question, minutes: float, unit: str = "minute") -> Meaning:
    at = later(asked.now, timedelta(minutes=minutes))
    return Meaning(at, later(at, timedelta(minutes=60 if unit == "hour" else 1)), unit, unit=unit, loose=True)


def counted(words: MatchedWords, asked: Question, sign: int) -> Meaning:
    """Return a time so many units away, in the direction of ``sign``: an instant for minutes and hours, else a day."""
    unit = str(words.value("u"))
    count = sign * words.value("n")
    if unit in MINUTES:
        return _minutes(asked, count * MINUTES[unit], "hour" if unit == "hour" else "minute")
    if unit in DAYS:
        start = asked.today + timedelta(days=count * DAYS[unit])
        return Meaning(start, start + DAY, "day", loose=unit != "day", unit="day" if unit == "day" else "week")
    start = months_on(asked.today, count * MONTHS[unit])
    unit = "month" if unit == "quarter" else unit
    return Meaning(start, end_of(start, unit), unit, loose=True, unit=unit)


def duration(words: MatchedWords, asked: Question, sign: int) -> Meaning:
    """Return the minute that is a named length away (half an hour)."""
    return _minutes(asked, sign * words.value("dur"))


def few_ago(words: MatchedWords, asked: Question) -> Meaning:
    """Return a few or several units ago: from two to seven of them, or nine."""
    unit = str(words.value("u"))
    many = words.language.tables.get("numbers", {}).get(fold(words.raw["few"]), 5)
    start = away(asked.now, -9 if many == 7 else -7, unit)
    return Meaning(start, away(asked.now, -2, unit), unit, LOOSE, loose=True, rolling=True)


def rolling_length(words: MatchedWords, asked: Question, sign: int) -> Meaning:
    """Return so many units up to now, or from now on where ``sign`` is positive."""
    unit, count = str(words.value("u")), words.value("n") if "n" in words else 1
    if sign > 0:
        return Meaning(asked.now, away(asked.now, count, unit), unit, rolling=True)
    return Meaning(away(asked.now, -count, unit), asked.now, unit, rolling=True)


def _hours(day: datetime, first: int, last: int) -> Meaning:
    """Return hours of a day, which may go on after midnight, on the clocks of its zone."""
    return Meaning(clock(day, first), clock(day, last), "part")


def _day(words: MatchedWords, day: datetime, yearless: bool = False) -> Meaning:
    """Return a day, or the part of it that the words name."""
    if "part" in words:
        first, last = words.language.value("part", words.raw["part"])
        return _hours(day, first, last)
    return Meaning(day, day + DAY, "day", yearless=yearless)


def near_day(words: MatchedWords, asked: Question) -> Meaning:
    """Return a day counted from today (yesterday), or a part of it."""
    return _day(words, asked.today + timedelta(days=words.value("near")))


def moment(words: MatchedWords, asked: Question) -> Meaning:
    """Return a part of a day that has a word of its own (tonight)."""
    day, first, last = words.language.value("moment", words.raw["moment"])
    return _hours(asked.today + timedelta(days=day), first, last)


def part_of_yesterday(words: MatchedWords, asked: Question) -> Meaning:
    """Return a part of yesterday (last afternoon)."""
    first, last = words.language.value("part", words.raw["yesterday"])
    return _hours(asked.today - DAY, first, last)


def weekday_of(words: MatchedWords, asked: Question, way: str) -> Meaning:
    """Return the last or next day of this name, today never being one of them; ``this`` is from today on."""
    on = (words.value("wd") - asked.today.weekday()) % 7
    if way == "next" or (way == "on" and asked.ahead):
        on = on or 7
    elif way != "this":
        on -= 7
    return _day(words, asked.today + timedelta(days=on))


def week_of_weekday(words: MatchedWords, asked: Question) -> Meaning:
    """Return a day of last, this or next week."""
    day = words.value("wd") - asked.today.weekday() + 7 * words.step()
    return _day(words, asked.today + timedelta(days=day))


def weeks_ago(words: MatchedWords, asked: Question) -> Meaning:
    """Return a day of the week so many weeks ago."""
    day = words.value("wd") - asked.today.weekday() - 7 * words.value("n")
    return _day(words, asked.today + timedelta(days=day))


def date_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return a day of a month, of the year that is named, or that the tense and the day of the week choose."""
    month, day = words.value("mo"), words.value("d")
    if "y" in words:
        return _day(words, asked.today.replace(year=words.value("y"), month=month, day=day))
    return _day(words, _fitting(day_of_year(asked, month, day), words, asked), yearless=True)


def day_of_year(asked: Question, month: int, day: int) -> datetime:
    """Return a day of the year that the tense wants; February 29 of a leap year."""
    years = range(8)
    sign = 1 if asked.ahead else -1
    for back in years:
        try:
            at = asked.today.replace(year=asked.today.year + sign * back, month=month, day=day)
        except ValueError:
            if (month, day) == (2, 29):
                continue
            raise
        if (at >= asked.today) if asked.ahead else (at <= asked.today):
            return at
    raise ValueError(f"no such day: {month}-{day}")


def _fitting(day: datetime, words: MatchedWords, asked: Question) -> datetime:
    """Return a day of the year before or after, if only there it is the day of the week that is named."""
    if "wd" not in words or day.weekday() == words.value("wd"):
        return day
    others = (day.replace(year=day.year + step) for step in (1, -1) if (day.month, day.day) != (2, 29))
    return next((other for other in others if other.weekday() == words.value("wd")), day)


def date_range(words: MatchedWords, asked: Question) -> Meaning:
    """Return the days from one to another of a month."""
    first = date_of(words, asked)
    last = first.start.replace(day=words.value("d1"))
    if last < first.start:
        first, last = Meaning(last, last + DAY), first.start
    return Meaning(first.start, last + DAY, "day", yearless="y" not in words)


def ordinal_day(words: MatchedWords, asked: Question) -> Meaning | None:
    """Return a day of a month that is not named: the last one that was, or the next one."""
    day = words.value("od") if "od" in words else words.value("d")
    month = asked.today.replace(day=1)
    if "whose" in words:
        month = months_on(month, words.step())
        return Meaning(start := month.replace(day=day), start + DAY, "day")
    for step in range(12):
        try:
            start = months_on(month, step if asked.ahead else -step).replace(day=day)
        except ValueError:
            continue  # the 31st of June
        fits = start >= asked.today if asked.ahead else start <= asked.today
        if fits and ("wd" not in words or start.weekday() == words.value("wd")):
            return Meaning(start, start + DAY, "day")
    return None


def every_day(words: MatchedWords, asked: Question) -> Meaning:
    """Return days of the week, or hours of every day, that come again."""
    if "daily" in words:
        days = words.language.tables.get("every", {}).get(fold(words.raw["daily"]), [])
        weekdays = frozenset(days)
        part = words.raw["daily"] if fold(words.raw["daily"]) in words.language.tables.get("parts", {}) else None
    else:
        weekdays = frozenset(words.language.value("wds", words.raw["wds"]) if "wds" in words else [words.value("wd")])
        part = words.raw.get("part")
    since = until = None
    if part is not None:
        first, last = words.language.value("part", part)
        since, until = time(first % 24), time(last % 24)
    return Meaning(asked.today, asked.today + DAY, repeats=Repeats(weekdays, since, until))


def vague(words: MatchedWords, asked: Question) -> Meaning:
    """Return the time that a vague word covers (recently), with little confidence."""
    minutes = words.value("vague")
    start = later(asked.now, timedelta(minutes=-minutes))
    sure = LOOSE if minutes < 1440 else VAGUE
    return Meaning(start, asked.now, "minute", sure, loose=True, rolling=True)


def coming(_: MatchedWords, asked: Question) -> Meaning:
    """Return the year that begins now: what is upcoming is in it."""
    return Meaning(asked.now, months_on(asked.now, 12), "year", VAGUE, rolling=True)


def weekdays_ago(words: MatchedWords, asked: Question) -> Meaning:
    """Return the last but so many of a day of the week: two Fridays ago is the one before the last."""
    weekday = words.language.value("wds", words.raw["wds"])[0]
    back = (asked.today.weekday() - weekday) % 7 or 7
    return _day(words, asked.today - timedelta(days=back + 7 * (words.value("n") - 1)))


def ago_today(words: MatchedWords, asked: Question) -> Meaning | None:
    """Return the very day so long ago; None for minutes and hours."""
    unit = str(words.value("u"))
    return _day(words, away(asked.today, -words.value("n"), unit)) if unit not in MINUTES else None


def iso_date(words: MatchedWords, asked: Question) -> Meaning:
    """Return a day written with its year first."""
    year, month, day = map(int, re.split(r"[-/.]", words.raw["iso"]))
    start = asked.today.replace(year=year, month=month, day=day)
    return Meaning(start, start + DAY, "day")


def iso_range(words: MatchedWords, asked: Question) -> Meaning:
    """Return the days from one to another, of which the second may lack its year and month."""
    year, month, day = map(int, words.raw["a"].split("-"))
    last = [int(part) for part in words.raw["b"].split("-")]
    whole = [year, month, day][: 3 - len(last)] + last
    start, end = (asked.today.replace(year=y, month=m, day=d) for y, m, d in ((year, month, day), whole))
    if end < start:
        start, end = end, start
    return Meaning(start, end + DAY, "day")


def date_of_figures(words: MatchedWords, asked: Question) -> Meaning:
    """Return a date of figures; the order that is no date is not meant."""
    text = words.raw["figures"]
    parts = [int(part) for part in re.findall(r"\d+", text)]
    dotted = "." in text
    first, second = parts[:2]
    day_first = dotted or "-" in text or asked.day_first
    if first > 12 or second > 12:
        day_first = first > 12
    day, month = (first, second) if day_first else (second, first)
    if len(parts) < 3:
        return _day(words, day_of_year(asked, month, day), yearless=True)
    year = parts[2] if parts[2] > 99 else 2000 + parts[2] - (100 if parts[2] > 68 else 0)
    return _day(words, asked.today.replace(year=year, month=month, day=day))
