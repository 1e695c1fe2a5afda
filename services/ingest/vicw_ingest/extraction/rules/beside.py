"""Which names stand beside a relationship, and so may be those of whom it names.

``named`` maps each word of a name to the word that heads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vicw_shared.language.analysis import Word

HAVING = frozenset({"has", "have", "had"})
_COPULAS = frozenset({"is", "'s", "’s", "was", "became"})
_BEFORE_NAMES = frozenset({"ADJ", "DET"})
_MOST_BEFORE_NAME = 2
"""Words between a comma and the name behind it: ``her father, the old Captain Holm,``."""


def named_beside(words: Sequence[Word], named: Mapping[int, int], first: int, last: int) -> int | None:
    """Return the name behind a relationship with its owner, else the one before it."""
    name = named_behind(words, named, last)
    return name if name is not None else _named_before(words, named, first, last)


def named_behind(words: Sequence[Word], named: Mapping[int, int], last: int) -> int | None:
    """``my sister Ana``; ``my sister, Ana,``; ``my sister is called Ana``; ``my sister's name is Ana``."""
    at = last + 1
    if at < len(words) and words[at].text == "," and at + 2 < len(words):
        at += 1
        while at < last + 2 + _MOST_BEFORE_NAME and at + 1 < len(words) and words[at].tag in _BEFORE_NAMES:
            if at in named:
                break
            at += 1
        closed = at in named and end_of(named, at) < len(words) and words[end_of(named, at)].tag == "PUNCT"
        return named[at] if closed else None
    while at < len(words) and words[at].lower in {"is", "was", "'s", "’s", "called", "named", "name"}:
        at += 1
    if at not in named:
        return None
    between = {word.lower for word in words[last + 1 : at]}
    return named[at] if not between or between & {"called", "named", "name"} or between <= _COPULAS else None


def _named_before(words: Sequence[Word], named: Mapping[int, int], first: int, last: int) -> int | None:
    """``Ana is my sister``; ``Ana had been my sister``; ``Ana, my sister, …``."""
    at = first - 1
    if at >= 2 and words[at].lower == "been" and words[at - 1].lower in HAVING:
        at -= 1
    elif at >= 1 and words[at].text == "," and not _is_closed(words, last + 1):
        return None  # with Jonas, Marit's brother sailed: that may be another
    elif at < 1 or words[at].lower not in _COPULAS | {","}:
        return None
    return named.get(at - 1)


def _is_closed(words: Sequence[Word], at: int) -> bool:
    return at >= len(words) or words[at].tag == "PUNCT" or words[at].lower == "who"


def list_behind(words: Sequence[Word], named: Mapping[int, int], at: int) -> list[int]:
    """Return the heads of a list of two names and more that begins at a place."""
    names: list[int] = []
    while at < len(words) and (at in named or (names and words[at].lower in {",", "and"})):
        if at in named and named[at] not in names:
            names.append(named[at])
        at += 1
    return names if len(names) > 1 else []


def list_before(words: Sequence[Word], named: Mapping[int, int], end: int) -> list[int]:
    """Return the names of a list that ends before a place and begins its clause."""
    names: list[int] = []
    at = end - 1
    while at >= 0 and (at in named or (names and words[at].lower in {",", "and"})):
        if at in named and named[at] not in names:
            names.insert(0, named[at])
        at -= 1
    joined = any(words[place].lower == "and" for place in range(at + 1, end))
    opens = at < 0 or words[at].tag in {"PUNCT", "CCONJ", "SCONJ"}
    return names if len(names) > 1 and joined and opens else []


def end_of(named: Mapping[int, int], at: int) -> int:
    """Return where a name ends that has a word at a place."""
    head = named[at]
    while named.get(at) == head:
        at += 1
    return at


def start_of(named: Mapping[int, int], at: int) -> int:
    """Return where a name begins that has a word at a place."""
    head = named[at]
    while named.get(at - 1) == head:
        at -= 1
    return at
