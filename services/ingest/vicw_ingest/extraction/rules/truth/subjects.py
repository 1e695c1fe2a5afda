"""What a claim is of: a phrase at the start of a clause, in the form in which another sentence would say it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vicw_ingest.extraction.reading import ADDRESSEE, SPEAKER
from vicw_ingest.extraction.rules.truth.nouns import ATTRIBUTES, KIN, OWNED, PLACED, PLANNED, WORK_ITEMS

NAME = r"[A-Z][\w'’.&+-]*(?: (?:[A-Z][\w'’.&+-]*|v?\d[\w.]*)){0,2}"
_WORD = (
    r"(?!(?:is|are|am|was|were|has|have|had|do|does|did|will|now|just|still|recently|already|finally|currently|"
    r"no|not|and|but|"
    r"also|officially|actually|only|got|gets|been|being|to|if|that)\b)[\w'’.#/+-]+"
)
CORE = rf"{_WORD}(?: {_WORD}){{0,4}}?"
SUBJECT = rf"(?P<s>[Ii]|[Ww]e|[Hh]e|[Ss]he|(?:[Mm]y|[Oo]ur|[Yy]our|[Tt]he|[Hh]is|[Hh]er) {CORE}|{NAME}(?: {CORE})?)"
THING = rf"(?P<s>(?:[Mm]y|[Oo]ur|[Yy]our|[Tt]he|[Hh]is|[Hh]er|[Tt]heir) {CORE}|{NAME}(?: {CORE})?)"
_OWNERS = {"my": "$speaker", "your": "$addressee", "his": "he", "her": "she", "our": "", "the": "", "their": "they"}
_PEOPLE = {"i": "$speaker", "we": "$speaker", "me": "$speaker", "my": "$speaker"}
_HOUSEHOLD = (
    KIN
    - {
        "boss",
        "manager",
        "colleague",
        "team",
        "people",
        "friend",
        "mate",
        "partner",
        "neighbour",
        "neighbor",
        "man",
        "guy",
    }
    | OWNED
    - {"shop", "bakery", "cafe", "restaurant", "studio", "farm", "printer", "projector", "plot", "bookshop", "bus"}
    | {"home", "heating", "boiler", "kitchen", "bathroom", "roof", "fridge", "oven", "dishwasher"}
)
"""What is ours is the family's, not everybody's who is there."""
_COMMON = (ATTRIBUTES | PLACED | PLANNED | WORK_ITEMS | OWNED) - {"may"}
_WEAK = frozenset("new current main own usual present actual annual yearly nightly".split())
_SPELT = {
    "color": "colour",
    "favorite": "favourite",
    "max": "maximum",
    "min": "minimum",
    "center": "centre",
    "neighbor": "neighbour",
}
_OWNED = re.compile(rf"({NAME.replace("'’", '')})['’]s ")
"""Whose something is, by name."""
_PRONOUNS = frozenset("i you he she it we they him her us them this that".split())
_NO_SUBJECTS = frozenset(
    "this that it there here what who which when where why how everything nothing something everyone somebody "
    "nobody yes no "
    "thanks well oh and but so also then now today yesterday maybe wow hey hi hello ok okay sure one "
    "for since from after before during with in on at by to of as if when while until because without within into over "
    "under still once not never just yet each every all some any both most many few several another no than these "
    "those like sounds looks feels got anyone anybody someone next last another".split()
)
_PRONOUNS = frozenset("i we you they he she it me us him them who which what".split())
_JOINS = frozenset("for at in on from".split())
"""*The piano in the hall* is the hall's piano."""
_IDENTIFIER = re.compile(r"[A-Za-z]+[-_#][\w-]*|[a-z]+_\w+")
_CLASSIFIERS = frozenset(
    "the our my a ticket issue bug pr feature flag option setting endpoint service function method table column "
    "variable "
    "branch repo repository file package command parameter".split()
)
"""What may be said before an identifier, or not."""


def subject_of(text: str) -> str | None:
    """Return the subject that a phrase means, None if it is no definite one.

    >>> subject_of("my new car"), subject_of("the port of the staging server"), subject_of("Ana's boss")
    ('$speaker car', 'staging server port', "ana's boss")
    """
    if (owned := _OWNED.match(text)) is not None:
        rest = _plain(text[owned.end() :].split())
        return f"{owned[1].casefold()}'s {rest}" if rest else None
    words = re.sub(r"['’]s\b", " 's", text).split()
    if not words or words[0].casefold() in _NO_SUBJECTS or (len(words) == 1 and words[0].casefold() in _OWNERS):
        return _PEOPLE.get(text.casefold())
    if len(words) == 1 and words[0].casefold() in _PEOPLE.keys() | {"he", "she", "they"}:
        return _PEOPLE.get(words[0].casefold(), words[0].casefold())
    of = next((at for at, word in enumerate(words) if word == "of" or (at > 1 and word in _JOINS)), None)
    if of is not None and of + 1 < len(words):
        return _whole_and_part(words, of)
    if words[0].casefold() in _PRONOUNS or any(word.casefold() in _PRONOUNS for word in words[1:]):
        return None
    return _owned(words)


def _whole_and_part(words: list[str], of: int) -> str:
    """Return what is part of what: *the port of the server*, *the piano in the hall*."""
    rest = " ".join(words[of + 1 :])
    whole = subject_of(rest) or rest.casefold()
    if words[of] == "of" and re.fullmatch(NAME, rest) and not rest[-1].isdigit():
        whole += "'s"
    return f"{whole} {_plain(words[:of])}".strip()


def _owned(words: list[str]) -> str | None:
    """Return what is somebody's, or nobody's; an identifier stands for itself: *the flag new_search*."""
    if re.search(r"['’](?:d|ll|ve|re|m)\b", words[0]):
        return None
    first = words[0].casefold()
    owner = "$speaker" if first == "our" and singular(words[-1].casefold()) in _HOUSEHOLD else _OWNERS.get(first)
    if len(words) > 1 and _IDENTIFIER.fullmatch(words[-1]) and set(map(str.casefold, words[:-1])) <= _CLASSIFIERS:
        return words[-1].casefold()
    rest = _plain(words[1:] if owner is not None else words)
    return f"{owner} {rest}".strip() if owner else rest or None


def attribute_of(subject: str) -> tuple[str, str] | None:
    """Part a subject from the attribute that it ends in: *staging server port*; None if that is none.

    What is the favourite of its kind is an attribute, whatever it is.
    """
    words = subject.split()
    if "favourite" in words[:-1]:
        at = words.index("favourite")
        return " ".join(words[:at]).removesuffix("'s"), " ".join(words[at:])
    if len(words) > 1 and words[-1] in ATTRIBUTES:
        return " ".join(words[:-1]).removesuffix("'s"), words[-1]
    return ("", words[0]) if len(words) == 1 and words[0] in ATTRIBUTES else None


def whose_and_of(subject: str, named: Mapping[str, str]) -> tuple[str | None, str] | None:
    """Return the key of whom a claim's subject begins with, and the rest; None if nobody is known by a pronoun.

    ``named`` are keys by folded names of what the text names.
    """
    words = subject.split()
    if not words:
        return None, ""
    if words[0] in {SPEAKER, ADDRESSEE}:
        return words[0], " ".join(words[1:])
    owner, possessed, rest = subject.partition("'s ")
    for name, of in ((subject, ""), (owner, rest)) if possessed else ((subject, ""),):
        if (key := named.get(name)) is not None:
            return key, of
    return (None, subject) if words[0] not in _PRONOUNS else None


def is_common(subject: str) -> bool:
    """Tell whether a subject is something that is no name, though a capital begins its sentence: *Standup*."""
    last = subject.rpartition(" ")[2]
    return "'s " not in subject and not subject.startswith("$") and last in _COMMON


def _plain(words: list[str]) -> str:
    kept = [_spelt(word, words[at + 1 :]) for at, word in enumerate(words)]
    kept = [w.casefold() for w in kept if w.casefold() not in {"the", "a", "an", "'s", "my", "our", *_WEAK}]
    return " ".join(_singular(word.strip(".,")) for word in kept)


def _spelt(word: str, behind: list[str]) -> str:
    """Return a word in one spelling; *Max* is somebody, *Max size* is not."""
    common = word.islower() or (behind and behind[0].islower())
    return _SPELT.get(word.casefold(), word) if common else word


def _singular(word: str) -> str:
    return singular(word) if len(word) > _SHORT else word


def singular(noun: str) -> str:
    """Return a noun's singular, near enough for both to be one.

    >>> singular("branches"), singular("cities"), singular("hens"), singular("bus"), singular("boss")
    ('branch', 'city', 'hen', 'bus', 'boss')
    """
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if noun.endswith(("ches", "shes", "sses", "xes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


_SHORT = 3
