"""Who is whose sister: relationships that a sentence states or leans on.

English, by words alone: ``my sister Ana``, ``Tom's boss, Ben``, ``Ana is Tom's sister``, ``my sister is called Ana``.
What has no name in the sentence (``my sister called``) is looked up among what is known of its owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vicw_shared.language.analysis import Word

RELATIONSHIPS = frozenset(
    "sister brother mother father mom mum dad mama papa daughter son wife husband spouse partner fiancé fiancée fiance "
    "fiancee girlfriend boyfriend grandmother grandfather grandma grandpa granddaughter grandson aunt uncle cousin "
    "niece nephew stepmother stepfather stepsister stepbrother stepson stepdaughter godmother godfather twin parent "
    "sibling child friend roommate flatmate housemate neighbour neighbor boss manager supervisor colleague coworker "
    "teammate assistant mentor mentee teacher student tutor coach doctor therapist dentist lawyer accountant landlord "
    "landlady tenant client dog cat puppy kitten horse parrot".split()
)
_IN_LAWS = frozenset({"mother", "father", "sister", "brother", "daughter", "son", "parent"})
_SPEAKERS = frozenset({"my"})
_ADDRESSEES = frozenset({"your"})
_OTHERS = frozenset({"his", "her"})
_QUALIFYING = frozenset(
    "best old older oldest eldest younger youngest little big elder twin former current new late dear good close "
    "beloved only first second ex".split()
)
_NAMING = ({"called"}, {"named"}, {"is", "called"}, {"is", "named"}, {"'s", "called"}, {"name", "is"})
_COPULAS = frozenset({"is", "'s", "’s", "was"})

SPEAKERS, ADDRESSEES = -1, -2
"""Owners of relationships that are no word of the sentence."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """``name`` is the ``relationship`` of ``owner``: places of words; SPEAKERS or ADDRESSEES.

    The owner may be a pronoun (``her``). A ``name`` of None: nobody is named. ``first`` and ``last`` are the words that
    say so, without the name.
    """

    owner: int
    relationship: str
    name: int | None
    first: int
    last: int


def relationships_in(words: Sequence[Word], named: Mapping[int, int]) -> Iterator[Relationship]:
    """Yield the relationships of a sentence. ``named`` maps each word of a name to the word that heads it."""
    for place, word in enumerate(words):
        if word.lower in RELATIONSHIPS and word.tag in {"NOUN", "PROPN"}:
            found = _found(words, named, place)
            if found is not None:
                yield found


def _found(words: Sequence[Word], named: Mapping[int, int], place: int) -> Relationship | None:
    relationship, last = words[place].lower, place
    if relationship in _IN_LAWS and [word.lower for word in words[place + 1 : place + 5]] == ["-", "in", "-", "law"]:
        relationship, last = f"{relationship}-in-law", place + 4
    first = place
    while first > 0 and (words[first - 1].lower in _QUALIFYING or words[first - 1].text == "-"):
        first -= 1
    owner = _owner(words, named, first)
    if owner is None:
        return None
    owner_at, first = owner
    name = _named_behind(words, named, last)
    if name is None:
        name = _named_before(words, named, first)
    return Relationship(owner_at, relationship, name if name != owner_at else None, first, last)


def _owner(words: Sequence[Word], named: Mapping[int, int], first: int) -> tuple[int, int] | None:
    """Return whose it is, and where that is said: the word before, or a name with its possessive."""
    if first == 0:
        return None
    before = words[first - 1].lower
    if before in _SPEAKERS:
        return SPEAKERS, first - 1
    if before in _ADDRESSEES:
        return ADDRESSEES, first - 1
    if before in _OTHERS:
        return first - 1, first - 1
    if before in {"'s", "’s", "'", "’"} and first >= 2 and first - 2 in named:
        return named[first - 2], first - 2
    return None


def _named_behind(words: Sequence[Word], named: Mapping[int, int], last: int) -> int | None:
    """``my sister Ana``; ``my sister, Ana,``; ``my sister is called Ana``; ``my sister's name is Ana``."""
    at = last + 1
    if at < len(words) and words[at].text == "," and at + 2 < len(words):
        closed = at + 1 in named and words[_end(named, at + 1)].text in {",", "."}
        return named[at + 1] if closed else None
    while at < len(words) and words[at].lower in {"is", "was", "'s", "’s", "called", "named", "name"}:
        at += 1
    if at not in named:
        return None
    between = {word.lower for word in words[last + 1 : at]}
    return named[at] if not between or between & {"called", "named", "name"} or between <= _COPULAS else None


def _end(named: Mapping[int, int], at: int) -> int:
    head = named[at]
    while named.get(at) == head:
        at += 1
    return at


def _named_before(words: Sequence[Word], named: Mapping[int, int], first: int) -> int | None:
    """``Ana is my sister``; ``Ana, my sister, …``."""
    at = first - 1
    if at >= 1 and words[at].lower in _COPULAS | {","} and at - 1 in named:
        return named[at - 1]
    return None
