"""Normalise the phrases of a claim, so that different phrases for one subject or attribute are equal."""

from __future__ import annotations

import re

from vicw_ingest.extraction.model import SPEAKER

_NAME = r"[A-Z][\w'’.&+-]*(?: (?:[A-Z][\w'’.&+-]*|v?\d[\w.]*)){0,2}"
_SYNONYMS = {"head": "lead", "cost": "price", "color": "colour", "favorite": "favourite", "neighbor": "neighbour"}
_OWNERS = {"my": SPEAKER, "his": "he", "her": "she", "our": "", "the": "", "their": "they"}
_PEOPLE = {"i": SPEAKER, "we": SPEAKER, "he": "he", "she": "she", "they": "they"}
_NO_SUBJECTS = _PEOPLE.keys() | frozenset(
    "you it me us him them who which what this that these those there here everything nothing something everyone "
    "everybody somebody anyone yes no thanks one all some any both most many few each every another next last".split()
)
_OWNED = re.compile(rf"({_NAME.replace("'’", '')})['’]s ")
_JOINS = frozenset("for at in on from".split())
_IGNORED = frozenset("the a an 's my our new current main own usual present actual".split())


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
        is_owner_name = words[of] == "of" and re.fullmatch(_NAME, rest) and not rest[-1].isdigit()
        return f"{subject_of(rest) or rest.casefold()}{"'s" if is_owner_name else ''} {_normalised(words[:of])}".strip()
    owner = _OWNERS.get(folded[0])
    return " ".join(filter(None, (owner, _normalised(words if owner is None else words[1:])))) or None


def _normalised(words: list[str]) -> str:
    folded = (word.casefold().strip(".,") for word in words)
    nouns = [_singular(_SYNONYMS.get(word, word)) for word in folded if word not in _IGNORED]
    return " ".join(_SYNONYMS.get(word, word) for word in nouns)


def _singular(noun: str) -> str:
    """Return an approximate singular, good enough to match both forms."""
    if noun.endswith(("ches", "shes", "sses", "xes")):
        return noun[:-2]
    return noun[:-1] if len(noun) > 3 and noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun
