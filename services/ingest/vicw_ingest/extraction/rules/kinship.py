"""Who is whose sister: relationships that a sentence states or leans on.

English, by words alone: ``my sister Ana``, ``Tom's boss, Ben``, ``Ana is Tom's sister``, ``my sister is called Ana``.
What has no name in the sentence (``my sister called``) is looked up among what is known of its owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vicw_ingest.extraction.rules.beside import (
    HAVING,
    end_of,
    list_before,
    list_behind,
    named_behind,
    named_beside,
    start_of,
)
from vicw_ingest.extraction.rules.relationships import QUALIFYING, RELATIONSHIPS, canonical, kind_of
from vicw_shared.language.analysis import Word

_IN_LAWS = frozenset({"mother", "father", "sister", "brother", "daughter", "son", "parent"})
_SPEAKERS = frozenset({"my", "our"})
_ADDRESSEES = frozenset({"your"})
_OTHERS = frozenset({"his", "her", "their"})
_PREFIXES = frozenset({"half", "step"})
_SAYING = frozenset("say says said tell tells told ask asks asked reply replied answer answered write wrote".split())
_POSSESSIVES = frozenset({"'s", "’s", "'", "’"})
_ARTICLES = frozenset({"the", "a", "an", "one"})
_OF_SOMEBODY = frozenset({"friend", "neighbour", "neighbor", "colleague", "roommate"})
"""Besides the family's: of companies there are managers and clients, but no friends."""

SPEAKERS, ADDRESSEES = -1, -2
"""Owners of relationships that are no word of the sentence."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """``name`` is the ``relationship`` of ``owner``: places of words; SPEAKERS or ADDRESSEES.

    The owner may be a pronoun (``her``; ``their`` has several), or the last word of a relationship before it (``my
    mom's brother``). A ``name`` of None: nobody is named. ``first`` and ``last`` are the words that say so, without
    the name.
    """

    owner: int
    relationship: str
    name: int | None
    first: int
    last: int


def relationships_in(
    words: Sequence[Word], named: Mapping[int, int], *, quoting: bool = False
) -> Iterator[Relationship]:
    """Yield the relationships of a sentence. ``named`` maps each word of a name to the word that heads it.

    ``quoting`` says that a quotation that began before the sentence is still open.
    """
    inside = quoted(words, quoting)
    before: dict[int, Relationship] = {}
    for place, word in enumerate(words):
        if word.tag not in {"NOUN", "PROPN", "ADJ"}:
            continue
        if word.lower in RELATIONSHIPS:
            found = [_found(words, named, place, before)]
        elif word.lower.removesuffix("s") in RELATIONSHIPS:
            found = list(_several(words, named, place)) or list(_mutual(words, named, place))
        else:
            continue
        for one in found:
            meant = _as_quoted(one, words, inside, place) if one is not None else None
            if meant is not None:
                before[meant.last] = meant
                yield meant


def quoted(words: Sequence[Word], within: bool) -> list[bool]:
    """Tell of each word whether it stands in a quotation; ``within`` says so of what is before the first."""
    inside = []
    for word in words:
        within = not within if word.text == '"' else word.text == "“" or (within and word.text != "”")
        inside.append(within)
    return inside


def _as_quoted(found: Relationship, words: Sequence[Word], inside: Sequence[bool], place: int) -> Relationship | None:
    """Return the relationship with its owner: in a quotation *my* is the quoted one's, and *your* is nobody known's."""
    if not inside[place] or found.owner not in {SPEAKERS, ADDRESSEES}:
        return found
    if found.owner == ADDRESSEES:
        return None
    for at, word in enumerate(words):
        said = word.relation.startswith("nsubj") and word.head >= 0 and words[word.head].lower in _SAYING
        if said and not inside[at]:
            return replace(found, owner=SPEAKERS if word.lower == "i" else at)
    return None


def _found(
    words: Sequence[Word], named: Mapping[int, int], place: int, before: Mapping[int, Relationship]
) -> Relationship | None:
    relationship, last = words[place].lower, place
    if relationship in _IN_LAWS and [word.lower for word in words[place + 1 : place + 5]] == ["-", "in", "-", "law"]:
        relationship, last = f"{relationship}-in-law", place + 4
    first = place
    while first > 0 and (words[first - 1].lower in QUALIFYING | _PREFIXES or words[first - 1].text == "-"):
        first -= 1
        relationship = _qualified(words[first].lower, relationship)
    owner = _owner(words, named, first, before)
    if owner is None:
        return _of_somebody(words, named, relationship, first, last) or _had(words, named, relationship, first, last)
    owner_at, first = owner
    if last + 1 < len(words) and words[last + 1].tag == "PART" and not _is_named_so(words, last + 2):
        return Relationship(owner_at, relationship, None, first, last)  # my mom's brother: the name is not hers
    name = named_beside(words, named, first, last)
    return Relationship(owner_at, relationship, name if name != owner_at else None, first, last)


def _of_somebody(
    words: Sequence[Word], named: Mapping[int, int], relationship: str, first: int, last: int
) -> Relationship | None:
    """``Agnes is the daughter of Nils Ström``; ``Jonas, brother of Marit,``; ``the wife of Aksel, Ingrid,``."""
    owner = last + 2
    if owner not in named or words[last + 1].lower != "of":
        return None
    if not kind_of(relationship) and relationship not in _OF_SOMEBODY:
        return None
    marked = first > 0 and (words[first - 1].lower in _ARTICLES or words[first - 1].text == ",")
    if not marked or (end_of(named, owner) < len(words) and words[end_of(named, owner)].lower in _POSSESSIVES):
        return None  # a friend of Marit's husband is none of hers
    start = first if words[first - 1].text == "," else first - 1
    end = end_of(named, owner) - 1
    name = named_beside(words, named, start, end)
    return Relationship(named[owner], relationship, name, start, end) if name not in {None, named[owner]} else None


def _had(
    words: Sequence[Word], named: Mapping[int, int], relationship: str, first: int, last: int
) -> Relationship | None:
    """``Marit had a brother named Jonas``; ``I have a sister, Ana,``."""
    holder = first - 3
    if holder < 0 or words[first - 1].lower not in _ARTICLES or words[first - 2].lower not in HAVING:
        return None
    name = named_behind(words, named, last)
    if name is None:
        return None
    if words[holder].lower in {"i", "we"}:
        return Relationship(SPEAKERS, relationship, name, first - 1, last)
    own = named.get(holder, holder if words[holder].lower in {"he", "she"} else None)
    return Relationship(own, relationship, name, first - 1, last) if own is not None else None


def _mutual(words: Sequence[Word], named: Mapping[int, int], place: int) -> Iterator[Relationship]:
    """``Ana and Eva were sisters``; ``the brothers Max and Tom``: each of them is the other's."""
    relationship = words[place].lower.removesuffix("s")
    if kind_of(relationship) not in {"sibling", "cousin"} and relationship not in _OF_SOMEBODY:
        return
    start = place
    while start > 0 and (words[start - 1].lower in QUALIFYING or words[start - 1].tag == "ADV"):
        start -= 1
    behind = words[place + 1].lower if place + 1 < len(words) else ""
    names: list[int] = []
    if start > 0 and words[start - 1].lower in {"are", "were", "became"} and behind not in {"of", *_POSSESSIVES}:
        names = list_before(words, named, start - 1)
    elif start > 0 and words[start - 1].lower == "the":
        names = list_behind(words, named, place + 1)
    for at, one in enumerate(names):
        yield from (Relationship(one, relationship, other, place, place) for other in names[at + 1 :])


def _qualified(before: str, relationship: str) -> str:
    """Return the relationship with what makes it another one: an ex-wife is no wife."""
    if before == "step":
        return f"step{relationship}"
    if before in _PREFIXES | {"ex"}:
        return f"{before}-{relationship}"
    if before == "late":
        return relationship if canonical(f"late {relationship}") == canonical(relationship) else f"late {relationship}"
    return f"{before} {relationship}" if before == "former" else relationship


def _is_named_so(words: Sequence[Word], at: int) -> bool:
    return at < len(words) and words[at].lower in {"called", "named", "name"}


def _several(words: Sequence[Word], named: Mapping[int, int], place: int) -> Iterator[Relationship]:
    """``my sisters Ana and Eva``; ``I have two sisters, Ana and Eva``."""
    at = place + 1
    if at < len(words) and words[at].text in {",", ":"}:
        at += 1
    names = list_behind(words, named, at)
    first = place
    while first > 0 and (words[first - 1].lower in QUALIFYING or words[first - 1].tag == "NUM"):
        first -= 1
    owner = _owner(words, named, first, {})
    if owner is None and first >= 2 and words[first - 1].lower in HAVING:
        holder = first - 2
        if words[holder].lower == "i":
            owner = SPEAKERS, holder
        elif holder in named:
            owner = named[holder], holder
    if owner is not None:
        relationship = words[place].lower.removesuffix("s")
        yield from (Relationship(owner[0], relationship, name, place, place) for name in names)


def _owner(
    words: Sequence[Word], named: Mapping[int, int], first: int, told: Mapping[int, Relationship]
) -> tuple[int, int] | None:
    """Return whose it is, and where that is said: the word before, or a name or a relationship with its possessive."""
    before = words[first - 1].lower if first > 0 else ""
    spoken = SPEAKERS if before in _SPEAKERS else ADDRESSEES if before in _ADDRESSEES else None
    if spoken is not None:
        return spoken, first - 1
    if before in _OTHERS:
        return first - 1, first - 1
    if before in _POSSESSIVES and first - 2 in named:
        return named[first - 2], start_of(named, first - 2)
    if before in _POSSESSIVES and first - 2 in told:
        return first - 2, told[first - 2].first
    return None
