"""What each kind of pattern means: from its words to an interval on the clock of a zone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from vicw_core.language.times.expressions import LOOSE, VAGUE, Repeats, end_of, later, midnight, months_on
from vicw_core.language.times.vocabulary import Language, fold

_CJK = "零一二三四五六七八九"
_DAY = timedelta(days=1)
_MINUTES = {"second": 1 / 60, "minute": 1, "hour": 60}
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True, slots=True)
class Question:
    """From where a time is seen: the instant, in the zone of the clocks, the tense, and the order of figures."""

    now: datetime
    ahead: bool
    day_first: bool

    @property
    def today(self) -> datetime:
        """Return the beginning of the day."""
        return midnight(self.now)


@dataclass(frozen=True, slots=True)
class Meaning:
    """An interval, with what an expression has beside its position."""

    start: datetime
    end: datetime
    precision: str = "day"
    confidence: float = 0.9
    loose: bool = False
    yearless: bool = False
    unit: str | None = None
    rolling: bool = False
    repeats: Repeats | None = None


class Words:
    """The words that a pattern matched, by name, in one language."""

    def __init__(self, language: Language, words: Mapping[str, str]) -> None:
        self.language = language
        self.raw = words

    def __contains__(self, name: str) -> bool:
        return name in self.raw

    def has(self, name: str) -> bool:
        """Return whether a name matched."""
        return name in self.raw

    def value(self, name: str) -> int:
        """Return the number or table's value of a name's words. Raises KeyError."""
        words = self.raw[name]
        table = re.sub(r"\d$", "", name)
        if table in {"n", "d", "od", "y"} and (figures := re.match(r"\d+", words)):
            return int(figures[0])
        if table in {"n", "d", "od"} and (number := cjk_number(words)) is not None:
            return number
        if table in {"d", "od"}:
            table = "q"
        value: int = self.language.value(table, words)
        return value

    def step(self) -> int:
        """Return -1 for last, 0 for this, 1 for next: the pattern's ``whose``."""
        which: dict[str, int] = self.language.tables["steps"]  # type: ignore[assignment]
        return which[fold(self.raw["whose"])]


def cjk_number(words: str) -> int | None:
    """Return the value of a number up to 99 in Chinese characters, with or without a mark behind; None for others."""
    match = re.match(r"(?:([一二两三四五六七八九])?(十))?([零一二两三四五六七八九])?", words)
    if match is None or not match[0]:
        return None
    tens = (_CJK.index(match[1].replace("两", "二")) if match[1] else 1) if match[2] else 0
    return 10 * tens + (_CJK.index(match[3].replace("两", "二")) if match[3] else 0)


def meaning(kind: str, words: Words, asked: Question) -> Meaning | None:
    """Return what a pattern's words mean; None if nothing. Raises ValueError, OverflowError for no such time."""
    return _KINDS[kind](words, asked)


def _minutes(asked: Question, minutes: float, unit: str = "minute") -> Meaning:
    at = later(asked.now, timedelta(minutes=minutes))
    return Meaning(at, later(at, timedelta(minutes=60 if unit == "hour" else 1)), unit, unit=unit, loose=True)


def _counted(words: Words, asked: Question, sign: int) -> Meaning:
    unit = str(words.value("u"))
    count = sign * words.value("n")
    if unit in _MINUTES:
        return _minutes(asked, count * _MINUTES[unit], "hour" if unit == "hour" else "minute")
    if unit in _DAYS:
        start = asked.today + timedelta(days=count * _DAYS[unit])
        return Meaning(start, start + _DAY, "day", loose=unit != "day", unit="day" if unit == "day" else "week")
    start = months_on(asked.today, count * _MONTHS[unit])
    unit = "month" if unit == "quarter" else unit
    return Meaning(start, end_of(start, unit), unit, loose=True, unit=unit)


def _duration(words: Words, asked: Question, sign: int) -> Meaning:
    return _minutes(asked, sign * words.value("dur"))


def away(at: datetime, count: int, unit: str) -> datetime:
    """Return an instant so many units away: time that passes for minutes and hours, else by the calendar."""
    if unit in _MINUTES:
        return later(at, timedelta(minutes=count * _MINUTES[unit]))
    return at + timedelta(count * _DAYS[unit]) if unit in _DAYS else months_on(at, count * _MONTHS[unit])


def _few(words: Words, asked: Question) -> Meaning:
    unit = str(words.value("u"))
    many = words.language.tables.get("numbers", {}).get(fold(words.raw["few"]), 5)
    start = away(asked.now, -9 if many == 7 else -7, unit)
    return Meaning(start, away(asked.now, -2, unit), unit, LOOSE, loose=True, rolling=True)


def _rolling(words: Words, asked: Question, sign: int) -> Meaning:
    unit, count = str(words.value("u")), words.value("n") if "n" in words else 1
    if sign > 0:
        return Meaning(asked.now, away(asked.now, count, unit), unit, rolling=True)
    return Meaning(away(asked.now, -count, unit), asked.now, unit, rolling=True)


def _hours(day: datetime, first: int, last: int) -> Meaning:
    """Return hours of a day, which may go on after midnight, on the clocks of its zone."""
    return Meaning(clock(day, first), clock(day, last), "part")


def clock(day: datetime, hour: int, minute: int = 0) -> datetime:
    """Return an hour of a day; from 24 on it is one of the next day."""
    days, hour = divmod(hour, 24)
    return (day + timedelta(days=days)).replace(hour=hour, minute=minute, fold=0)


def _day(words: Words, day: datetime, yearless: bool = False) -> Meaning:
    """Return a day, or the part of it that the words name."""
    if "part" in words:
        first, last = words.language.value("part", words.raw["part"])
        return _hours(day, first, last)
    return Meaning(day, day + _DAY, "day", yearless=yearless)


def _near(words: Words, asked: Question) -> Meaning:
    return _day(words, asked.today + timedelta(days=words.value("near")))


def _moment(words: Words, asked: Question) -> Meaning:
    day, first, last = words.language.value("moment", words.raw["moment"])
    return _hours(asked.today + timedelta(days=day), first, last)


def _yesterday(words: Words, asked: Question) -> Meaning:
    first, last = words.language.value("part", words.raw["yesterday"])
    return _hours(asked.today - _DAY, first, last)


def _weekday(words: Words, asked: Question, way: str) -> Meaning:
    """Return the last or next day of this name, today never being one of them; ``this`` is from today on."""
    on = (words.value("wd") - asked.today.weekday()) % 7
    if way == "next" or (way == "on" and asked.ahead):
        on = on or 7
    elif way != "this":
        on -= 7
    return _day(words, asked.today + timedelta(days=on))


def _week_of_weekday(words: Words, asked: Question) -> Meaning:
    day = words.value("wd") - asked.today.weekday() + 7 * words.step()
    return _day(words, asked.today + timedelta(days=day))


def _weeks_ago(words: Words, asked: Question) -> Meaning:
    day = words.value("wd") - asked.today.weekday() - 7 * words.value("n")
    return _day(words, asked.today + timedelta(days=day))


def _period(words: Words, asked: Question) -> Meaning:
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
        return Meaning(start, start + _DAY, "day")
    start = months_on(asked.today.replace(month=1, day=1), 12 * step)
    return Meaning(start, months_on(start, 12), "year")


def _in_year(start: datetime, asked: Question, months: int = 12) -> datetime:
    """Return a time of this year, or the same of the year before or after, as the tense will have it."""
    if asked.ahead:
        return start if start >= asked.today else months_on(start, months)
    return start if start <= asked.today else months_on(start, -months)


def _date(words: Words, asked: Question) -> Meaning:
    month, day = words.value("mo"), words.value("d")
    if "y" in words:
        return _day(words, asked.today.replace(year=words.value("y"), month=month, day=day))
    return _day(words, _fitting(_of_year(asked, month, day), words, asked), yearless=True)


def _of_year(asked: Question, month: int, day: int) -> datetime:
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


def _fitting(day: datetime, words: Words, asked: Question) -> datetime:
    """Return a day of the year before or after, if only there it is the day of the week that is named."""
    if "wd" not in words or day.weekday() == words.value("wd"):
        return day
    others = (day.replace(year=day.year + step) for step in (1, -1) if (day.month, day.day) != (2, 29))
    return next((other for other in others if other.weekday() == words.value("wd")), day)


def _date_range(words: Words, asked: Question) -> Meaning:
    first = _date(words, asked)
    last = first.start.replace(day=words.value("d1"))
    if last < first.start:
        first, last = Meaning(last, last + _DAY), first.start
    return Meaning(first.start, last + _DAY, "day", yearless="y" not in words)


def _month(words: Words, asked: Question) -> Meaning:
    month = asked.today.replace(month=words.value("mo"), day=1)
    if "y" in words:
        month = month.replace(year=words.value("y"))
        return Meaning(month, months_on(month, 1), "month")
    step = words.step() if "whose" in words else None
    ahead = asked.ahead if step is None else step > 0
    if step == 0:
        ahead = month > asked.today and asked.ahead
    month = _in_year(month, Question(asked.now, ahead, asked.day_first))
    if step == 1 and month <= asked.today:
        month = months_on(month, 12)
    return Meaning(month, months_on(month, 1), "month", yearless=True)


def _edge(words: Words, asked: Question) -> Meaning:
    """Return a part of a month, a year or another period."""
    if "mo" in words:
        whole = _month(words, asked)
    elif "same" in words:
        whole = _long_period_or_week(str(words.language.value("per", words.raw["same"])), 0, asked)
    elif "per" in words:
        whole = _long_period_or_week(str(words.value("per")), words.step(), asked)
    else:
        start = asked.today.replace(year=words.value("y1"), month=1, day=1)
        whole = Meaning(start, months_on(start, 12), "year")
    start, end = part_of(whole, str(words.language.value("edge", words.raw["edge"])))
    return Meaning(start, end, "week" if whole.precision == "month" else "month", yearless=whole.yearless)


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
    days = round((end - start) / _DAY)
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
        saturday = end - _DAY - timedelta(days=((end - _DAY).weekday() - 5) % 7)
    return saturday, saturday + timedelta(days=2)


def _weekday_of_month(words: Words, asked: Question) -> Meaning:
    month, number = _month(words, asked), words.value("q")
    if number < 0:
        last = month.end - _DAY
        day = last - timedelta(days=(last.weekday() - words.value("wd")) % 7)
    else:
        day = month.start + timedelta(days=(words.value("wd") - month.start.weekday()) % 7 + 7 * number - 7)
    return Meaning(day, day + _DAY, "day", yearless="y" not in words)


def _quarter(words: Words, asked: Question) -> Meaning:
    number = int(words.raw["quarter"]) if "quarter" in words else words.value("q") % 5
    return _share_of_year(words, asked, number, 3)


def _half(words: Words, asked: Question) -> Meaning:
    half = words.raw["half"]
    number = int(half) if half.isdigit() else int(words.language.value("q", half))
    return _share_of_year(words, asked, number, 6)


def _share_of_year(words: Words, asked: Question, number: int, months: int) -> Meaning:
    start = asked.today.replace(month=months * (number - 1) + 1, day=1)
    start = start.replace(year=words.value("y")) if "y" in words else _in_year(start, asked)
    return Meaning(start, months_on(start, months), "month", yearless="y" not in words)


def _year(words: Words, asked: Question) -> Meaning:
    start = asked.today.replace(year=words.value("y"), month=1, day=1)
    return Meaning(start, months_on(start, 12), "year")


def _decade(words: Words, asked: Question) -> Meaning:
    figures = words.raw["decade"]
    year = int(figures) if len(figures) == 4 else 1900 + int(figures) + (100 if int(figures) < 30 else 0)
    start = asked.today.replace(year=year, month=1, day=1)
    return Meaning(start, months_on(start, 120), "year", LOOSE)


def _season(words: Words, asked: Question) -> Meaning:
    start = asked.today.replace(month=words.value("season"), day=1)
    if "y" in words:
        start = start.replace(year=words.value("y"))
    else:
        ahead = words.step() > 0 if "whose" in words else asked.ahead
        start = _in_year(start, Question(asked.now, ahead, asked.day_first))
    return Meaning(start, months_on(start, 3), "month", LOOSE)


def _feast(words: Words, asked: Question) -> Meaning:
    month, day = map(int, str(words.value("feast")).split("-"))
    start = asked.today.replace(month=month, day=day)
    start = start.replace(year=words.value("y")) if "y" in words else _in_year(start, asked)
    return Meaning(start, start + _DAY, "day", LOOSE)


def _ordinal(words: Words, asked: Question) -> Meaning | None:
    """Return a day of a month that is not named: the last one that was, or the next one."""
    day = words.value("od") if "od" in words else words.value("d")
    month = asked.today.replace(day=1)
    if "whose" in words:
        month = months_on(month, words.step())
        return Meaning(start := month.replace(day=day), start + _DAY, "day")
    for step in range(12):
        try:
            start = months_on(month, step if asked.ahead else -step).replace(day=day)
        except ValueError:
            continue  # the 31st of June
        fits = start >= asked.today if asked.ahead else start <= asked.today
        if fits and ("wd" not in words or start.weekday() == words.value("wd")):
            return Meaning(start, start + _DAY, "day")
    return None


def _every(words: Words, asked: Question) -> Meaning:
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
    return Meaning(asked.today, asked.today + _DAY, repeats=Repeats(weekdays, since, until))


def _vague(words: Words, asked: Question) -> Meaning:
    minutes = words.value("vague")
    start = later(asked.now, timedelta(minutes=-minutes))
    sure = LOOSE if minutes < 1440 else VAGUE
    return Meaning(start, asked.now, "minute", sure, loose=True, rolling=True)


def _coming(_: Words, asked: Question) -> Meaning:
    return Meaning(asked.now, months_on(asked.now, 12), "year", LOOSE, rolling=True)


def _iso(words: Words, asked: Question) -> Meaning:
    year, month, day = map(int, re.split(r"[-/.]", words.raw["iso"]))
    start = asked.today.replace(year=year, month=month, day=day)
    return Meaning(start, start + _DAY, "day")


def _iso_range(words: Words, asked: Question) -> Meaning:
    year, month, day = map(int, words.raw["a"].split("-"))
    last = [int(part) for part in words.raw["b"].split("-")]
    whole = [year, month, day][: 3 - len(last)] + last
    start, end = (asked.today.replace(year=y, month=m, day=d) for y, m, d in ((year, month, day), whole))
    if end < start:
        start, end = end, start
    return Meaning(start, end + _DAY, "day")


def _figures(words: Words, asked: Question) -> Meaning:
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
        return _day(words, _of_year(asked, month, day), yearless=True)
    year = parts[2] if parts[2] > 99 else 2000 + parts[2] - (100 if parts[2] > 68 else 0)
    return _day(words, asked.today.replace(year=year, month=month, day=day))


_KINDS: dict[str, Callable[[Words, Question], Meaning | None]] = {
    "ago": lambda words, asked: _counted(words, asked, -1),
    "ahead": lambda words, asked: _counted(words, asked, 1),
    "bare_wd": lambda words, asked: _weekday(words, asked, "on"),
    "coming": _coming,
    "dashed": _figures,
    "date": _date,
    "date_range": _date_range,
    "decade": _decade,
    "dotted": _figures,
    "dur_ago": lambda words, asked: _duration(words, asked, -1),
    "dur_ahead": lambda words, asked: _duration(words, asked, 1),
    "earlier": lambda words, asked: Meaning(asked.today, asked.now, "hour"),
    "edge": _edge,
    "every": _every,
    "feast": _feast,
    "few_ago": _few,
    "half": _half,
    "iso": _iso,
    "iso_range": _iso_range,
    "lead_month": _month,
    "lead_wd": lambda words, asked: _weekday(words, asked, "on"),
    "lead_year": _year,
    "moment": _moment,
    "month_which": _month,
    "month_year": _month,
    "near": _near,
    "ordinal": _ordinal,
    "part_of_last": _yesterday,
    "period": _period,
    "quarter": _quarter,
    "rolling": lambda words, asked: _rolling(words, asked, -1),
    "rolling_ahead": lambda words, asked: _rolling(words, asked, 1),
    "season": _season,
    "short_dotted": _figures,
    "short_slash": _figures,
    "slash": _figures,
    "vague": _vague,
    "wd_ago": _weeks_ago,
    "wd_due": lambda words, asked: _weekday(words, asked, "next"),
    "wd_last": lambda words, asked: _weekday(words, asked, "last"),
    "wd_next": lambda words, asked: _weekday(words, asked, "next"),
    "wd_of_month": _weekday_of_month,
    "wd_on": lambda words, asked: _weekday(words, asked, "on"),
    "wd_ordinal": _ordinal,
    "wd_part": lambda words, asked: _weekday(words, asked, "on"),
    "wd_this": lambda words, asked: _weekday(words, asked, "this"),
    "wd_week": _week_of_weekday,
}
