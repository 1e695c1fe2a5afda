"""Temporal analysis of a question, the times and the events that it names: rules, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from vicw_core.language.times.expressions import TimeExpression
from vicw_retrieval.temporal.event_references import EventReference, event_references_in
from vicw_retrieval.temporal.generic_words import selects_more
from vicw_retrieval.temporal.order import TimeOrder, order_in
from vicw_retrieval.temporal.recurrence import Recurrence
from vicw_retrieval.temporal.spans import TimeSpan, spans_of
from vicw_retrieval.temporal.time_expressions import is_about_coming, phrases_in

_READ_CHARS = 2000


_SURE = 0.5


_SURE_EVENT = 0.7
"""Minimum confidence of an anchor that is surely an event: "when" and "since" may mean whether and why."""


_PAST = re.compile(r"\b(?:did|was|were|had|happened|changed|came|went)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimeAnalysis:
    """The times and events of a question, each in order, and whether anything else selects."""

    spans: tuple[TimeSpan, ...] = ()
    event_references: tuple[EventReference, ...] = ()
    alone: bool = False
    """Whether nothing but a span of time selects ("what did we discuss 10 minutes ago?")."""
    by_time: bool = False
    """Whether only times and events select, no conditions ("why does it fail when I call it?")."""
    order: TimeOrder | None = None
    """The first or the last in time is asked for; its words say nothing of what is searched for."""
    recurrence: Recurrence | None = None
    """Days of the week or hours that come again; an item's time must be one of them, and in the spans, if any."""
    zone: tzinfo = UTC
    """Zone of the asker, in which days are counted."""
    ahead: bool = False
    """Whether the question is about what is still to come ("what will we do on Monday?")."""

    def __bool__(self) -> bool:
        return bool(self.spans or self.event_references or self.order or self.recurrence)

    def is_over(self, now: datetime) -> bool:
        """Return whether a time is over by ``now``, or an event is named: "today" and "since" go on."""
        events = (anchor for anchor in self.event_references if not anchor.text.lower().startswith("since "))
        return any(span.end < now for span in self.spans) or any(events)


def analyse_time(query: str, asked_at: datetime, *, day_first: bool | None = None) -> TimeAnalysis:
    """Read the time of a question asked at ``asked_at``, whose time zone decides days and weeks.

    ``day_first`` is the order of dates with slashes that nothing in the question decides; None leaves it to the
    question's language, the month first in English. Of a question over 2,000 characters only the beginning is read: a
    longer one is a document. Never raises for any text; raises ValueError for an ``asked_at`` without a zone.

    >>> from datetime import UTC
    >>> analyse_time("What did we discuss 10 minutes ago?", datetime(2026, 3, 18, 15, 30, tzinfo=UTC)).alone
    True
    >>> analyse_time("What happened after the explosion?", datetime(2026, 3, 18, tzinfo=UTC)).event_references[0].phrase
    'the explosion'
    """
    if asked_at.tzinfo is None:
        raise ValueError("asked_at has no time zone: give it one, as datetime.now(UTC) has")
    read = query[:_READ_CHARS]
    times = phrases_in(read, asked_at, day_first=day_first)
    phrases = [time for time in times if time.repeats is None]
    recurrence = _recurrence(read, times, asked_at.tzinfo)
    spans = spans_of(read, phrases, asked_at) if phrases else []
    taken = [(span.begins, span.begins + len(span.text)) for span in spans]
    if recurrence is not None:
        taken.append((recurrence.begins, recurrence.begins + len(recurrence.text)))
    anchors = event_references_in(read, taken)
    cuts = sorted([*taken, *((anchor.begins, anchor.begins + len(anchor.text)) for anchor in anchors)], reverse=True)
    rest = query
    for begins, ends in cuts:
        rest = rest[:begins] + " " + rest[ends:]
    sure = any(span.confidence >= _SURE for span in spans)
    says_more = selects_more(rest)
    tells_when = bool(spans) or any(anchor.confidence >= _SURE_EVENT for anchor in anchors)
    tells_when = tells_when or (bool(anchors) and _PAST.search(read) is not None)
    alone = sure and not anchors and not says_more
    return TimeAnalysis(
        tuple(spans),
        tuple(anchors),
        alone,
        tells_when and not says_more,
        order=_order(read, taken),
        recurrence=recurrence,
        zone=asked_at.tzinfo,
        ahead=is_about_coming(read) or any(time.start >= asked_at for time in phrases),
    )


def _recurrence(query: str, times: Sequence[TimeExpression], zone: tzinfo) -> Recurrence | None:
    """Return the first of the times that come again."""
    for time in times:
        if (found := time.repeats) is not None:
            words = query[time.begins : time.ends]
            return Recurrence(zone, found.weekdays, found.since, found.until, words, time.begins)
    return None


def _order(query: str, taken: Sequence[tuple[int, int]]) -> TimeOrder | None:
    """Return the order over time that is asked for; words that are of a time ("the first week of March") say none."""
    found = order_in(query)
    if found is None or any(begins < found.begins + len(found.text) and found.begins < ends for begins, ends in taken):
        return None
    return found
