"""Time intervals to which a question is limited, from its times and the words before them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from vicw_core.language.times import months_on
from vicw_retrieval.temporal.time_expressions import VAGUE, TimeExpression

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


_BEFORE = re.compile(r"\b(?:before|prior\ to|until|till|up\ to|by|earlier\ than)\ (?:the\ )?$", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:after|since|following|later\ than)\ (?:the\ )?$", re.IGNORECASE)
_AROUND = re.compile(r"\b(?:around|circa|sometime\ in)\ (?:the\ )?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|from)\ (?:the\ )?$", re.IGNORECASE)
_ON = re.compile(r"\b(?:on|in|at|during|throughout|over|of|from|for)\ (?:the\ )?$", re.IGNORECASE)
_TO = re.compile(r",?\ (?:and|to|until|till|through)\ (?:the\ )?", re.IGNORECASE)
_BESIDE = re.compile(
    r"\b(?:the|last|a|one|two|three)\ (?P<unit>day|week|weekend|month|year|night|morning|evening)s?"
    r"\ (?P<way>before|after|following|prior\ to)"
    r"\ (?:the\ )?$",
    re.IGNORECASE,
)
_BEFORE_IT = 32
"""Characters that are read before a time: the longest words above, and then some."""
_WEEK = timedelta(days=7)
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
    lead = _BETWEEN.search(query[max(0, first.begins - _BEFORE_IT) : first.begins])
    if lead is None or _TO.fullmatch(query[first.ends : second.begins]) is None:
        return None
    start, end = first.start, second.end
    try:
        if first.yearless and not second.yearless:
            start = start.replace(year=second.start.year)
        if start > second.start and first.yearless:
            start = months_on(start, -12)
        if timedelta() < start - second.start < _WEEK:  # days of the week, each the last one that was
            start -= _WEEK
    except (ValueError, OverflowError):
        return None
    begins = first.begins - len(lead[0])
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
    for kind, words in _KINDS:
        if lead := words.search(before):
            try:
                start, end = _bounds(kind, lead[0].lower(), start, end)
            except OverflowError:
                return None
            return _span(query, phrase.begins - len(lead[0]), phrase.ends, start, end, kind, confidence)
    kind = SpanRelation.AROUND if phrase.loose else SpanRelation.ON
    return _span(query, phrase.begins, phrase.ends, start, end, kind, confidence)


def _bounds(kind: SpanRelation, lead: str, start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """Return the interval that the words before a time make of it. Raises OverflowError."""
    if kind is SpanRelation.BEFORE:  # "until Friday" includes Friday
        return BEGINNING, start if lead.startswith(("before", "prior", "earlier")) else end
    if kind is SpanRelation.AFTER:
        return start if lead.startswith("since") else end, END
    return (start - (end - start), end + (end - start)) if kind is SpanRelation.AROUND else (start, end)


_KINDS = (
    (SpanRelation.BEFORE, _BEFORE),
    (SpanRelation.AFTER, _AFTER),
    (SpanRelation.AROUND, _AROUND),
    (SpanRelation.ON, _ON),
)


def _span(
    query: str, begins: int, ends: int, start: datetime, end: datetime, kind: SpanRelation, confidence: float
) -> TimeSpan | None:
    try:
        start, end = start.astimezone(UTC), end.astimezone(UTC)
    except OverflowError:
        return None
    return TimeSpan(start, end, kind, confidence, query[begins:ends], begins)
