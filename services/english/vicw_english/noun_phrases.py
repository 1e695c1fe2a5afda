"""Noun phrases: nouns with their adjectives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vicw_english.tagging.analysis import Word
from vicw_shared.text import fold_case

_MAX_WORDS = 3
_MAX_CHARS = 40
_GENERIC_ADJECTIVES = frozenset(
    "able bad best better big certain different few first former full further good great last latter little long many "
    "more most much new next nice old only other own real recent same several short small such sure whole".split()
)
"""Adjectives that do not characterise an entity."""
_NOUN_TAGS = frozenset({"NOUN", "PROPN"})
_TAG_WORD = re.compile(r"[^\W\d_][^\W_]+(?:[-'’][^\W_]+)*")
"""A word allowed in a tag: three letters at least, no address, no number."""
_MIN_CHARS = 3


def phrases_in(words: Sequence[Word]) -> Iterator[str]:
    """Yield each run of nouns with the adjectives before it, folded: of a longer one the last three words."""
    run: list[Word] = []
    for word in (*words, None):
        ends_in_noun = bool(run) and run[-1].tag in _NOUN_TAGS
        if ends_in_noun and (word is None or word.tag not in _NOUN_TAGS or not _TAG_WORD.fullmatch(word.text)):
            phrase = fold_case(" ".join(one.text for one in run[-_MAX_WORDS:]))
            if _MIN_CHARS <= len(phrase) <= _MAX_CHARS:
                yield phrase
            run = []
        if word is not None and _may_be_in_phrase(word):
            run.append(word)
        else:
            run = []


def _may_be_in_phrase(word: Word) -> bool:
    """Return whether a word may be part of a phrase."""
    is_specific = word.tag in _NOUN_TAGS or (word.tag == "ADJ" and word.lower not in _GENERIC_ADJECTIVES)
    return is_specific and _TAG_WORD.fullmatch(word.text) is not None
