"""Temporal analysis of a question: rules, no model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from vicw_retrieval.temporal.event_references import EventReference, event_references_in
from vicw_retrieval.temporal.spans import TimeSpan, spans_in

_READ_CHARS = 2000
_SURE = 0.5
_SURE_EVENT = 0.7
"""Minimum confidence of an anchor that is surely an event: "when" and "since" may mean whether and why."""
_GENERIC = frozenset(
    "a about again all an and any anything are at back been between brief by can change changed changes chat chats "
    "conversation conversations could did discuss discussed discussing discussion do does doing done during event "
    "events everything exactly for from had happen happened happening happens has have having i in is it last list me "
    "memories memory mention mentioned message messages occur occurred of on our ours over past please recall recap "
    "remember remind s said say session sessions show so some something speak spoke spoken summarise summarize "
    "summary talk talked talking tell that the there these thing things this those to told topic topics up us was we "
    "were what which with would you your yours".split()
)
_PHRASES = re.compile(
    r"\b(?:go(?:ing)?|went)\ on\b|\btook\ place\b|\bgive\ me\b|\bcame\ up\b"
    r"|\b(?:(?:before|after|around|since|until|till)\ )?"
    r"(?:\d{1,2}(?::\d\d)?\ ?[ap](?:m\b|\.m\.)|(?:\d{1,2}:\d\d|noon|midnight)\b)",
    re.VERBOSE | re.IGNORECASE,
)
"""Words that select nothing, among them hours that were not parsed: they belong to the day beside them."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
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

    def __bool__(self) -> bool:
        return bool(self.spans or self.event_references)

    def is_over(self, now: datetime) -> bool:
        """Return whether a time is over by ``now``, or an event is named: "today" and "since" go on."""
        events = (anchor for anchor in self.event_references if not anchor.text.lower().startswith("since "))
        return any(span.end < now for span in self.spans) or any(events)


def analyse_time(query: str, asked_at: datetime) -> TimeAnalysis:
    """Read the time of a question asked at ``asked_at``, whose time zone decides days and weeks.

    Of a question over 2,000 characters only the beginning is read: a longer one is a document. Never raises for any
    text; raises ValueError for an ``asked_at`` without a zone.

    >>> from datetime import UTC
    >>> analyse_time("What did we discuss 10 minutes ago?", datetime(2026, 3, 18, 15, 30, tzinfo=UTC)).alone
    True
    >>> analyse_time("What happened after the explosion?", datetime(2026, 3, 18, tzinfo=UTC)).event_references[0].phrase
    'the explosion'
    """
    if asked_at.tzinfo is None:
        raise ValueError("asked_at has no time zone: give it one, as datetime.now(UTC) has")
    read = query[:_READ_CHARS]
    spans = spans_in(read, asked_at)
    taken = [(span.begins, span.begins + len(span.text)) for span in spans]
    anchors = event_references_in(read, taken)
    cuts = sorted([*taken, *((anchor.begins, anchor.begins + len(anchor.text)) for anchor in anchors)], reverse=True)
    rest = query
    for begins, ends in cuts:
        rest = rest[:begins] + " " + rest[ends:]
    sure = any(span.confidence >= _SURE for span in spans)
    says_more = _selects_more(rest)
    tells_when = bool(spans) or any(anchor.confidence >= _SURE_EVENT for anchor in anchors)
    tells_when = tells_when or (bool(anchors) and _PAST.search(read) is not None)
    alone = sure and not anchors and not says_more
    return TimeAnalysis(tuple(spans), tuple(anchors), alone, tells_when and not says_more)


def _selects_more(rest: str) -> bool:
    words = _WORD.findall(_PHRASES.sub(" ", rest).lower())
    return any(word.replace("’", "'").removesuffix("'s") not in _GENERIC for word in words)
