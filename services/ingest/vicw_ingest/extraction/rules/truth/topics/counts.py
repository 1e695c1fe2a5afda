"""How many of something there are, and what a number with a unit says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from vicw_ingest.extraction.rules.truth.grammar import ABOUT, ADV, BE, BEING, END, Groups, pattern
from vicw_ingest.extraction.rules.truth.making import is_person, measured, of_attribute, unit_of
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import UNCOUNTED
from vicw_ingest.extraction.rules.truth.subjects import SUBJECT, THING, attribute_of, singular, subject_of
from vicw_ingest.extraction.rules.truth.values import MONEY, NUMBER

_UNITS = (
    r"days?|hours?|minutes?|seconds?|weeks?|months?|years?|ms|[kmgt]i?b|%|percent|requests?|characters?|degrees?|"
    r"megabytes?|gigabytes?|km|kg|miles?|metres?|meters?"
)
_COUNT = (
    rf"{ABOUT}(?P<v>(?:(?:about|around|roughly|over|almost|nearly|more than) )?{NUMBER}) (?P<n>(?!(?:now|left|"
    rf"still|in|on|at|for|so|already|today|each|per|of|more|and|a|to|or|but|"
)
_COUNT += r"again|as|if|until|by|with|when|yet|too)\b)[a-z][\w-]+(?: [a-z][\w-]+){0,2}?)"
_WHERE = r"(?: (?:in|on|at|for) (?P<w>(?:the|my|our) [^.,;:!]+?|[A-Z][\w-]+))?"


def _counted(subject: str, groups: Groups) -> Iterator[Claim]:
    """How many of something there are."""
    words = groups["n"].casefold().split()
    if words[-1] in UNCOUNTED or words[0] in UNCOUNTED:
        return
    where = subject_of(groups["w"]) if "w" in groups else None
    yield count_of(where or subject, groups["n"], groups["v"])


def count_of(subject: str, noun: str, value: str) -> Claim:
    """Return the claim of how many there are."""
    return Claim(subject, "count of " + " ".join(singular(word) for word in noun.casefold().split()), value)


def _there(subject: str, groups: Groups) -> Iterator[Claim]:
    """*There are six tests in the suite*."""
    for claim in _counted("", groups):
        yield replace(claim, weak=not claim.subject)


def _number(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The number of open issues is 87*."""
    yield count_of("", groups["n"], groups["v"])


def _rated(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I run 20 km a week*: by the verb, the unit and the time."""
    verb = re.sub(r"(?:n?ning|ing|s|e)$", "", groups["verb"])
    if not re.match(MONEY, f"{groups['v']} {groups['n']}", re.I):
        yield Claim(subject, f"{verb} {singular(groups['n'].casefold())} {groups['per']}", groups["v"])


def _amount(subject: str, groups: Groups) -> Iterator[Claim]:
    """What a number with a unit says of a thing: *the build takes 10 minutes*."""
    part = attribute_of(subject)
    if part is not None:
        yield of_attribute(*part, groups["v"])
    elif not is_person(subject, groups.get("s", "")) or not subject.startswith("$"):
        yield Claim(subject, unit_of(groups["v"]), groups["v"], weak="takes" in groups)


def _level(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The suite is down to 4 minutes*, *Mr Adeyemi is down to 9 hens*: an amount of it, or a count of what it has."""
    value = f"{groups['v']} {groups.get('n', '')}".strip()
    if "n" in groups and unit_of(value) == "amount":
        yield from _counted(subject, groups)
    elif (found := measured(subject, value)) is not None:
        yield found


def _left(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Only two bugs are still open*."""
    yield count_of("", f"{groups['a']} {groups['n']}", groups["v"])


def _at(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The tank is at 40 percent*."""
    if (found := measured(subject, groups["v"])) is not None:
        yield found


PATTERNS = (
    pattern("there", rf"^There (?:are|is)(?: now| only| just| currently| still)* {_COUNT}{_WHERE}{END}", _there),
    pattern(
        "there",
        rf"^There (?:are|is)(?: now| only| just| currently| still)* {_COUNT} (?:in|on|at|left in|of us (?:on|in)) "
        rf"(?P<s>(?:the|my|"
        rf"our) [^.,;:!]+?){END}",
        _counted,
    ),
    pattern(
        "have has own owns got employs employ keeps keep contains contain includes include holds hold at run runs "
        "teaches operates",
        rf"^{SUBJECT} {ADV}(?:ha(?:ve|s)(?: got)?|own|owns|got|employs?|keeps?|contains?|includes?|holds?|runs?|"
        rf"teaches|operates?|"
        rf"is (?:now )?at) {ADV}{_COUNT}{_WHERE}{END}",
        _counted,
    ),
    pattern(
        "number",
        rf"^The (?:total )?number of (?P<n>[a-z][\w -]+?)(?:{BE}| (?:now )?stands) (?:at |now )*(?P<v>{NUMBER}){END}",
        _number,
    ),
    pattern(
        "still",
        rf"^(?i:only |just )*(?P<v>{NUMBER}) (?P<n>(?:\w+ )?[a-z]+)(?: (?:are|is|remain)) (?:still )?(?P<a>open|"
        rf"left|missing|free){END}",
        _left,
    ),
    pattern(
        "down up",
        rf"^{SUBJECT}(?:{BE}| went| {ADV}gone| {ADV}dropped| {ADV}got)(?: back)? (?:down|up) to "
        rf"{ABOUT}(?P<v>{NUMBER})(?: (?P<n>[a-z%][\w-]*))?{END}",
        _level,
    ),
    pattern(
        "a per every each",
        rf"^{SUBJECT} {ADV}(?:am |is |are )?(?P<verb>[a-z]+?)(?: now)? {ABOUT}(?P<v>{NUMBER}) (?P<n>[a-z]+) (?:an?|"
        rf"per|every|each) "
        rf"(?P<per>day|week|month|year|night){END}",
        _rated,
    ),
    pattern(
        "takes take lasts last weighs weigh measures stands",
        rf"^{SUBJECT} {ADV}(?:(?P<takes>takes?|lasts?)|weighs?|measures?|stands at)(?: now)? {ABOUT}(?P<v>{NUMBER} "
        rf"?(?:{_UNITS}))(?!\w)",
        _amount,
    ),
    pattern(
        "at on",
        rf"^{THING}{BE} (?:at|on|set to|set at) {ABOUT}(?P<v>{NUMBER} ?(?:percent|per cent|%|degrees?)?)(?!\w|:)",
        _at,
    ),
    pattern(
        BEING,
        rf"^{THING}{BE} {ABOUT}(?P<v>{NUMBER} ?(?:{_UNITS}){END})",
        _amount,
    ),
)
