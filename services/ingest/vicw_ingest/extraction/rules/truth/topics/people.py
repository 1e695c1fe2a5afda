"""Who is with whom, and how old somebody is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.truth.grammar import ADV, BE, END, Groups, V, pattern
from vicw_ingest.extraction.rules.truth.making import is_person, of_attribute, said
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.subjects import NAME, SUBJECT, attribute_of, subject_of
from vicw_ingest.extraction.rules.truth.values import NUMBER

_ONES = rf"(?:[Mm]y [\w ]+?|{NAME})"
_TIES = {
    "dating": "dating", "going out with": "dating",
    "in a relationship with": "dating", "engaged to": "engaged", "married to": "married",
}  # fmt: skip
_STATE = "state single"


def _with(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I'm engaged to Luis*: who the partner is, and what they are."""
    yield Claim(subject, _STATE, _TIES[groups["tie"]])
    yield Claim(subject, "partner", groups["v"], also=True)


def _couple(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Luis and I got married*: of the speaker, and of each who is named."""
    tie = groups["tie"]
    now = "married" if "married" in tie else "engaged" if "engaged" in tie else "dating"
    for who, other in ((groups["s"], groups["o"]), (groups["o"], groups["s"])):
        if (whose := subject_of(who)) is not None:
            yield Claim(whose, _STATE, now)
            yield Claim(whose, "partner", other, also=True)


def _parted(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Luis and I broke up*, *I broke up with Luis*."""
    for who, other in ((groups["s"], groups["o"]), (groups["o"], groups["s"])):
        if (whose := subject_of(who)) is not None:
            yield Claim(whose, "partner", "" if other in {"I", "i"} else other, ended=True)
            yield Claim(whose, _STATE, "divorced" if "divorc" in groups["text"] else "single")


def _divorced(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I got divorced*: from whom is plain."""
    yield Claim(subject, _STATE, "divorced")
    yield Claim(subject, "partner", "", ended=True)


def _strangers(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Tor and I don't speak anymore*."""
    yield Claim("$speaker", "best friend", groups["o"], ended=True)


def _ended_tie(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Tom is not my boyfriend anymore*."""
    part = attribute_of(subject_of(groups["p"]) or "")
    if part is not None:
        claim = of_attribute(*part, groups["v"])
        yield Claim(claim.subject, claim.attribute, groups["v"], ended=True)


def _best(subject: str, groups: Groups) -> Iterator[Claim]:
    whose = subject_of(groups["w"].removesuffix("'s").removesuffix("’s"))
    if whose is not None:
        yield Claim("$speaker" if groups["w"].casefold() in {"my", "our"} else whose, "best friend", groups["v"])


def _aged(subject: str, groups: Groups) -> Iterator[Claim]:
    """How old somebody is, or the number that an attribute is."""
    part = attribute_of(subject)
    if part is not None:
        yield of_attribute(*part, groups["v"])
    elif is_person(subject) and re.fullmatch(r"\d{1,2}|1[01]\d|[a-z-]+", groups["v"], re.I):
        yield Claim(subject, "age", groups["v"])


PATTERNS = (
    pattern(
        "dating seeing going together relationship engaged married",
        rf"^{SUBJECT}{BE} (?P<tie>{'|'.join(_TIES)}) {V}",
        _with,
    ),
    pattern(
        "seeing together",
        rf"^{SUBJECT}{BE} (?:seeing|together with) (?P<v>(?!Dr|Prof){NAME}){END}",
        lambda subject, groups: _with(subject, groups | {"tie": "dating"}),
    ),
    pattern(
        "married engaged",
        rf"^{SUBJECT} {ADV}(?:got |been )?(?P<tie>married to|engaged to) {V}",
        _with,
    ),
    pattern(
        "married",
        rf"^{SUBJECT} {ADV}(?P<tie>married) (?P<v>{NAME}){END}",
        lambda s, g: _with(s, g | {"tie": "married to"}),
    ),
    pattern(
        "divorced divorce",
        rf"^{SUBJECT}(?:{BE}| (?:have |has )?(?:now |just |finally |recently )?got(?:ten)?) (?:now )?(?:a divorce|"
        rf"divorced)\b",
        _divorced,
    ),
    pattern(
        "broke split separated divorced parted",
        rf"^(?P<s>{_ONES}|I) and (?P<o>I|{_ONES}) (?:have |has |are |were |recently |just |finally )*(?:broken? up|"
        rf"split(?: up)?|separated|got(?:ten)? divorced|divorced|parted ways){END}",
        _parted,
    ),
    pattern(
        "broke split broken separated divorced",
        rf"^(?P<s>I|{NAME}) {ADV}(?:broken? up with|split(?: up)? (?:with|from)|separated from|divorced) "
        rf"(?P<o>{_ONES}){END}",
        _parted,
    ),
    pattern(
        "married engaged dating couple together",
        rf"^(?P<s>{_ONES}|I) and (?P<o>I|{_ONES}) (?:(?:are|have been|have|got|just|finally|recently|were|now) )+"
        rf"(?P<tie>married|engaged|dating|a couple|together|back together)\b",
        _couple,
    ),
    pattern(
        "speak talk",
        rf"^(?P<o>{NAME}) and I (?:do not|no longer) (?:speak|talk)\b",
        _strangers,
    ),
    pattern(
        "not longer",
        rf"^(?P<v>{NAME})(?: is)(?: not| no longer) (?P<p>(?:my|our) [^.,;:!]+?){END}",
        _ended_tie,
    ),
    pattern("best", rf"^(?P<w>[Mm]y|{NAME}['’]s) best friend{BE} {V}", _best),
    pattern("best", rf"^(?P<v>{NAME}){BE} (?P<w>my|{NAME}['’]s) best friend\b", _best),
    pattern("turned turns", rf"^{SUBJECT} {ADV}(?:turned|turns) (?P<v>{NUMBER}){END}", said("age")),
    pattern("is am are 's", rf"^{SUBJECT}{BE} (?P<v>{NUMBER})(?: years old|(?=[.!]?$| now\b| today\b))", _aged),
)
