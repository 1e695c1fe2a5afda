"""Find what a sentence says to be another name: "Robert (Bob) Hale", "Ada Park, whom everybody calls Dede".

The words say so, never brackets alone: "Paris (France)" and "Anna (12)" have no second name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vicw_english.names import Name, NameKind
from vicw_shared.text import Span

_CALLERS = (
    r"(?:every(?:body|one)|all(?:\ of\ us)?|people|friends|(?:almost\ )?all|(?:my|his|her|their|our|the|all)\ \w+"
    r"|we|they|I)(?:\ (?:all|always|just|only|simply|usually|still))*\ call(?:s|ed)?"
)
_QUOTED = r"\ ?[\"“'‘]?"
_KNOWN_AS = re.compile(
    rf"\s*[,(]?\s*(?:(?P<person>(?:who|whom)\ {_CALLERS}|(?:who\ )?goes\ by(?:\ the\ (?:nick)?name(?:\ of)?)?"
    r"|(?:is\ |was\ )?nicknamed)"
    r"|(?:is\ |was\ )?(?:also\ |better\ |best\ |commonly\ |formerly\ )*known\ (?:to\ \w+\ (?:\w+\ )?)?as"
    rf"|a\.?k\.?a\.?){_QUOTED}",
    re.IGNORECASE,
)
"""Words between a name and another one; ``person``: they say that it is a person's."""
_SHORT_FOR = re.compile(r"\s*[,(]?\s*(?:is\ |was\ )?short\ for\ ", re.IGNORECASE)
"""Words between another name and the name."""
_OR = re.compile(rf"\s*,?\ or{_QUOTED}", re.IGNORECASE)
_FOR_SHORT = re.compile(r"[\"”'’]?\ for\ short\b", re.IGNORECASE)
"""What stands around another name in "Wilhelmina, or Billie for short"."""
_CALLS_ME = re.compile(rf"(?:^|[\s,;(]){_CALLERS}\ me{_QUOTED}$", re.IGNORECASE)
_OPEN = re.compile(r"\ ?[(\"“'‘]")
_CLOSE = re.compile(r"[)\"”'’]\ ")
_WORDS = re.compile(r"[^\W\d_]+(?:[ '’.-]{1,2}[^\W\d_]+)*\.?")
_MOST_CHARS = 60
"""Characters between a name and another one, at most."""


@dataclass(frozen=True, slots=True)
class Alias:
    """An ``alias`` of ``name``; None: of the speaker. ``is_person``: the words are said of a person."""

    alias: Name
    name: Name | None
    is_person: bool


def with_nicknames(text: str, names: Sequence[Name]) -> tuple[list[Name], list[Alias]]:
    """Return the names of a sentence, of which a first name, a nickname and a last name are joined, and the nicknames.

    ``Robert (Bob) Hale`` is the name Robert Hale, whose alias is Bob.
    """
    joined, aliases = list(names), list[Alias]()
    for first, nickname, last in zip(names, names[1:], names[2:], strict=False):
        between = text[first.span.end : nickname.span.start], text[nickname.span.end : last.span.start]
        if not (_OPEN.fullmatch(between[0]) and _CLOSE.fullmatch(between[1]) and first in joined):
            continue
        if all(_is_plain(name) for name in (first, nickname, last)):
            span = Span(first.span.start, last.span.end)
            positions = range(first.positions.start, last.positions.stop)
            full = Name(f"{first.text} {last.text}", NameKind.NAME, span, positions)
            joined[joined.index(first)] = full
            joined.remove(last)
            aliases.append(Alias(nickname, full, is_person=True))
    return joined, aliases


def aliases_in(text: str, start: int, names: Sequence[Name]) -> Iterator[Alias]:
    """Yield what a sentence, which begins at ``start`` of the text, says to be another name of one of its ``names``."""
    plain = [name for name in names if _is_plain(name)]
    for name, other in pairwise(plain):
        between = text[name.span.end : other.span.start]
        if not between or len(between) > _MOST_CHARS:
            continue
        if known := _KNOWN_AS.fullmatch(between):
            yield Alias(other, name, is_person=known["person"] is not None)
        elif _SHORT_FOR.fullmatch(between):
            yield Alias(name, other, is_person=False)
        elif _OR.fullmatch(between) and _FOR_SHORT.match(text, other.span.end):
            yield Alias(other, name, is_person=False)
    for name in plain:
        if _CALLS_ME.search(text[max(start, name.span.start - _MOST_CHARS) : name.span.start]):
            yield Alias(name, None, is_person=True)


def _is_plain(name: Name) -> bool:
    return name.kind is NameKind.NAME and _WORDS.fullmatch(name.text) is not None
