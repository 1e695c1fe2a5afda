"""What a pattern matched, from where it is seen, and what it means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from vicw_core.language.times.expressions import Repeats, later, midnight, months_on
from vicw_core.language.times.vocabulary import Language, fold

_CJK = "零一二三四五六七八九"
DAY = timedelta(days=1)
MINUTES = {"second": 1 / 60, "minute": 1, "hour": 60}
DAYS = {"day": 1, "week": 7, "fortnight": 14}
MONTHS = {"month": 1, "quarter": 3, "year": 12}


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


class MatchedWords:
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


def away(at: datetime, count: int, unit: str) -> datetime:
    """Return an instant so many units away: time that passes for minutes and hours, else by the calendar."""
    if unit in MINUTES:
        return later(at, timedelta(minutes=count * MINUTES[unit]))
    return at + timedelta(count * DAYS[unit]) if unit in DAYS else months_on(at, count * MONTHS[unit])


def clock(day: datetime, hour: int, minute: int = 0) -> datetime:
    """Return an hour of a day; from 24 on it is one of the next day."""
    days, hour = divmod(hour, 24)
    return (day + timedelta(days=days)).replace(hour=hour, minute=minute, fold=0)
