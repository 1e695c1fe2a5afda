"""Hours beside a day, or alone: at 3pm, between 2pm and 4pm, after 4pm, before noon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from vicw_core.language.times.matched import cjk_number
from vicw_core.language.times.vocabulary import raw_data


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours that a text names: [``since``, ``until``) in minutes of a day, None for the day's end or beginning."""

    begins: int
    ends: int
    since: int | None
    until: int | None
    exact: bool
    """Whether it is one hour ("at 3pm"), and both are the same."""


def hours_in(text: str, code: str) -> Iterator[Hours]:
    """Yield the hours that a text names in a language, in order."""
    pattern = _pattern(code)
    if pattern is None:
        return
    for match in pattern.finditer(text):
        words = {name: value.lower() for name, value in match.groupdict().items() if value}
        start = _minutes(words, "a")
        if "range" in words:
            end = _minutes(words, "b")
            if start is None:
                start = _short(words, end)
            elif end is not None:
                start, end = _of_one_half(words, start, end)
            if start is not None and end is not None:
                yield Hours(match.start(), match.end(), start, end + (1440 if end <= start else 0), exact=False)
            continue
        start = _minutes(words, "d" if "behind" in words else "c")
        if start is not None:
            relation = next((name for name in ("before", "after") if {name, f"{name}_d"} & words.keys()), "at")
            if relation != "at":
                since, until = (None, start) if relation == "before" else (start, None)
                yield Hours(match.start(), match.end(), since, until, exact=False)
            else:
                yield Hours(match.start(), match.end(), start, start, exact=True)


def _minutes(words: dict[str, str], which: str) -> int | None:
    """Return an hour of the day in minutes."""
    if f"noon_{which}" in words:
        return 720
    if f"midnight_{which}" in words:
        return 1440 if which == "b" else 0
    for number in ("", "2", "3"):
        if f"h{number}_{which}" in words:
            figures = words[f"h{number}_{which}"]
            hour = int(figures) if figures.isdecimal() else cjk_number(figures) or 0
            minute = words.get(f"m{number}_{which}")
            if f"am_{which}" in words and hour <= 12:
                hour %= 12
            elif f"pm_{which}" in words and hour <= 12:
                hour = hour % 12 + 12
            half = 30 if f"half_{which}" in words else 0
            return hour * 60 + int(minute or half) if hour < 25 else None
    return None


def _of_one_half(words: dict[str, str], start: int, end: int) -> tuple[int, int]:
    """Return two hours of which only one is marked as of the afternoon: both are, if that is their order."""
    first, second = (bool(words.keys() & {f"{half}_{which}" for half in ("am", "pm")}) for which in "ab")
    if "pm_a" in words and not second and end <= start < end + 720:
        return start, end + 720
    if "pm_b" in words and not first and start + 720 < end:
        return start + 720, end
    return start, end


def _short(words: dict[str, str], end: int | None) -> int | None:
    """Return the first hour of a range that has no mark of its own: it is that of the second, if earlier."""
    if end is None:
        return None
    start = int(words["short"]) * 60 + int(words.get("short_minute", "0"))
    marked = bool(words.keys() & {"am_b", "pm_b"})
    if marked and start < 720:
        later = start + 720
        return later if later < end or (later == 1440 and end > 1440) else start
    return start


@cache
def _pattern(code: str) -> re.Pattern[str] | None:
    data = raw_data(code)
    if "clock" not in data:
        return None
    clock, words = data["clock"], data["clock_words"]
    first, second, alone = (re.sub(r"\(\?P<(\w+)>", rf"(?P<\1_{which}>", clock) for which in "abc")
    short = r"(?P<short>[01]?\d|2[0-4])(?::(?P<short_minute>[0-5]\d))?"
    lead = {name: "|".join(words.get(name, ["(?!)"])) for name in ("between", "to", "before", "after", "at")}
    behind = {name: "|".join(words.get(f"{name}_behind", ["(?!)"])) for name in ("before", "after", "at")}
    body = (
        rf"(?P<range>(?:(?:{lead['between']})\s*)?(?:{first}|{short})\s*(?:{lead['to']})\s*(?:{second})"
        rf"(?:{'|'.join(words.get('range_behind', ['']))}))"
        rf"|(?:(?P<before>{lead['before']})|(?P<after>{lead['after']})|(?P<at>{lead['at']}))\s*(?:{alone})"
    )
    if behind["at"] != "(?!)":
        last = re.sub(r"\(\?P<(\w+)>", r"(?P<\1_d>", clock)
        body += (
            rf"|(?P<behind>{last})(?:(?P<before_d>{behind['before']})|(?P<after_d>{behind['after']})|{behind['at']})"
        )
    body = body.replace(" ", r"\s+")
    return re.compile(rf"(?<![\w.:/])(?:{body})(?!\w)" if data.get("spaced", True) else f"(?:{body})")
