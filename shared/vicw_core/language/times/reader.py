"""The reader of times: in questions and in texts, in all languages at once.

Of overlapping times the longer one counts, then the first. A part of the day or an hour beside a day narrows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from vicw_core.language.times.expressions import TimeExpression
from vicw_core.language.times.matched import MatchedWords, Meaning, Question
from vicw_core.language.times.meanings import meaning
from vicw_core.language.times.refinement import with_hours, with_parts, with_periods, with_weekdays
from vicw_core.language.times.tense import is_about_future
from vicw_core.language.times.vocabulary import Language, fold, languages, lowered, patterns

_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile(r"[\u3041-\u30ff]")
"""Letters that only Japanese has: its words for times are not read as Chinese ones."""
_FIGURE = re.compile(r"\d")
_NOON = re.compile(r"noon|mid|mittag|midi|minuit|mezz|med[ií]a?|meia|mei[oa]|正午|[点點時时]")
_NO_DATE = re.compile(
    r"(?:[$€£#¥]|\bv\.?|\b(?:version|release|build|chapter|section|page|figure|table|room|rule|port|line|step|item|no\.?"
    r"|number|paragraph|§|python|java|score[ds]?|ratio|episode|season|verse)\ ?|\d[.,:/])$",
    re.IGNORECASE | re.VERBOSE,
)
"""What stands before figures that are no date."""
_FIGURES = frozenset("date date_range month_year edge month_which lead_year".split())
_BEFORE_DATE = re.compile(
    r"(?:^|\b(?:on|since|until|till|by|before|after|from|of|between|and|to|in|for|around|the|during|last|next|through)"
    r",?\ )$",
    re.IGNORECASE,
)
_DIGITS_BEHIND = re.compile(r"\d\s*(?:st|nd|rd|th)|\d{4}|\d\W*$", re.IGNORECASE)
_BEFORE_DAY = re.compile(
    r"\b(?!(?:every|each|any|some|the|an?|this|next|last|of|on|for|to|with|and|or|about|by|like|than|from|between|until"
    r"|before|after|since|is|named?|call(?:ed)?|first|second|third|fourth|black|good|his|her|their|your|its)\ )"
    r"[a-z]+\ $"
)
"""The word before a bare day of the week: not a name, and not a word that makes it another day than the last."""
_BACK = 40
_SINCE = re.compile(r"\b(?:since|seit(?: dem)?|depuis(?: le)?|desde(?: el)?)(?: the)?\s+$")
_UNTIL = re.compile(r"(?<!\w)(?:until|till|bis(?: zu[mr]?)?|jusqu'(?:à|au|en)|hasta(?: el)?|fino al?|até)(?: the)?\s+$")
_BOOKED = re.compile(
    r"\b(?:book(?:ed)?|reserv(?:ed?|ations?)|schedul(?:ed?|ing)|plan(?:ned|s)?|arrang(?:ed?|ing)|invit(?:ed?|ations?)"
    r"|tickets?|table|appointments?)\b[^.;?!]{0,40}\sfor(?:\sthe)?\s+$"
)
"""What is booked "for" a day is to come, although the sentence is in the past tense."""
_MOST = 64
"""Times of one text that are read."""


def read_times(
    text: str,
    now: datetime,
    *,
    ahead: bool | None = None,
    day_first: bool | None = None,
    hours: bool = False,
    told: bool = False,
) -> list[TimeExpression]:
    """Return the times of a text in order, seen from ``now``, in whose zone days are counted.

    A weekday or a date without a year is the last one that was, or the next one if the text is about the future;
    ``ahead`` says so whatever its words. ``day_first`` is the order of dates with slashes that nothing else decides:
    None takes that of the text's language, the month first in English. ``hours`` reads hours beside no day, too, as
    hours of today. ``told``: it is told at ``now``, so that what goes on "until the middle of June" ends afterwards.
    Never raises for any text.
    """
    written, text = text, lowered(text)
    figures = _FIGURE.search(text) is not None
    spoken = _languages_of(text, figures=figures)
    if not spoken:
        return []
    asked = Question(now, bool(ahead), figures and _is_day_first(text, spoken, day_first))
    found: list[TimeExpression] = []
    for one in spoken:
        if ahead is None:
            asked = replace(asked, ahead=_is_ahead(one, spoken, text, written))
        found.extend(_matches(one, text, written, asked, told=told))
    kept: list[TimeExpression] = []
    for time in sorted(found, key=lambda one: (one.begins - one.ends, one.begins))[:_MOST]:
        if all(time.ends <= other.begins or other.ends <= time.begins for other in kept):
            kept.append(time)
    kept = with_periods(text, with_weekdays(text, sorted(kept, key=lambda one: one.begins)))
    if kept:
        kept = with_parts(text, kept, spoken)
    return with_hours(text, kept, spoken, asked, hours) if figures or _NOON.search(text) else kept


def times_in(
    text: str, now: datetime, *, ahead: bool | None = None, day_first: bool | None = None
) -> Iterator[TimeExpression]:
    """Yield the times at which a text says that something happened: dates and counted times, no vague ones.

    A length up to now ("for three weeks"), times that come again and bounds are left out. Holidays are dates.
    """
    for time in read_times(text, now, ahead=ahead, day_first=day_first, told=True):
        if (time.confidence >= _SURE or time.kind == "feast") and not time.rolling and time.repeats is None:
            yield time


_SURE = 0.9


def _is_ahead(one: Language, spoken: list[Language], text: str, written: str) -> bool:
    """Return whether a text is about the future, by the tense of the language; figures have that of the words."""
    if one.code == "any":
        one = next((other for other in spoken if other.future is not None), one)
    return one.future.search(text) is not None if one.future is not None else is_about_future(written)


def _languages_of(text: str, *, figures: bool) -> list[Language]:
    """Return the languages that a text may have times in, the one with most of its words first."""
    words = {*_WORD.findall(text)}
    found: list[tuple[int, Language]] = []
    for one in languages():
        if one.characters is not None:
            if not text.isascii() and one.characters.search(text) and not (one.code == "zh" and _KANA.search(text)):
                found.append((1, one))
            continue
        own = len(one.triggers & words)
        if own or (figures and (one.code in {"any", "en"} or not one.figure_words.isdisjoint(words))):
            found.append((own + len(one.figure_words & words), one))
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def _is_day_first(text: str, spoken: list[Language], day_first: bool | None) -> bool:
    """Return the order of dates with slashes: shown by one of the text, else set, else the language's."""
    shown = [(int(first), int(second)) for first, second in re.findall(r"\b(\d\d?)/(\d\d?)/(?:\d{4}|\d\d)\b", text)]
    if any(first > 12 >= second for first, second in shown):
        return True
    if any(second > 12 >= first for first, second in shown):
        return False
    if day_first is not None:
        return day_first
    known = [one.day_first for one in spoken if one.day_first is not None]
    return bool(known) and all(known)


def _matches(one: Language, text: str, written: str, asked: Question, *, told: bool) -> Iterator[TimeExpression]:
    place = 0
    known = patterns(one.code)
    while (match := known.whole.search(text, place)) is not None:
        kind = known.kinds[int((match.lastgroup or "k0")[1:])]
        words, begins = _words(kind, match)
        if not _is_meant(one, kind, match, words, written, begins):
            place = match.start() + 1  # a shorter one may begin within
            continue
        place = match.end()  # what is no date (February 30) has none within, either
        time = _time(one, kind, words, begins, place, _seen_from(text, begins, asked, told=told))
        if time is not None:
            yield time


def _seen_from(text: str, begins: int, asked: Question, *, told: bool) -> Question:
    """Return from where a time is seen: one behind "since" is over, one behind "until" to come, whatever the tense."""
    back = max(0, begins - 12)
    if asked.ahead and _SINCE.search(text, back, begins):
        return replace(asked, ahead=False)
    if told and not asked.ahead:
        to_come = _UNTIL.search(text, back, begins) or _BOOKED.search(text, max(0, begins - 70), begins)
        return replace(asked, ahead=True) if to_come else asked
    return asked


def _words(kind: str, match: re.Match[str]) -> tuple[dict[str, str], int]:
    """Return what a pattern's names matched, and where the time begins, behind its lead."""
    words = {name.rpartition("_")[0]: value for name, value in match.groupdict().items() if value}
    words.pop("", None)
    begins = match.start()
    if "lead" in words:
        begins += len(words["lead"])
        begins += len(match.string[begins:]) - len(match.string[begins:].lstrip())
    elif kind in {"short_slash", "short_dotted"}:
        begins += match[0].index(words["figures"])
    return words, begins


def _time(
    one: Language, kind: str, words: dict[str, str], begins: int, ends: int, asked: Question
) -> TimeExpression | None:
    try:
        found = meaning(kind, MatchedWords(one, words), asked)
        if found is None or (found.start >= found.end and found.repeats is None):
            return None
        return _expression(found, begins, ends, one.code, kind)
    except (ValueError, OverflowError, KeyError):
        return None


def _expression(found: Meaning, begins: int, ends: int, code: str, kind: str) -> TimeExpression:
    return TimeExpression(
        begins,
        ends,
        found.start,
        found.end,
        found.precision,
        found.confidence,
        found.loose,
        found.yearless,
        found.unit,
        found.rolling,
        found.repeats,
        code,
        kind,
    )


def _is_meant(one: Language, kind: str, match: re.Match[str], groups: dict[str, str], text: str, begins: int) -> bool:
    """Return whether words that fit a pattern are a time: figures may be of something else, "may" a verb."""
    before, ends = text[max(0, begins - _BACK) : begins], match.end()
    if text[begins].isdigit() and _NO_DATE.search(before):
        return False
    if kind == "bare_wd" and one.code == "en" and _BEFORE_DAY.search(before) is None:
        return False
    if kind in {"half", "quarter"} and text[begins:ends].startswith(("h", "q")):
        return "y" in groups
    for name in ("mo", "wd"):
        word = groups.get(name, "")
        if (
            fold(word) in one.careful
            and text[(at := match.start(f"{name}_{(match.lastgroup or '')[1:]}")) : at + 1].islower()
        ):
            if kind == "date" and name == "mo":
                if not _DIGITS_BEHIND.search(text[begins:ends]) and not _BEFORE_DATE.search(before):
                    return False
                continue
            if kind in _FIGURES or kind.startswith("wd_"):
                continue
            if groups.get("lead", groups.get("whose", "")).lower() not in one.strong:
                return False
    return True
