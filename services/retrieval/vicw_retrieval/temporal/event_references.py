"""Events by which a question gives a time: before the launch, two days after the wedding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum


class ReferenceSide(StrEnum):
    """Side of the event on which the question searches."""

    BEFORE = "before"
    AFTER = "after"
    DURING = "during"


@dataclass(frozen=True, slots=True)
class DayOffset:
    """Days counted from the day of an event: [``first``, ``end``), 0 is the event's own day.

    The day before is [-1, 0), two days after [2, 3), the week after [1, 8).
    """

    first: int
    end: int

    def window(self, event_at: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
        """Return [start, end) in UTC: whole days of ``zone``, of 23 or 25 hours where its clocks change.

        Raises OverflowError at the ends of time.
        """
        day = event_at.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        return (day + timedelta(self.first)).astimezone(UTC), (day + timedelta(self.end)).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class EventReference:
    """An event by which a question gives a time.

    ``confidence`` in [0, 1]: .5 after "since", "when", "once" and "while", which may mean why or whether; otherwise .9
    if the question asks what happened, else .7. With an ``offset`` the question means these days and no others.
    """

    direction: ReferenceSide
    phrase: str
    confidence: float
    text: str
    begins: int
    """Position of ``text`` in the question."""
    offset: DayOffset | None = None


_LEAD = re.compile(
    r"\b(?:(?P<after>after|following|since|once)|(?P<before>before|prior\ to|leading\ up\ to|until)"
    r"|(?P<during>during|when|while|(?:at|around|about)\ the\ time\ (?:of|that|when)"
    r"|in\ the\ middle\ of))\b[ ]",
    re.VERBOSE | re.IGNORECASE,
)


_OFFSET = re.compile(
    r"""(?:\bthe\ (?P<whole>day|night|evening|morning|afternoon|week|month|year)
    |\b(?P<count>\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|a\ couple\ of|a\ few)
      \ (?P<unit>day|night|week|month|year)s?)\ $""",
    re.VERBOSE | re.IGNORECASE,
)
"""Days, weeks and the like before "before" and "after"."""


_COUNTS = {word: number for number, word in enumerate("a one two three four five six seven eight nine ten".split())} | {
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "a few": 3,
}
_UNIT_DAYS = {"week": 7, "month": 30, "year": 365}
_SOME_DAYS = 3
"""Days to each side of "around the time of" an event."""


_START = re.compile(
    r"(?:the|an?|his|her|their|our|my|its|your|this|that|these|those|he|she|they|we|i|it|you|someone|everyone"
    r"|all\ the)\ \w"
    r"|[A-Z][\w'’-]*"
    r"|[a-z]{2,24}ing\b(?!\s+to\b)"
    r"|[a-z]{3,24}(?:tion|sion|ment)s?\b|(?:release|launch|outage|lunch|dinner|breakfast|school|work|war|midnight|sunset"
    r"|birth|death|marriage|divorce|college|university|graduation|surgery|church)s?\b",
)
"""Beginning of an event's phrase: a determiner, a pronoun, a name, a gerund, or a noun for an event."""


_NO_EVENT = re.compile(
    r"(?:all|long|that|this|it|then|then on|which|whom|what|now|noon|you know it|a while|a long time|the fact|a fashion"
    r"|the (?:other|next|last|first|second)|another)(?=\W*$|[,;?!.]|\ (?:did|was|were|is|are)\b)"
    r"|(?:an?|the)\ (?:array|list|string|dict|dictionary|key|value|character|comma|dot|delimiter|regex|match|line|row"
    r"|column|element|index|substring|word|loop|slash|colon)\b",
    re.IGNORECASE,
)


_PARTICLE = re.compile(
    r"(?:\b(?:look|looks|looked|looking|take|takes|took|taken|taking|name|names|named|call|called|run|runs|ran|running"
    r"|chase|chases|chased|go|goes|went|gone|going|seek|seeks|sought|ask|asks|asked|inquired?|enquired?|modell?ed"
    r"|patterned|styled|titled|lust|lusts|long|longed|clean|cleaned|named\ \w{1,20}|one|day|year|time|week|page|ever"
    r"|and|clothed|thirst|hunger)\ after"
    r"|\b(?:kneel|kneels|knelt|bow|bows|bowed|stand|stands|stood|appear|appears|appeared|came|come|brought|put|laid"
    r"|lay|set|ever|than|as|like)\ before"
    r"|\b(?:ever|long)\ since|\b(?:the|its|his|her|their)\ following|\bat\ once|\bthan\ once|^\W*once)$",
    re.IGNORECASE,
)


_AUXILIARY = re.compile(
    r"(?:do|does|did|is|are|was|were|will|would|can|could|should|shall|has|have|had)(?:n['’]t)?\b", re.I
)


_ASKS_WHAT_HAPPENED = re.compile(
    r"\bwhat(?:\ else)?\ (?:has\ |had\ )?(?:happen|came|occurr|took\ place|follow|follows|changed|broke|went\ on)"
    r"|\bnext\b",
    re.VERBOSE | re.IGNORECASE,
)


_BOUNDARY = re.compile(
    r"[,;:?!\n]|(?<!\b[A-Z])(?<!\b[DM]r)(?<!\bMrs)(?<!\bMs)\.(?:\s|$)|\s[-–—]\s|\s\("
    r"|\b(?:and|but|what|who|where|why|how|which)\ (?:did|was|were|is|does)\b"
)


_EMPTY = frozenset(
    "a all an and are at be been by did do does for from had has have he her him his i in is it its me my of on or our "
    "she someone everyone that the their them these they this those to us was we were with you your".split()
)


_MAX_CHARS, _MAX_ANCHORS = 120, 4


def distinctive_words(phrase: str) -> str:
    """Return the words of an event's phrase that set it apart from other events.

    >>> distinctive_words("we deployed the shop"), distinctive_words("that")
    ('deployed shop', 'that')
    """
    words = phrase.split()
    return " ".join(word for word in words if word.lower() not in _EMPTY) or phrase


def event_references_in(query: str, taken: Sequence[tuple[int, int]] = ()) -> list[EventReference]:
    """Return the events of a question in order. ``taken`` are the positions of its times, which are no events."""
    return list(_anchors(query, taken))[:_MAX_ANCHORS]


def _anchors(query: str, taken: Sequence[tuple[int, int]]) -> Iterator[EventReference]:
    asks_what_happened = _ASKS_WHAT_HAPPENED.search(query) is not None
    over = 0
    for lead in _LEAD.finditer(query):
        begins, place = lead.start(), lead.end()
        if begins < over or any(start <= begins < end or start <= place < end for start, end in taken):
            continue
        limit = min((start for start, _ in taken if start >= place), default=len(query))
        phrase = _phrase(query[:limit], place)
        times_end = max((end for _, end in taken if end <= begins), default=0)  # "last week" is no part of "week after"
        before = query[max(times_end, begins - 40) : lead.end() - 1]
        counted = _OFFSET.search(query[max(times_end, begins - 40) : begins])
        if not phrase or _START.match(phrase) is None or _NO_EVENT.match(phrase):
            continue
        if counted is None and _PARTICLE.search(before):
            continue
        word = lead[0].strip().lower()
        if word in {"when", "while"} and (_AUXILIARY.match(phrase) or (word == "when" and _inner_question(before))):
            continue
        over = place + len(phrase)
        side = next(ReferenceSide(name) for name, value in lead.groupdict().items() if value)
        confidence = 0.5 if word in {"since", "when", "once", "while"} else 0.7
        offset = None
        if word.startswith(("around", "about")):
            offset = DayOffset(-_SOME_DAYS, _SOME_DAYS + 1)
        elif side is not ReferenceSide.DURING and counted is not None:
            offset = _offset(counted, side)
            begins -= len(counted[0])
        sure = 0.9 if offset is not None or (asks_what_happened and confidence > 0.5) else confidence
        yield EventReference(side, phrase, sure, query[begins:over], begins, offset)


def _offset(counted: re.Match[str], side: ReferenceSide) -> DayOffset:
    """Return the days that are meant by a count before "before" or "after"."""
    words = {name: value.lower() for name, value in counted.groupdict().items() if value}
    if "whole" in words:
        length = _UNIT_DAYS.get(words["whole"], 1)
        return DayOffset(1, 1 + length) if side is ReferenceSide.AFTER else DayOffset(-length, 0)
    length = _UNIT_DAYS.get(words["unit"], 1)
    count = int(words["count"]) if words["count"].isdigit() else _COUNTS[words["count"]]
    away, margin = count * length, max(length // 2, 1 if words["count"] == "a few" else 0)
    middle = away if side is ReferenceSide.AFTER else -away
    return DayOffset(middle - margin, middle + margin + 1)


def _phrase(query: str, place: int) -> str:
    """Return the words from a position to the end of their clause."""
    words = query[place : place + _MAX_CHARS]
    if end := _BOUNDARY.search(words):
        words = words[: end.start()]
    elif len(words) == _MAX_CHARS:
        words = words.rpartition(" ")[0]
    if (more := _LEAD.search(words, 1)) is not None and more[0].strip().lower() in {"before", "after", "during"}:
        words = words[: more.start()]
    return words.strip().rstrip(".'\"”’)")


def _inner_question(before: str) -> bool:
    """Return whether "when" asks ("do you know when the bridge fell?"), given the words up to and with it."""
    return (
        re.search(r"\b(?:know|tell\ me|remember|remind\ me|of|about|since|until|by)\ when$", before, re.I) is not None
    )
