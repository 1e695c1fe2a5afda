"""From a pattern's groups to the claims that they tell: what is whose, and which attribute a value is of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.truth.grammar import Groups, Made
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import KIN, POSTS, SEVERAL, WORK_ITEMS
from vicw_ingest.extraction.rules.truth.subjects import attribute_of, subject_of
from vicw_ingest.extraction.rules.truth.values import MONEY, NUMBER, TIME, quantities

_SAME = {
    "cost": "price",
    "fee": "price",
    "charge": "price",
    "leader": "lead",
    "assignee": "owner",
    "cap": "limit",
    "head": "lead",
} | dict.fromkeys(("boyfriend", "girlfriend", "husband", "wife", "fiance", "fiancee"), "partner")
_PASSING = re.compile(
    r"(?<!as of )(?<!from )(?<!since )(?<!starting )(?<!beginning )(?<!effective )\b(?:today(?! on\b)|tonight|"
    r"last (?:year|month|week|time)|ago|"
    r"in those|back then|yesterday|"
    r"(?<!from )this (?:week|weekend|morning|afternoon|evening|month|term|semester|(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day))\b",
    re.IGNORECASE,
)
_UNITS = (
    ("time", re.compile(r"\b(?:days?|hours?|minutes?|seconds?|weeks?|months?|years?|ms|min|mins|h|s)\b", re.I)),
    ("size", re.compile(r"(?:\b|\d)(?:[kmgt]i?b|bytes?)\b", re.I)),
    ("share", re.compile(r"%|\bpercent\b|\bper cent\b", re.I)),
    ("warmth", re.compile(r"\b(?:degrees?|°c|°f)\b", re.I)),
    ("length", re.compile(r"\b(?:km|kilomet\w+|miles?|met(?:er|re)s?|cm|mm|feet|inch\w*)\b", re.I)),
    ("weight", re.compile(r"\b(?:kg|kilos?|grams?|pounds|lbs?|tons?|tonnes?)\b", re.I)),
)


def is_time(value: str) -> bool:
    """Tell whether a value is a day, a date or a time."""
    return (
        bool(quantities(value).keys() & {"clock", "day", "date"})
        or re.fullmatch(rf"(?:{TIME})", value, re.I) is not None
    )


def is_passing(text: str) -> bool:
    """Tell whether a sentence is of today alone, or of what was: *it closes at six today*, *it cost ten last year*."""
    return _PASSING.search(text) is not None


def is_person(subject: str, said: str = "") -> bool:
    """Tell whether a subject, as ``said``, is or may be somebody: the speaker, a pronoun, one name, a relation."""
    words = subject.split()
    if said[:4].casefold() in {"the ", "our "}:
        return words[-1] in KIN
    return (
        subject in {"$speaker", "$addressee", "he", "she", "they"}
        or len(words) == 1
        or words[-1] in KIN
        or words[0] in {"mr", "mrs", "ms", "dr", "aunt", "uncle", "professor"}
    )


def is_work(subject: str) -> bool:
    """Tell whether a subject is something that is worked on until it is done: a ticket, an order, *BX-21*."""
    words = subject.split()
    return bool(words) and (
        words[-1] in WORK_ITEMS
        or (len(words) > 1 and words[0] in WORK_ITEMS)
        or re.fullmatch(r"[a-z]+-\d+", words[-1]) is not None
    )


def unit_of(value: str) -> str:
    """Return the attribute of which a number of some unit is the value: ``amount in time``."""
    return next((f"amount in {kind}" for kind, form in _UNITS if form.search(value)), "amount")


def said(attribute: str, *, weak: bool = False) -> Made:
    """Return what yields the value of an attribute."""

    def made(subject: str, groups: Groups) -> Iterator[Claim]:
        yield Claim(subject, attribute, groups["v"], weak=weak)

    return made


def over(attribute: str) -> Made:
    """Return what yields the end of an attribute: of this value, or of whatever it was."""

    def made(subject: str, groups: Groups) -> Iterator[Claim]:
        yield Claim(subject, attribute, groups.get("v", ""), ended=True)

    return made


def of_attribute(subject: str, attribute: str, value: str, *, weak: bool = False) -> Claim:
    """Return the claim of an attribute, under one of its names."""
    attribute = _SAME.get(attribute, attribute)
    if attribute == "rate" and re.search(r"(?:^| )(?:hourly|daily|day)$", subject):
        subject, attribute = re.sub(r" ?(?:hourly|daily|day)$", "", subject), "price"
    if attribute == "price":
        value = "0" if re.match(r"free\b|nothing\b", value) else value
        subject = re.sub(r" (?:list|asking|sale|selling|monthly|annual|yearly)$", "", subject)
    return Claim(subject, attribute, value, weak=weak)


def measured(subject: str, value: str) -> Claim | None:
    """Return the claim of what a number of something is: its price, an attribute, an amount; None if it is none."""
    part = attribute_of(subject)
    if part is not None:
        return of_attribute(*part, value)
    if re.match(MONEY, value, re.I) or re.match(r"\d+\.\d\d$", value):
        return Claim(subject, "price", value)
    if re.match(NUMBER, value, re.I):
        return Claim(subject, unit_of(value), value)
    return None


def changed(subject: str, groups: Groups) -> Iterator[Claim]:
    """What something was changed to: a date, an attribute in so many words, a price, a number."""
    value = groups["v"]
    part = attribute_of(subject)
    if part is not None and part[1] == "name":
        yield Claim(part[0], "name", value)
    elif (named := re.fullmatch(r"(channel|version|port|plan|level|tier) ([\w.-]+)", value)) is not None:
        yield Claim(subject, named[1], named[2])
    elif is_time(value):
        yield of_attribute(*part, value) if part is not None else Claim(subject, "schedule", value)
    elif (found := measured(subject, value)) is not None:
        yield found
    elif "u" in groups:
        yield Claim(subject, "amount", value)


def holder(attribute: str) -> Made:
    """Return what yields who has something: ``s`` has ``o``."""

    def made(subject: str, groups: Groups) -> Iterator[Claim]:
        what = subject_of(groups["o"])
        if what is not None:
            yield Claim(what, attribute, groups["s"])

    return made


def in_post(phrase: str, who: str, *, ended: bool = False, weak: bool = True) -> Iterator[Claim]:
    """*The captain of the team*: yield that it is somebody, or no longer."""
    post = subject_of(re.sub(r"^(?:an?|the) (?:new )?", "the ", phrase))
    part = attribute_of(post) if post is not None else None
    if part is not None and part[1] in POSTS:
        claim = of_attribute(*part, who)
        yield Claim(claim.subject, claim.attribute, who, ended=ended, weak=weak and claim.attribute in SEVERAL)


def bare(value: str) -> str:
    """Return a phrase without its article, folded."""
    return re.sub(r"^(?:a|an|the|my|our|his|her|their|any|some|much|more) ", "", value.casefold().strip())
