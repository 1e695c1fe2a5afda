"""Patterns of clauses that claim an attribute: ``s`` is the subject, ``v`` the value. The first match wins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from vicw_ingest.extraction.rules.attribute_claims.claim import ParsedClaim
from vicw_ingest.extraction.rules.attribute_claims.clauses import clauses
from vicw_ingest.extraction.rules.attribute_claims.quantities import MONEY, NUMBER, TIME, is_time
from vicw_ingest.extraction.rules.attribute_claims.subjects import NAME, SEVERAL, THING, attribute_of, subject_of
from vicw_shared.language.analysis import Sentence

type ClaimReader = Callable[[str, re.Match[str]], Iterator[ParsedClaim]]

_ADV = r"(?:(?:now|currently|still|just|recently|already|finally|officially|since|have|has) )*"
_BE = r" (?:is|are|am|has been|have been)(?: (?:now|currently|still|just|officially))*"
_BEEN = r"(?: (?:was|were|is|are|got|been|has|have|just|now|recently|finally|already|officially))*"
_END = (
    r"(?=[.,:](?!\d)|[;!)]|$| (?:now|since|because|and|but|again|these|instead|as|so|anymore|where|who|which|last|this|"
    r"over|today|yesterday|after|before|with|from|for|on \w+day)\b)"
)
_V = rf"(?P<v>(?:[^.,;:!()]|[.,:](?=\d))+?){_END}"
_TIMES = rf"(?P<v>(?:on |at |in |for |by )?(?:the )?(?i:{TIME})(?:[ ,]+(?:at |on )?(?i:{TIME}))*)"
_PRICE = rf"(?P<v>(?i:{MONEY}|\d[\d.,]*\b)(?: (?:an?|per|each) \w+)?){_END}"
_SET = (
    r"(?P<verb>moved|relocated|migrated|changed|increased|raised|reduced|lowered|bumped|upgraded|switched|extended|set|"
    r"cut|pushed|postponed|rescheduled|brought|delayed|rose|fell|went|renamed)(?: up| down| back| over| forward)?"
)
_TO = r"(?:from (?P<u>[^.,;:!]+?) )?(?:into|to|until|as)"
_ACTOR = rf"(?:I|[Ww]e|[Tt]hey|[Hh]e|[Ss]he|{NAME}) {_ADV}"
_OBJECT = r"(?P<s>(?:(?:my|our|the|his|her|their|your) )?(?:[\w'’.#/+-]+ ){0,4}?[\w'’.#/+-]+)"
_SCOPE = re.compile(r"(?: now)? (?:for|in|on|at|with|without|after|before|from) (?!now\b|every|all\b|\w+day\b)")
_UNSCOPED = frozenset({"home", "name", "employer", "occupation"})
_PLACE = re.compile(
    r"(?!(?i:python|java|rust|go\b|postgres|mysql|mongo|redis|kafka|kubernetes|docker|aws|azure|google|linux|windows|"
    r"react|jira|linear|notion|slack|teams|zoom|figma)|[A-Z]?[a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]+|"
    r".*\b(?i:team|group|department|choir|club|gym|band|society|party|church|league|class|course)\b)"
    r"(?:[A-Z]|\w+-\w*\d)"
)
"""A place to live or work, neither a known tool nor a name like FaunaDB."""
_PEOPLE = frozenset({"$speaker", "$addressee", "he", "she", "they"})
_NO_VALUE = re.compile(r"(?:not|very|so|too|really|in|on|at|to|for|from|with|of|by|about|an? |what|that|how)\b")
_MOST_WORDS = 3
_NO_NOUNS = frozenset({"ADV", "INTJ", "ADP", "SCONJ", "CCONJ", "VERB", "AUX", "PART"})


def claims(sentence: Sentence) -> list[ParsedClaim]:
    """Return the attribute claims of a sentence; most sentences have none."""
    no_subjects = {word.lower for word in sentence.words if word.tag in _NO_NOUNS}
    return [
        replace(claim, source=source, now=changed)
        for clause, source, changed in clauses(sentence)
        for claim in _claims(clause, no_subjects)
    ]


def _claims(clause: str, no_subjects: set[str]) -> list[ParsedClaim]:
    for form, tell in PATTERNS:
        found = form.match(clause)
        subject = subject_of(found["s"]) if found is not None else None
        if found is None or subject is None or found["s"].split()[0].lower() in no_subjects:
            continue
        if told := list(tell(subject, found)):
            scoped = _SCOPE.match(clause[found.end() :]) is not None  # "30 seconds for uploads"
            return [claim for claim in told if not scoped or claim.attribute in _UNSCOPED]
    return []


def _changed(subject: str, found: re.Match[str]) -> Iterator[ParsedClaim]:
    """Yield the claims of changes, moves and renamings."""
    value, verb, part = found["v"], found["verb"], attribute_of(subject)
    if verb == "renamed":
        yield from _named(subject, found)
    elif is_time(value) and subject not in _PEOPLE:
        yield ParsedClaim(*(part or (subject, "schedule")), value)
    elif part is not None:
        yield from _valued(subject, found)
    elif verb in {"moved", "relocated", "migrated"} and _PLACE.match(value) and not is_time(value):
        yield ParsedClaim(subject, "home", value)


def _named(subject: str, found: re.Match[str]) -> Iterator[ParsedClaim]:
    """Yield name claims, one for the subject and one for its other name, so that both lead to the name."""
    name = found["v"]
    if not name.islower() or " " not in name:
        yield ParsedClaim(subject, "name", name)
        other = subject_of(found.groupdict().get("u") or name)
        if other is not None and other != subject:
            yield ParsedClaim(other, "name", name, also=True)


def _valued(subject: str, found: re.Match[str]) -> Iterator[ParsedClaim]:
    """Yield the claim of an explicit attribute whose value has a valid form: a name, a number, a time."""
    part, value = attribute_of(subject), re.sub(r"^(?:an?|at|set (?:to|at)) ", "", found["v"])
    if part is None or _NO_VALUE.match(value) or _SCOPE.search(value):
        return
    named = part[1].startswith("favourite") and len(value.split()) <= _MOST_WORDS
    if named or re.match(rf"(?:the )?(?:[A-Z#]|(?i:{MONEY}|{NUMBER}|{TIME}))|\w*\d\w*$", value):
        yield ParsedClaim(*part, value, weak=part[1] in SEVERAL)


def _reader_of(attribute: str, *, ended: bool = False) -> ClaimReader:
    def tell(subject: str, found: re.Match[str]) -> Iterator[ParsedClaim]:
        part = attribute_of(subject) if attribute in {"schedule", "price"} else None
        fits = subject not in _PEOPLE if attribute == "schedule" else not is_time(found["v"])
        if fits and (attribute != "employer" or _PLACE.match(found["v"])):
            yield ParsedClaim(*(part or (subject, attribute)), found["v"], ended=ended)

    return tell


_BEGINS = "(?:now )?(?:starts|begins|leaves|departs|opens)(?: now)?"
_THING = rf"(?P<s>{THING})"
_SUBJECT = rf"(?P<s>[Ii]|[Ww]e|[Hh]e|[Ss]he|{THING})"
PATTERNS = [
    (re.compile(form), tell)
    for form, tell in (
        (
            rf"{_SUBJECT} {_ADV}(?:lives?|lived|am living|is living|are living)(?: now)? (?:in|at|on) {_V}",
            _reader_of("home"),
        ),
        (rf"{_SUBJECT}{_BEEN} {_SET} {_TO} {_V}", _changed),
        (rf"{_ACTOR}{_SET} {_OBJECT} {_TO} {_V}", _changed),
        (rf"{_THING}{_BEEN} (?P<verb>renamed) {_V}", _named),
        (rf"{_SUBJECT} {_ADV}(?:left|no longer works? (?:at|for)) {_V}", _reader_of("employer", ended=True)),
        (
            rf"{_SUBJECT} {_ADV}(?:(?:works?|am working|is working)(?: now)? (?:at|for)|joined) {_V}",
            _reader_of("employer"),
        ),
        (
            rf"{_SUBJECT} {_ADV}(?:works?(?: now)? as|(?:was |been )?promoted to) (?:an? )?(?!follows){_V}",
            _reader_of("occupation"),
        ),
        (rf"{_THING}{_BE} (?:called|named) (?!after){_V}", _named),
        (rf"{_THING}(?: {_ADV}costs?(?: now)?|{_BE}) {_PRICE}", _reader_of("price")),
        (rf"{_THING}(?:{_BE}(?: planned| scheduled| due)?| {_BEGINS}) {_TIMES}", _reader_of("schedule")),
        (rf"{_THING}{_BE} {_V}", _valued),
    )
]
