"""From a pattern's groups to the claims that they tell: what is whose, and which attribute a value is of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import (
    OCCUPATIONS,
    OWNED,
    PLACED,
    PLANNED,
    POSTS,
    STATES,
    STATIVES,
    UNCOUNTED,
)
from vicw_ingest.extraction.rules.truth.subjects import attribute_of, subject_of
from vicw_ingest.extraction.rules.truth.values import MONEY, NUMBER, TIME, quantities

type Made = Callable[[str, dict[str, str]], Iterator[Claim]]
"""Takes the subject and a pattern's groups."""


def is_time(value: str) -> bool:
    """Tell whether a value is a day, a date or a time."""
    return (
        bool(quantities(value).keys() & {"clock", "day", "date"})
        or re.fullmatch(rf"(?:{TIME})", value, re.I) is not None
    )


def said(attribute: str) -> Made:
    """Return what yields the value of an attribute."""

    def made(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
        yield Claim(subject, attribute, groups["v"])

    return made


def over(attribute: str) -> Made:
    """Return what yields the end of an attribute: of this value, or of whatever it was."""

    def made(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
        yield Claim(subject, attribute, groups.get("v", ""), ended=True)

    return made


def home(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """Where somebody lives or something is; of a meeting, when it is."""
    if is_time(groups["v"]):
        yield Claim(subject, "schedule", groups["v"])
    elif groups["v"][:1].isupper() or subject.startswith("$") or " " not in subject:
        yield Claim(subject, "home", groups["v"])


def my_home(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """*My place is in Accra*: where the speaker lives."""
    if not is_time(groups["v"]):
        yield Claim("$speaker", "home", groups["v"])


def called_off(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """*The match is off*."""
    if subject.rpartition(" ")[2] in PLANNED:
        yield Claim(subject, "schedule", "", ended=True)


def placed(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """Where a thing is that is in one place at a time."""
    if subject.rsplit(maxsplit=1)[-1] in PLACED:
        yield Claim(subject, "schedule" if is_time(groups["v"]) else "home", groups["v"])


def employed(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """Whom somebody works for."""
    if groups["v"][:1].isupper() or groups["v"].startswith(("a ", "the ", "an ")):
        yield Claim(subject, "employer", groups["v"])


def occupation(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """What somebody works as: a closed list."""
    words = groups["v"].casefold().split()
    if words and words[-1] in OCCUPATIONS:
        yield Claim(subject, "occupation", groups["v"])


def named(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """What something is called; also under its old name, if that is told."""
    yield Claim(subject, "name", groups["v"])
    if (old := groups.get("u")) is not None:
        yield Claim(old.casefold(), "name", groups["v"])


def valued(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """An attribute in so many words, or a number that its subject has: a price, an age, a size."""
    value = re.sub(r"^(?:a|an|at|to|set to|called|named) ", "", groups["v"])
    part = attribute_of(subject)
    if part is not None and (part[0] or not value.islower() or quantities(value)):
        yield of_attribute(*part, value)
    elif re.match(MONEY, value, re.I):
        yield Claim(subject, "price", value)


def of_attribute(subject: str, attribute: str, value: str) -> Claim:
    """Return the claim of an attribute, under one of its names."""
    attribute = {"cost": "price", "fee": "price", "color": "colour"}.get(attribute, attribute)
    return Claim(subject, attribute, value)


def changed(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """What something was changed to: a date, an attribute in so many words, a price, a number."""
    value = groups["v"]
    part = attribute_of(subject)
    if is_time(value) and not (part and part[1] not in {"deadline"}):
        yield Claim(subject, "schedule", value)
    elif part is not None:
        yield of_attribute(*part, value)
    elif re.match(MONEY, value, re.I):
        yield Claim(subject, "price", value)
    elif re.match(NUMBER, value, re.I) or "u" in groups:
        yield Claim(subject, "setting", value)


def post(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """*Ana is the new captain of the team*: the captain of the team is Ana."""
    post = subject_of(groups["p"])
    part = attribute_of(post) if post is not None else None
    if part is not None and part[1] in POSTS:
        yield Claim(part[0], part[1], groups["s"])


def holder(attribute: str) -> Made:
    """Return what yields who has something: ``s`` has ``o``."""

    def made(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
        what = subject_of(groups["o"])
        if what is not None:
            yield Claim(what, attribute, groups["s"])

    return made


def aged(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """How old somebody is, or the number that an attribute is."""
    part = attribute_of(subject)
    if part is not None:
        yield of_attribute(*part, groups["v"])
    elif subject.startswith("$") or groups["s"][:1].isupper():
        yield Claim(subject, "age", groups["v"])


def listed(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """*Default model: minnow-small*, as in notes and settings."""
    value, part = groups["v"], attribute_of(subject)
    if part is not None:
        yield of_attribute(*part, value)
    elif re.match(MONEY, value, re.I):
        yield Claim(subject, "price", value)
    elif re.match(rf"(?:on |at )?{TIME}", value, re.I):
        yield Claim(subject, "schedule", value)


def favourite(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """What the favourite of a kind is."""
    if "n" in groups:
        yield Claim("$speaker", f"favourite {groups['n'].casefold()}", groups["v"])


def counted(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """How many of something there are."""
    noun = groups["n"].casefold().split()[-1]
    if noun not in UNCOUNTED:
        yield Claim(subject, f"count of {noun.removesuffix('s')}", groups["v"])


def scheduled(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """When something is."""
    if is_time(groups["v"]) and not subject.startswith("$speaker $"):
        part = attribute_of(subject)
        yield of_attribute(*part, groups["v"]) if part is not None else Claim(subject, "schedule", groups["v"])


def state(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """In which of several states that exclude each other something is."""
    said = groups["v"].casefold()
    for axis in STATES:
        if said in axis:
            where = groups["q"].casefold() if "q" in groups and not subject.startswith("$") else ""
            yield Claim(subject, f"state {axis[0]} {where}".strip(), said, ended="not" in groups)


def switched(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """Using one thing has ended, using another has begun."""
    yield Claim(subject, f"use of {bare(groups['u'])}", "", ended=True)
    yield Claim(subject, f"use of {bare(groups['v'])}", groups["v"])


def preferred(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """Which of two is preferred."""
    both = sorted((bare(groups["v"]), bare(groups["u"])))
    yield Claim(subject, "preference " + " or ".join(both), groups["v"])


def does(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """What somebody does all the time."""
    verb = lemma(groups["verb"])
    if verb in STATIVES:
        yield deed(subject, verb, groups["v"])


def no_more(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """What somebody does no longer."""
    verb = lemma(groups["verb"])
    if verb in STATIVES:
        yield replace(deed(subject, verb, groups["v"]), ended=True)


def deed(subject: str, verb: str, value: str) -> Claim:
    """Return the claim that somebody does something."""
    attribute = f"use of {bare(value)}" if verb == "use" else f"{verb} {bare(value)}"
    return Claim(subject, attribute, bare(value))


def owns(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """What somebody has: a closed list."""
    noun = bare(groups["v"]).split()[-1:]
    if noun and noun[0] in OWNED:
        yield Claim(subject, f"own {noun[0]}", noun[0])


def parted(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """What somebody has, drives or uses no longer."""
    thing = re.split(r" (?:to|for|on|at|in) ", groups["v"])[0].split()[-1]
    noun = thing.casefold()
    if noun not in OWNED and not thing[:1].isupper():
        return
    for verb in ("own", "drive", "use"):
        yield Claim(subject, f"use of {noun}" if verb == "use" else f"{verb} {noun}", noun, ended=True)


def lost(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """What somebody had, told of the thing itself."""
    owner, _, thing = subject.rpartition(" ")
    if owner and thing in OWNED:
        yield Claim(owner, f"own {thing}", thing, ended=True)


def bare(value: str) -> str:
    """Return a phrase without its article, folded."""
    return re.sub(r"^(?:a|an|the|my|our|his|her|their|any|some|much|more) ", "", value.casefold().strip())


def lemma(verb: str) -> str:
    """Return the form of a verb that the list of those has."""
    verb = verb.casefold()
    for ending, instead in (("ies", "y"), ("ing", ""), ("ing", "e"), ("s", ""), ("es", "")):
        if verb.endswith(ending) and (root := verb.removesuffix(ending) + instead) in STATIVES:
            return root
    return verb
