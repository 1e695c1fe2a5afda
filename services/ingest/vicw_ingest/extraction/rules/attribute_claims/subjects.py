"""Normalise the subject phrase of a clause, so that different phrases for one subject are equal."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vicw_ingest.extraction.model import ADDRESSEE, SPEAKER

NAME = r"[A-Z][\w'’.&+-]*(?: (?:[A-Z][\w'’.&+-]*|v?\d[\w.]*)){0,2}"
_WORD = (
    r"(?!(?:is|are|am|was|were|has|have|had|do|does|did|will|now|just|still|recently|already|finally|currently|no|not|"
    r"and|but|also|officially|actually|only|got|gets|been|being|to|if|that)\b)[\w'’.#/+-]+"
)
_CORE = rf"{_WORD}(?: {_WORD}){{0,4}}?"
THING = rf"(?:[Mm]y|[Oo]ur|[Yy]our|[Tt]he|[Hh]is|[Hh]er|[Tt]heir) {_CORE}|{NAME}(?: {_CORE})?"
SEVERAL = frozenset("neighbour flatmate roommate reviewer sponsor tenant contact".split())
"""Attributes that may have several values, unless the text states a change."""
_ATTRIBUTES = SEVERAL | frozenset(
    "boss manager supervisor owner lead maintainer captain coach teacher tutor doctor dentist therapist landlord head "
    "director chair president treasurer secretary editor ceo cto cfo provider supplier vendor employer "
    "name surname nickname username home hometown address email number birthday age height weight size colour language "
    "job role position title price rent salary fee cost rate budget limit timeout quota threshold retention capacity "
    "deadline interval frequency version port url branch channel region level priority status theme currency password "
    "platform gate seat model".split()
)
"""Nouns that are an attribute at the end of a subject: *the port of the server is 8080*."""
_SAME = {"head": "lead", "cost": "price", "color": "colour", "favorite": "favourite", "neighbor": "neighbour"}
_OWNERS = {"my": SPEAKER, "your": ADDRESSEE, "his": "he", "her": "she", "our": "", "the": "", "their": "they"}
_PEOPLE = {"i": SPEAKER, "we": SPEAKER, "he": "he", "she": "she", "they": "they"}
_NO_SUBJECTS = _PEOPLE.keys() | frozenset(
    "you it me us him them who which what this that these those there here everything nothing something everyone "
    "everybody somebody anyone yes no thanks one all some any both most many few each every another next last".split()
)
_OWNED = re.compile(rf"({NAME.replace("'’", '')})['’]s ")
_JOINS = frozenset("for at in on from".split())
_LEFT_OUT = frozenset("the a an 's my our new current main own usual present actual".split())


def subject_of(text: str) -> str | None:
    """Return the normalised subject of a phrase; None if it is not definite.

    >>> subject_of("my new car"), subject_of("the port of the staging server"), subject_of("Ana's boss")
    ('$speaker car', 'staging server port', "ana's boss")
    """
    if (owned := _OWNED.match(text)) is not None:
        rest = _normalised(text[owned.end() :].split())
        return f"{owned[1].casefold()}'s {rest}" if rest else None
    words = re.sub(r"['’]s\b", " 's", text).split()
    folded = [word.casefold() for word in words]
    if len(words) < 2 and text.casefold() in _PEOPLE:
        return _PEOPLE[text.casefold()]
    if not words or not _NO_SUBJECTS.isdisjoint(folded):
        return None
    of = next((at for at, word in enumerate(words[:-1]) if at and (word == "of" or (at > 1 and word in _JOINS))), None)
    if of is not None:  # the piano in the hall is the hall's piano
        rest = " ".join(words[of + 1 :])
        is_owner_name = words[of] == "of" and re.fullmatch(NAME, rest) and not rest[-1].isdigit()
        return f"{subject_of(rest) or rest.casefold()}{"'s" if is_owner_name else ''} {_normalised(words[:of])}".strip()
    owner = _OWNERS.get(folded[0])
    return " ".join(filter(None, (owner, _normalised(words if owner is None else words[1:])))) or None


def attribute_of(subject: str) -> tuple[str, str] | None:
    """Split a subject from the attribute at its end: *staging server port*; None if it ends in no attribute.

    ``favourite`` with any kind is an attribute.
    """
    before, favourite, kind = subject.partition("favourite ")
    if favourite:
        return before.strip().removesuffix("'s"), favourite + kind
    owner, _, attribute = subject.rpartition(" ")
    return (owner.removesuffix("'s"), attribute) if attribute in _ATTRIBUTES else None


def owner_and_attribute(subject: str, named: Mapping[str, str]) -> tuple[str | None, str] | None:
    """Return the key of the owner at the start of a subject (None: not named), and the rest.

    ``named`` maps the case-folded names in the text to keys. None for an unresolved pronoun.
    """
    first, _, behind = subject.partition(" ")
    if first in {SPEAKER, ADDRESSEE}:
        return first, behind
    owner, _, rest = subject.partition("'s ")
    for name, of in ((subject, ""), (owner, rest)):
        if (key := named.get(name)) is not None:
            return key, of
    return (None, subject) if first not in _NO_SUBJECTS else None


def _normalised(words: list[str]) -> str:
    folded = (word.casefold().strip(".,") for word in words)
    nouns = [_singular(_SAME.get(word, word)) for word in folded if word not in _LEFT_OUT]
    return " ".join(_SAME.get(word, word) for word in nouns)


def _singular(noun: str) -> str:
    """Return an approximate singular, good enough to match both forms."""
    if noun.endswith(("ches", "shes", "sses", "xes")):
        return noun[:-2]
    return noun[:-1] if len(noun) > 3 and noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun
