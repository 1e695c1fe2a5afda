"""Words by which a question asks for the first or the last in time: an order, not words to search for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from vicw_core.language.times.vocabulary import languages, lowered


class OrderEnd(StrEnum):
    """End of the order over time that a question asks for."""

    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class TimeOrder:
    """The first or the last ``count`` in time."""

    end: OrderEnd
    count: int
    text: str
    begins: int
    """Position of ``text`` in the question."""


_COUNTS = {word: number for number, word in enumerate("two three four five six seven eight nine ten".split(), start=2)}
_COUNT = "|".join(_COUNTS)
_NO_TIME = (
    r"name|names|word|words|chapter|page|line|lines|element|elements|row|column|digit|digits|letter|letters|straw"
    r"|value|values|season|president|king|queen|minister|one|son|daughter|daughters|brother|sister|part|volume"
    r"|edition|paragraph|level|version|modern|world|item\ in|items\ in"
    r"|resort|minute|few|day|days|night|week|weeks|weekend|month|months|year|years|quarter|hour|hours|minutes|seconds"
    r"|decade|century|spring|summer|autumn|fall|winter|class|floor|aid|person|place|lady|grade|half|step|argument"
    r"|parameter|index|item\ of|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|christmas|and|or|of\ all|world\ war|to\ last"
)
_ORDER = re.compile(
    rf"""\b(?:
      (?P<last_word>(?:the\ )?(?:most\ recent(?:ly)?|latest|newest))
    | (?P<first_word>(?:the\ )?(?:very\ first|earliest|oldest(?=\ (?:message|note|memory|entry|item|record))))
    | (?:the|my|our|his|her|their|your|whose|\w+['’]s)\ (?:very\ )?(?P<which>first|last)
      (?:\ (?P<count>[2-9]|10|{_COUNT}))?(?=\ (?!(?:{_NO_TIME})\b)\w)
    | (?:^\W*(?:(?:show|give|tell)\ me\ |list\ )?(?P<bare>first|last)(?:\ (?P<so_many>[2-9]|10|{_COUNT}))?
      (?=\ (?:entry|entries|notes?|messages?|memory|memories|records?|things?|events?)\b))
    | (?:what|who|which(?:\ \w+)?)\ (?:happened|occurred|came|arrived|broke|failed|started|began|changed|was|were)
      \ (?P<verb>first|last)(?=\ (?:in|on|during)\b|\W*$)
    | (?P<time>first|last)\ time(?=\W|$)
    | (?:did|have|has|had|was|were|do|does|am|is|are)(?:\ (?!(?:the|my|our|his|her|their|your|a)\b)[\w'’]+){{1,3}}
      \ (?P<adverb>first|last)
      (?=\ [a-z]|\W*$)(?!\ (?:{_NO_TIME})\b)
    )""",
    re.VERBOSE | re.IGNORECASE,
)


def order_in(query: str) -> TimeOrder | None:
    """Return the order over time that a question asks for, the first of several; None if it asks for none.

    >>> order_in("What is the first thing I did in March?").end.value
    'first'
    """
    match = _ORDER.search(query)
    if match is None or (match["which"] or "").istitle():  # a name: the First Knight
        return _order_in_other_language(query)
    groups = {name: value.lower() for name, value in match.groupdict().items() if value}
    name = next((groups[name] for name in ("which", "bare", "verb", "time", "adverb") if name in groups), None)
    end = OrderEnd(name) if name else OrderEnd.FIRST if "first_word" in groups else OrderEnd.LAST
    begins = next((match.start(name) for name in ("verb", "adverb") if name in groups), match.start())
    count = groups.get("count") or groups.get("so_many", "1")
    return TimeOrder(end, _COUNTS.get(count) or int(count), query[begins : match.end()], begins)


def _order_in_other_language(query: str) -> TimeOrder | None:
    """Return the order that the words of another language ask for: the last, if both ends are named."""
    small = lowered(query)
    for language in languages():
        for end, words in ((OrderEnd.LAST, language.last), (OrderEnd.FIRST, language.first)):
            if words is not None and (match := words.search(small)):
                return TimeOrder(end, 1, query[match.start() : match.end()], match.start())
    return None
