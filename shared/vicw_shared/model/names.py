"""Search terms of a named node: its name, its earlier names, and the words of a name like a person's.

A named node is an Entity or a Concept that is no item of a caller. Each engine has an index of the terms, updated with
its nodes. The same index has the titles of callers' knowledge items, as a kind of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain

from vicw_shared.model.core5 import Label, Node
from vicw_shared.model.triggers import phrase_of, spellings
from vicw_shared.text import fold_case

MAX_NAMESAKES = 20
"""Maximum nodes of one name that a look-up returns: a name with more is ambiguous anyway."""
NAME_PREFIX = 200
"""Minimum characters of a folded name that its sort order considers."""
UNCOUNTED = ("BELONGS_TO", "MERGED_INTO", "DISTINCT_FROM")
"""Edge types that degrees (``NameIndex.degrees``) do not count: they are no knowledge about a node."""
ATTRIBUTE = "attribute"
"""Subtype of the Concepts that group the claims on one attribute of an entity; lists by name leave them out."""
NAMED_LABELS = frozenset({Label.ENTITY, Label.CONCEPT})
_MAX_WORDS = 4
_INSIDE_WORDS = "-'’."
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")
_PARTICLES = frozenset("and da de del della der di do dos du la le of the van von".split())


class TermKind(IntEnum):
    """Kind of a term. The numbers are stored."""

    NAME = 0
    ALIAS = 1
    WORD = 2
    TITLE = 3


@dataclass(frozen=True, slots=True)
class Term:
    """An entry of the index of names; ``text`` is case-folded."""

    kind: TermKind
    text: str


def is_named_node(node: Node) -> bool:
    """Return whether a node is a live named node: an Entity or Concept that is no item."""
    return node.label in NAMED_LABELS and node.content_hash is None and node.retired_at is None


def is_titled_item(node: Node) -> bool:
    """Return whether a node is a live knowledge item with a caller's title."""
    return node.label is Label.ENTITY and node.content_hash is not None and node.retired_at is None and bool(node.title)


def title_terms(title: str) -> list[Term]:
    """Return the terms of an item's title: with and without its last bracket, and without accents.

    They are phrases: words in a row, with any separators.

    >>> [term.text for term in title_terms("Mercury (planet)")]
    ['mercury planet', 'mercury']
    """
    phrases = map(phrase_of, (title, _BRACKET.sub("", title)))
    return [Term(TermKind.TITLE, text) for text in dict.fromkeys(chain.from_iterable(map(spellings, phrases))) if text]


def terms_of(label: Label, name: str, aliases: Iterable[str] = ()) -> list[Term]:
    """Return the terms of a named node, its name first: each text at most once as a whole name and once as a word.

    Words come from an Entity's names of two to four words, all of letters: names of people, but also of places and
    firms. Particles ("of", "van") and single letters are left out.
    """
    wholes: dict[str, Term] = {}
    words: dict[str, Term] = {}
    for kind, spelling in ((TermKind.NAME, name), *((TermKind.ALIAS, alias) for alias in aliases)):
        folded = fold_case(spelling)
        wholes.setdefault(folded, Term(kind, folded))
        if label is Label.ENTITY:
            words |= {word: Term(TermKind.WORD, word) for word in _words(folded)}
    return [*wholes.values(), *words.values()]


def _words(folded: str) -> Iterator[str]:
    words = [word.strip(_INSIDE_WORDS) for word in folded.split()]
    if 2 <= len(words) <= _MAX_WORDS and all(_is_word(word) for word in words):
        yield from (word for word in words if len(word) > 1 and word not in _PARTICLES)


def _is_word(word: str) -> bool:
    return bool(word) and all(ch.isalpha() or ch in _INSIDE_WORDS for ch in word)
