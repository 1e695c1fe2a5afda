"""Weeks, months, quarters, years, seasons, and their parts."""

from __future__ import annotations

from datetime import datetime, timedelta

from vicw_core.language.times.days import day_of_year
from vicw_core.language.times.expressions import LOOSE, months_on
from vicw_core.language.times.matched import DAY, MatchedWords, Meaning, Question
from vicw_core.language.times.vocabulary import fold


def period_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return a weekend, week, month, quarter or year: the last, this or the next one."""
    name = str(words.value("per"))
    if name in {"week", "weekend"}:
        told = "whose" in words and fold(words.raw["whose"]) in words.language.tables["steps"]
        step = words.step() if told else 0
        monday = asked.today - timedelta(days=asked.today.weekday()) + timedelta(weeks=step)
        if name == "week":
            return Meaning(monday, monday + timedelta(7), "week")
        saturday = monday + timedelta(days=5)
        if not told and saturday > asked.now and not asked.ahead:
            saturday -= timedelta(days=7)  # "at the weekend" is the last one, or the next one, by the tense
        return Meaning(saturday, saturday + timedelta(days=2), "day")
    return _long_period(name, words.step() if "whose" in words else 0, asked)


def _long_period(name: str, step: int, asked: Question) -> Meaning:
    if name == "month":
        start = months_on(asked.today.replace(day=1), step)
        return Meaning(start, months_on(start, 1), "month")
    if name == "quarter":
        start = months_on(asked.today.replace(day=1), -((asked.today.month - 1) % 3) + 3 * step)
        return Meaning(start, months_on(start, 3), "month")
    if name == "day":
        start = asked.today + timedelta(days=step)
        return Meaning(start, start + DAY, "day")
    start = months_on(asked.today.replace(month=1, day=1), 12 * step)
    return Meaning(start, months_on(start, 12), "year")


def _in_year(start: datetime, asked: Question, lasts: int = 0) -> datetime:
    """Return a time of this year, or the same of the year before or after, as the tense will have it.

    One of ``lasts`` months that goes on is of this year.
    """
    if asked.ahead:
        return start if start >= asked.today or months_on(start, lasts) > asked.today else months_on(start, 12)
    return start if start <= asked.today else months_on(start, -12)


def month_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return a month, of the year that is named or that the tense chooses."""
    month = asked.today.replace(month=words.value("mo"), day=1)
    if "y" in words:
        month = month.replace(year=words.value("y"))
        return Meaning(month, months_on(month, 1), "month")
    step = words.step() if "whose" in words else None
    ahead = asked.ahead if step is None else step > 0
    if step == 0:
        ahead = month > asked.today and asked.ahead
    month = _in_year(month, Question(asked.now, ahead, asked.day_first), 1)
    if step == 1 and month <= asked.today:
        month = months_on(month, 12)
    return Meaning(month, months_on(month, 1), "month", yearless=True)


def edge_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return a part of a month, a year or another period."""
    if "mo" in words:
        whole = month_of(words, asked)
    elif "same" in words:
        whole = _long_period_or_week(str(words.language.value("per", words.raw["same"])), 0, asked)
    elif "per" in words:
        whole = _long_period_or_week(str(words.value("per")), words.step(), asked)
    else:
        start = asked.today.replace(year=words.value("y1"), month=1, day=1)
        whole = Meaning(start, months_on(start, 12), "year")
    start, end = part_of(whole, str(words.language.value("edge", words.raw["edge"])))
    precision = "day" if end - start <= DAY else "week" if whole.precision == "month" else "month"
    return Meaning(start, end, precision, yearless=whole.yearless)


def _long_period_or_week(name: str, step: int, asked: Question) -> Meaning:
    if name == "week":
        monday = asked.today - timedelta(days=asked.today.weekday()) + timedelta(weeks=step)
        return Meaning(monday, monday + timedelta(7), "week")
    return _long_period(name, step, asked)


def part_of(whole: Meaning, edge: str) -> tuple[datetime, datetime]:
    """Return a part of a period: a third for start, middle and end, a half, so many days, a week or a weekend.

    The first week of a month is its first seven days, the last its last seven.
    """
    start, end = whole.start, whole.end
    days = round((end - start) / DAY)
    if edge in {"start", "middle", "end"}:
        cut = {"year": [0, 120, 243], "month": [0, 10, 20], "week": [0, 2, 4]}[whole.precision]
        if whole.precision == "year":
            bounds = [start, months_on(start, 4), months_on(start, 8), end]
        else:
            bounds = [*(start + timedelta(one) for one in cut), end]
        at = ("start", "middle", "end").index(edge)
        return bounds[at], bounds[at + 1]
    name, number = edge.rstrip("-0123456789"), int(edge[len(edge.rstrip("-0123456789")) :])
    if name == "half":
        middle = months_on(start, 6) if whole.precision == "year" else start + timedelta(round(days / 2))
        return (start, middle) if number == 1 else (middle, end)
    if name == "weekend":
        return _weekend(start, end, number)
    if name == "last" or number < 0:
        return end - timedelta(number if name == "last" else 7), end
    first = start if name == "first" else start + timedelta(7 * number - 7)
    return first, min(first + timedelta(number if name == "first" else 7), end)


def _weekend(start: datetime, end: datetime, number: int) -> tuple[datetime, datetime]:
    saturday = start + timedelta(days=(5 - start.weekday()) % 7)
    if number < 0:
        saturday = end - DAY - timedelta(days=((end - DAY).weekday() - 5) % 7)
    return saturday, saturday + timedelta(days=2)


def weekday_of_month(words: MatchedWords, asked: Question) -> Meaning:
    """Return the first, second or last of a day of the week in a month."""
    month, number = month_of(words, asked), words.value("q")
    if number < 0:
        last = month.end - DAY
        day = last - timedelta(days=(last.weekday() - words.value("wd")) % 7)
    else:
        day = month.start + timedelta(days=(words.value("wd") - month.start.weekday()) % 7 + 7 * number - 7)
    return Meaning(day, day + DAY, "day", yearless="y" not in words)


def quarter_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return a quarter of a year."""
    number = int(words.raw["quarter"]) if "quarter" in words else words.value("q") % 5
    return _share_of_year(words, asked, number, 3)


def half_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return a half of a year."""
    half = words.raw["half"]
    number = int(half) if half.isdigit() else int(words.language.value("q", half))
    return _share_of_year(words, asked, number, 6)


def _share_of_year(words: MatchedWords, asked: Question, number: int, months: int) -> Meaning:
    start = asked.today.replace(month=months * (number - 1) + 1, day=1)
    start = start.replace(year=words.value("y")) if "y" in words else _in_year(start, asked, months)
    return Meaning(start, months_on(start, months), "month", yearless="y" not in words)


def year_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return a year."""
    start = asked.today.replace(year=words.value("y"), month=1, day=1)
    return Meaning(start, months_on(start, 12), "year")


def decade_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return a decade; two figures up to 20 are of this century."""
    figures = words.raw["decade"]
    year = int(figures) if len(figures) == 4 else 1900 + int(figures) + (100 if int(figures) < 30 else 0)
    start = asked.today.replace(year=year, month=1, day=1)
    return Meaning(start, months_on(start, 120), "year", LOOSE)


def season_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return a season of three months, as north of the equator."""
    start = asked.today.replace(month=words.value("season"), day=1)
    if "y" in words:
        start = start.replace(year=words.value("y"))
    else:
        ahead = words.step() > 0 if "whose" in words else asked.ahead
        start = _in_year(start, Question(asked.now, ahead, asked.day_first), 3)
    return Meaning(start, months_on(start, 3), "month", LOOSE)


def feast_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return the day of a feast."""
    month, day = map(int, str(words.value("feast")).split("-"))
    start = asked.today.replace(month=month, day=day)
    start = start.replace(year=words.value("y")) if "y" in words else _in_year(start, asked)
    return Meaning(start, start + DAY, "day", LOOSE)


def week_of(words: MatchedWords, asked: Question) -> Meaning:
    """Return the week, or the weekend at its end, that has a date."""
    month, day = ("mo", "d") if "mo" in words else ("mo1", "d1")
    date = day_of_year(asked, words.value(month), words.value(day))
    if "y" in words:
        date = date.replace(year=words.value("y"))
    monday = date - timedelta(days=date.weekday())
    if str(words.value("per")) == "week":
        return Meaning(monday, monday + timedelta(7), "week", yearless="y" not in words)
    return Meaning(monday + timedelta(5), monday + timedelta(7), yearless="y" not in words)


def year_month(words: MatchedWords, asked: Question) -> Meaning:
    """Return a month written in figures."""
    start = asked.today.replace(year=words.value("y"), month=int(words.raw["month"]), day=1)
    return Meaning(start, months_on(start, 1), "month")
