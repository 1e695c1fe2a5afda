"""Who is whose sister: relationships that a sentence states or leans on.

English, by words alone: ``my sister Ana``, ``Tom's boss, Ben``, ``Ana is Tom's sister``, ``my sister is called Ana``.
What has no name in the sentence (``my sister called``) is looked up among what is known of its owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vicw_ingest.extraction.rules.relationships import RELATIONSHIPS, canonical
from vicw_shared.language.analysis import Word

_IN_LAWS = frozenset({"mother", "father", "sister", "brother", "daughter", "son", "parent"})
_SPEAKERS = frozenset({"my"})
_ADDRESSEES = frozenset({"your"})
_OTHERS = frozenset({"his", "her"})
_QUALIFYING = frozenset(
    "best old older oldest eldest younger youngest little big elder twin former current new late dear good close "
    "beloved only first second ex".split()
)
_PREFIXES = frozenset({"half", "step"})
_SAYING = frozenset("say says said tell tells told ask asks asked reply replied answer answered write wrote".split())
_COPULAS = frozenset({"is", "'s", "’s", "was"})

SPEAKERS, ADDRESSEES = -1, -2
"""Owners of relationships that are no word of the sentence."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """``name`` is the ``relationship`` of ``owner``: places of words; SPEAKERS or ADDRESSEES.

    The owner may be a pronoun (``her``), or the last word of a relationship before it (``my mom's brother``). A
    ``name`` of None: nobody is named. ``first`` and ``last`` are the words that say so, without the name.
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
            found = list(_several(words, named, place))
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
    while first > 0 and (words[first - 1].lower in _QUALIFYING | _PREFIXES or words[first - 1].text == "-"):
        first -= 1
        relationship = _qualified(words[first].lower, relationship)
    owner = _owner(words, named, first, before)
    if owner is None:
        return None
    owner_at, first = owner
    if last + 1 < len(words) and words[last + 1].tag == "PART" and not _is_named_so(words, last + 2):
        return Relationship(owner_at, relationship, None, first, last)  # my mom's brother: the name is not hers
    name = _named_behind(words, named, last)
    if name is None:
        name = _named_before(words, named, first)
    return Relationship(owner_at, relationship, name if name != owner_at else None, first, last)


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
    names: list[int] = []
    while at < len(words) and (at in named or (names and words[at].lower in {",", "and"})):
        if at in named and named[at] not in names:
            names.append(named[at])
        at += 1
    first = place
    while first > 0 and (words[first - 1].lower in _QUALIFYING or words[first - 1].tag == "NUM"):
        first -= 1
    owner = _owner(words, named, first, {})
    if owner is None and first >= 2 and words[first - 1].lower in {"have", "has"}:
        holder = first - 2
        if words[holder].lower == "i":
            owner = SPEAKERS, holder
        elif holder in named:
            owner = named[holder], holder
    if owner is not None and len(names) > 1:
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
    if before in {"'s", "’s", "'", "’"} and first - 2 in named:
        return named[first - 2], first - 2
    if before in {"'s", "’s", "'", "’"} and first - 2 in told:
        return first - 2, told[first - 2].first
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
