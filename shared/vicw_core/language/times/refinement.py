"""What stands beside a day and narrows it: its weekday, its week or month, a part of the day, an hour."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, timedelta

from vicw_core.language.times.clocks import Hours, hours_in
from vicw_core.language.times.expressions import TimeExpression, later, midnight
from vicw_core.language.times.matched import Question, clock
from vicw_core.language.times.vocabulary import Language, patterns

_BETWEEN = re.compile(
    r"[\s,]*(?:(?:on|of|in|at|am|um|vom|von|le|du|el|del|il|del|do|de|em|no|na|a|à|the|das?|dia|día|の|的)[\s,]*)?"
)
_WEEKDAY_BESIDE = re.compile(r"[\s,(]*(?:(?:den|dem|the|le|el|il|dia|día)\s)?\s*")
_OF_PERIOD = re.compile(
    r"[\s,(]*(?:(?:of|in|on|the|am|im|an|dem|de|du|des|le|la|en|el|del|da|do|na|no|em|il|di|nel|della|の|的)[\s,]*){0,2}"
)
_BACK = 40
_WEEKDAYS = frozenset({"wd_on", "lead_wd", "bare_wd"})
_DATES = frozenset({"date", "iso", "slash", "dotted", "dashed", "short_dotted", "short_slash", "ordinal"})
_MONTHS = frozenset({"lead_month", "month_year", "month_which", "period", "year_month"})
_LONG_DAY = timedelta(hours=26)
"""More than any day has, on the clocks of any zone."""
_WRITTEN_ALIKE = frozenset({"any", "zh", "ja"})
"""Languages whose dates are written as another's are."""


def with_weekdays(text: str, times: list[TimeExpression]) -> list[TimeExpression]:
    """Return the times, a day of the week and the date beside it as one: the date says which."""
    found: list[TimeExpression] = []
    for time in times:
        last = found[-1] if found else None
        if last is not None and _WEEKDAY_BESIDE.fullmatch(text, last.ends, time.begins) and last.repeats is None:
            if last.kind in _WEEKDAYS and time.kind in _DATES:
                found[-1] = replace(time, begins=last.begins)
                continue
            if last.kind in _DATES and time.kind in _WEEKDAYS and last.ends == time.begins:
                found[-1] = replace(last, ends=time.ends)
                continue
        found.append(time)
    return found


def with_periods(text: str, times: list[TimeExpression]) -> list[TimeExpression]:
    """Return the times, a day and the week or month beside it as one: "last week on Tuesday", "in March on the 5th"."""
    found: list[TimeExpression] = []
    for time in times:
        last = found[-1] if found else None
        if last is not None and _OF_PERIOD.fullmatch(text, last.ends, time.begins):
            day = _of_period(last, time) or _of_period(time, last)
            if day is not None:
                found[-1] = replace(day, begins=last.begins, ends=time.ends)
                continue
        found.append(time)
    return found


def _of_period(period: TimeExpression, day: TimeExpression) -> TimeExpression | None:
    """Return the day that is of a week or month; None if the two are something else, or there is no such day."""
    if day.repeats is not None or period.repeats is not None or period.rolling:
        return None
    if period.precision == "week" and period.kind == "period" and day.kind in _WEEKDAYS:
        weeks = timedelta(days=(day.start.date() - period.start.date()).days // 7 * 7)
        return replace(day, start=day.start - weeks, end=day.end - weeks)
    if period.precision == "month" and period.kind in _MONTHS and day.kind == "ordinal":
        try:
            start = day.start.replace(year=period.start.year, month=period.start.month)
        except ValueError:  # February 30
            return None
        return replace(day, start=start, end=start + (day.end - day.start), yearless=period.yearless)
    return None


def with_parts(text: str, times: list[TimeExpression], spoken: list[Language]) -> list[TimeExpression]:
    """Return the times, days narrowed to the part of the day beside them."""
    by_code = {one.code: one for one in spoken}
    found: list[TimeExpression] = []
    for number, time in enumerate(times):
        over = found[-1].ends if found else 0
        limit = times[number + 1].begins if number + 1 < len(times) else len(text)
        narrowed = None
        if time.precision == "day" and time.end - time.start <= _LONG_DAY and time.repeats is None:
            told_in = [by_code[time.language]] if time.language not in _WRITTEN_ALIKE else spoken
            narrowed = next(filter(None, (_at_part(text, time, one, over, limit) for one in told_in)), None)
        found.append(narrowed or time)
    return found


def _at_part(text: str, time: TimeExpression, one: Language, over: int, limit: int) -> TimeExpression | None:
    if match := patterns(one.code).part_behind.match(text, time.ends, limit):
        begins, ends = time.begins, match.end()
    elif match := patterns(one.code).part_before.search(text, max(over, time.begins - _BACK), time.begins):
        begins, ends = match.start(), time.ends
    else:
        return None
    first, last = one.value("part", match["part_0"])
    day = midnight(time.start)
    return replace(time, begins=begins, ends=ends, start=clock(day, first), end=clock(day, last), precision="part")


def with_hours(
    text: str, times: list[TimeExpression], spoken: list[Language], asked: Question, alone: bool
) -> list[TimeExpression]:
    """Return the times, days narrowed to the hours beside them; with ``alone``, hours of today, too."""
    hours = sorted(
        {
            (one.begins, one.ends): one for language_ in _clock_languages(spoken) for one in hours_in(text, language_)
        }.values(),
        key=lambda one: (one.begins - one.ends, one.begins),
    )
    taken: list[Hours] = []
    for one in hours:
        if all(one.ends <= other.begins or other.ends <= one.begins for other in taken):
            taken.append(one)
    for one in taken:
        day = _day_beside(text, times, one)
        if day is not None:
            narrowed = _narrowed(times[day], one)
            if narrowed is not None:
                times[day] = narrowed
        elif alone and not times and len(taken) == 1:
            today = _hours_of_today(one, asked)
            if today is not None:
                return [today]
    return times


def _clock_languages(spoken: list[Language]) -> list[str]:
    """Return the languages of a text's hours: the one with most of its words, and English."""
    codes = [one.code for one in spoken if one.code != "any"]
    return list(dict.fromkeys([*codes[:1], "en"]))


def _day_beside(text: str, times: list[TimeExpression], hours: Hours) -> int | None:
    """Return which time the hours belong to: the day next to them, or the only one there is."""
    days = [
        number
        for number, time in enumerate(times)
        if time.precision in {"day", "part"} and time.repeats is None and time.unit != "week" and not time.rolling
    ]
    for number in days:
        time = times[number]
        gap = text[time.ends : hours.begins] if time.ends <= hours.begins else text[hours.ends : time.begins]
        if (time.ends <= hours.begins or hours.ends <= time.begins) and _BETWEEN.fullmatch(gap):
            return number
        if time.begins <= hours.begins < time.ends:
            return number
    if len(days) == len(times) == 1 and not hours.exact:
        return days[0]
    return None


def _narrowed(time: TimeExpression, hours: Hours) -> TimeExpression | None:
    """Return the hours of a day or of its part; None if the part has none of them."""
    begins, ends = min(time.begins, hours.begins), max(time.ends, hours.ends)
    if time.end - time.start > _LONG_DAY:
        return None
    if hours.exact:
        for day in (midnight(time.start), midnight(time.start) + timedelta(days=1)):
            at = clock(day, *divmod(hours.since or 0, 60))
            if time.start <= at < time.end:
                end = later(at, timedelta(minutes=1))
                return replace(time, begins=begins, ends=ends, start=at, end=end, precision="minute", loose=True)
        return None
    day = midnight(time.start)
    start = time.start if hours.since is None else clock(day, *divmod(hours.since, 60))
    end = time.end if hours.until is None else clock(day, *divmod(hours.until, 60)).replace(fold=1)
    if start >= end:
        return None
    if start.astimezone(UTC) >= end.astimezone(UTC):  # hours that the clocks skip are those an hour later
        end = later(start, end - start)
    return replace(time, begins=begins, ends=ends, start=start, end=end, precision="part", loose=False)


def _hours_of_today(hours: Hours, asked: Question) -> TimeExpression | None:
    """Return hours of today, or of yesterday where today's are still to come; None for one hour to come."""
    if hours.exact and asked.ahead:
        return None
    for day in (asked.today,) if hours.exact or asked.ahead else (asked.today, asked.today - timedelta(days=1)):
        whole = TimeExpression(hours.begins, hours.ends, day, day + timedelta(days=1), kind="clock")
        found = _narrowed(whole, hours)
        if found is not None and (found.start <= asked.now or asked.ahead):
            return found
    return None
