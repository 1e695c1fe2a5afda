"""Pieces of which the patterns of plain cases are made, and what a pattern is.

English. ``s`` is the subject, ``v`` the value, ``u`` what it was before; patterns match at the start of a clause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.subjects import NAME

type Groups = dict[str, str]
type Made = Callable[[str, Groups], Iterator[Claim]]
"""Takes the subject and a pattern's groups. Of a clause that says that something has changed, ``now`` is among them."""

ADV = (
    r"(?:(?:now|currently|still|just|recently|already|finally|actually|officially|only|always|since|have|has|"
    r"['’]ve|['’]s) )*"
)
_MODAL = r"(?: (?:now|currently|still|just|already|officially|actually|back|finally|exactly|only|once|again))*"
BE = (
    r"(?:(?: is| are| am|['’]s|['’]re|['’]m| has been| have been|['’]s been|['’]ve been| has become|"
    rf" became| have become| remains?){_MODAL})"
)
BEEN = (
    r"(?: (?:was|were|is|are|got|gets|has been|have been|had been|has|have)|['’]s been|['’]ve been)(?: (?:just|"
    r"now|recently|officially|finally|already|been|since|permanently))*"
)
WAS = (
    r"(?: (?:was|were|is|are|got|gets|has been|have been|had been)(?: (?:just|now|recently|officially|finally|"
    r"already|since))*)"
)
END = (
    r"(?=[.,:](?!\d)|[;!)]|$| (?:now|since|because|and|but|after|before|again|these|instead|with|as|so|while|"
    r"when|from now|from this|from today|by now|anymore|any more|for|until|where|who|which|this|last|again|any longer|"
    r"at last|yet|these days|nowadays|today|yesterday|on (?i:mon|tues|wednes|thurs|fri|satur|sun)day|in (?i:january|"
    r"february|march|april|may|june|july|august|september|october|november|december))\b)"
)
ANY = r"(?:[^.,;:!()]|[.,:](?=\d))+?"
V = rf"(?P<v>{ANY}){END}"
FROM = r"(?:from (?P<u>[^.,;:!]+?) )?"
ARTICLE = r"(?:the |a |an )?"
ABOUT = r"(?:exactly |only |just |now |currently |some |still |(?:about |around |roughly )(?!\d))*"
ACTOR = rf"(?:[Ww]e|[Tt]hey|I|[Hh]e|[Ss]he|(?:[Tt]he|[Mm]y|[Oo]ur) [\w-]+|{NAME})"
OBJECT = (
    r"(?P<s>(?:my|our|the|his|her|their|your) (?:[\w'’.#/+-]+ ){0,4}?[\w'’.#/+-]+|[A-Z][\w'’.#/+-]*(?: "
    r"[\w'’.#/+-]+){0,3}?)"
)


@dataclass(frozen=True)
class Pattern:
    """A form of clause. It is tried only where one of its ``words`` is: that is what keeps hundreds of them cheap."""

    words: frozenset[str]
    expression: str
    made: Made
    planned: bool = False

    @cached_property
    def form(self) -> re.Pattern[str]:
        """The expression, compiled when it is first tried: all of them would be a second of every start."""
        return re.compile(self.expression)


def pattern(words: str, form: str, made: Made, *, planned: bool = False) -> Pattern:
    """Return a pattern. ``planned``: also of what is yet to come, since the date of a plan is so already."""
    return Pattern(frozenset(words.split()), form, made, planned)


BEING = "is are am been become became 's 're 'm remains remain"
"""Words of which each clause with a form of *be* has one."""
