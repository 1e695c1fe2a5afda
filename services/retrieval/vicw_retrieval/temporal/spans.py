"""Time intervals to which a question is limited, from its times and the words before them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache

from vicw_core.language.times.expressions import VAGUE, TimeExpression, months_on
from vicw_core.language.times.vocabulary import relations

BEGINNING = datetime.min.replace(tzinfo=UTC)
END = datetime.max.replace(tzinfo=UTC)


class SpanRelation(StrEnum):
    """Relation of what a question asks for to the question's time."""

    ON = "on"
    BEFORE = "before"
    AFTER = "after"
    AROUND = "around"


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """[start, end) in UTC, at least a microsecond long; before and after reach to the ends of time.

    ``confidence`` in [0, 1]: .9 for dates and counted times, .6 for seasons, holidays and "a few", .3 for "recently".
    """

    start: datetime
    end: datetime
    kind: SpanRelation
    confidence: float
    text: str
    begins: int
    """Position of ``text`` in the question: ``query[begins : begins + len(text)]``."""


@dataclass(frozen=True, slots=True)
class _Relations:
    """The words before and behind a time in one language."""

    between: re.Pattern[str]
    to: re.Pattern[str]
    sure_to: re.Pattern[str]
    """Of an interval whatever stands before it: "Monday to Wednesday"."""
    exclusive: re.Pattern[str]
    since: re.Pattern[str]
    leads: tuple[tuple[SpanRelation, re.Pattern[str]], ...]
    tails: tuple[tuple[SpanRelation, re.Pattern[str], str], ...]


@cache
def _relations(code: str) -> _Relations:
    words = relations(code)

    def either(*names: str) -> str:
        return "|".join(filter(None, (words.get(name) for name in names))) or "(?!)"

    def lead(*names: str) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{either(*names)})(?:\s+(?:{either('the')}))?\s+$", re.IGNORECASE)

    def joined(*names: str) -> re.Pattern[str]:
        return re.compile(rf",?\s*(?:(?:{either(*names)})\s*(?:(?:{either('the')})\s+)?|[-–—~～]\s*)", re.IGNORECASE)

    return _Relations(
        lead("between"),
        joined("to", "and"),
        joined("to"),
        re.compile(rf"(?:{either('before')})(?!\w)", re.IGNORECASE),
        re.compile(rf"(?:{either('since')})(?!\w)", re.IGNORECASE),
        (
            (SpanRelation.BEFORE, lead("before", "until")),
            (SpanRelation.AFTER, lead("after", "since")),
            (SpanRelation.AROUND, lead("around")),
            (SpanRelation.ON, lead("on")),
        ),
        tuple(
            (kind, re.compile(either(f"{name}_behind")), name)
            for kind, name in (
                (SpanRelation.BEFORE, "before"),
                (SpanRelation.BEFORE, "until"),
                (SpanRelation.AFTER, "since"),
                (SpanRelation.AFTER, "after"),
                (SpanRelation.AROUND, "around"),
            )
        ),
    )


_BESIDE = re.compile(
    r"\b(?:the|last|a|one|two|three)\ (?P<unit>day|week|weekend|month|year|night|morning|evening)s?"
    r"\ (?P<way>before|after|following|prior\ to)"
    r"\ (?:the\ )?$",
    re.IGNORECASE,
)
_BEFORE_IT = 32
"""Characters that are read before a time: the longest words above, and then some."""
_WEEK = timedelta(days=7)
_MONTH = timedelta(days=28)
_UNITS = {"day": 1, "night": 1, "morning": 1, "evening": 1, "week": 7, "weekend": 7, "month": 31, "year": 366}


def spans_of(query: str, phrases: Sequence[TimeExpression], asked_at: datetime) -> list[TimeSpan]:
    """Return the spans that the time expressions of a question mean, in order."""
    spans: list[TimeSpan] = []
    number = 0
    while number < len(phrases):
        pair = phrases[number : number + 2]
        joined = _between(query, *pair) if len(pair) > 1 else None
        span = joined or _single(query, phrases[number], asked_at)
        number += 2 if joined else 1
        if span is not None and span.start < span.end:
            spans.append(span)
    return [span for span in spans if not any(_within(span, other) for other in spans)]


def _within(span: TimeSpan, other: TimeSpan) -> bool:
    """Return whether another span is better: its words overlap and are longer, or it is exact and this one vague."""
    if other.begins < span.begins + len(span.text) and span.begins < other.begins + len(other.text):
        return len(span.text) < len(other.text)
    return span.confidence <= VAGUE < other.confidence


def _between(query: str, first: TimeExpression, second: TimeExpression) -> TimeSpan | None:
    """Return the interval between two times; a first one without a year gets that of the second."""
    known = _relations(first.language)
    lead = known.between.search(query[max(0, first.begins - _BEFORE_IT) : first.begins])
    between = query[first.ends : second.begins]
    if (known.sure_to if lead is None else known.to).fullmatch(between) is None or first.precision == "minute":
        return None
    start, end = first.start, second.end
    try:
        if first.kind == "ordinal" and second.kind == "date" and " of " not in query[first.begins : first.ends]:
            start = second.start.replace(day=start.day)  # "between the 3rd and the 6th of June"
            start = start if start <= second.start else months_on(start, -1)
        elif first.yearless and not second.yearless:
            start = start.replace(year=second.start.year)
        days = first.precision == "day" and "wd" not in first.kind
        if days and first.yearless and second.yearless and start.month == second.start.month:
            start, end = start.replace(year=second.start.year), second.end
        if days and timedelta() < start - second.start < _MONTH:
            start, end = second.start, start + (first.end - first.start)  # the wrong way round
        if start > second.start and first.yearless:
            start = months_on(start, -12)
        if "wd" in first.kind and timedelta() < first.start - second.start < _WEEK:
            start -= _WEEK  # days of the week, each the last one that was
    except (ValueError, OverflowError):
        return None
    if start >= end:  # a span the wrong way round
        start, end = second.start, first.end
    begins = first.begins - (len(lead[0]) if lead else 0)
    return _span(query, begins, second.ends, start, end, SpanRelation.ON, min(first.confidence, second.confidence))


def _single(query: str, phrase: TimeExpression, asked_at: datetime) -> TimeSpan | None:
    start, end = phrase.start, phrase.end
    before = query[max(0, phrase.begins - _BEFORE_IT) : phrase.begins]
    confidence = phrase.confidence
    if beside := _BESIDE.search(before):
        length = timedelta(days=_UNITS[beside["unit"].lower()])
        try:
            start, end = (
                (start - length, start) if beside["way"].lower() in {"before", "prior to"} else (end, end + length)
            )
        except OverflowError:
            return None
        return _span(query, phrase.begins - len(beside[0]), phrase.ends, start, end, SpanRelation.ON, confidence)
    kind, relation, begins, ends = _relation(query, phrase, before)
    try:
        start, end = _bounds(kind, relation, start, end)
    except OverflowError:
        return None
    return _span(query, begins, ends, start, end, kind, confidence)


def _relation(query: str, phrase: TimeExpression, before: str) -> tuple[SpanRelation, str, int, int]:
    """Return the relation to a time, its name in the vocabulary, if that matters, and the position of both."""
    known = _relations(phrase.language)
    for kind, words in known.leads:
        if lead := words.search(before):
            edge = "before" if known.exclusive.match(lead[0]) else "since" if known.since.match(lead[0]) else "lead"
            return kind, edge, phrase.begins - len(lead[0]), phrase.ends
    for kind, words, relation in known.tails:
        if not phrase.kind.endswith("_range") and (behind := words.match(query, phrase.ends)):
            return kind, relation, phrase.begins, behind.end()
    return (SpanRelation.AROUND if phrase.loose else SpanRelation.ON), "", phrase.begins, phrase.ends


def _bounds(kind: SpanRelation, lead: str, start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """Return the interval that the words beside a time make of it. Raises OverflowError."""
    if kind is SpanRelation.BEFORE:  # "until Friday" includes Friday
        return BEGINNING, start if lead == "before" else end
    if kind is SpanRelation.AFTER:
        return start if lead == "since" else end, END
    return (start - (end - start), end + (end - start)) if kind is SpanRelation.AROUND and lead else (start, end)


def _span(
    query: str, begins: int, ends: int, start: datetime, end: datetime, kind: SpanRelation, confidence: float
) -> TimeSpan | None:
    try:
        start, end = start.astimezone(UTC), end.astimezone(UTC)
    except OverflowError:
        return None
    return TimeSpan(start, end, kind, confidence, query[begins:ends], begins)
