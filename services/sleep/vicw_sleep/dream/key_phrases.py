"""Key phrases of a text: nouns with their adjectives, weighted by TF-IDF (Spärck Jones, 1972)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from vicw_shared.language.analysis import Analyst, Sentence, Word
from vicw_shared.sparse import encode_query
from vicw_shared.text import fold_case

_MOST_WORDS = 3
_MOST_CHARS = 40
_EMPTY = frozenset(
    "able bad best better big certain different few first former full further good great last latter little long many "
    "more most much new next nice old only other own real recent same several short small such sure whole".split()
)
"""Adjectives that do not characterise a thing."""
_NAMING = frozenset({"NOUN", "PROPN"})
_PLAIN = re.compile(r"[^\W\d_][^\W_]+(?:[-'’][^\W_]+)*")
"""A word allowed in a tag: three letters at least, no address, no number."""
_FEWEST_CHARS = 3
_PER_WORD = 0.2
"""Weight added per further word of a phrase: two words describe a text better than one."""
_COMMON = 0.5
"""IDF at which a phrase is as likely generic as specific."""


@dataclass(frozen=True, slots=True)
class KeyPhrase:
    """A key phrase, folded; ``certainty`` in [0, 1) that it describes the text's topic."""

    text: str
    certainty: float


@cache
def analyst() -> Analyst:
    """Return the analyst of this process: its model takes some megabytes, and a while to load."""
    return Analyst()


def candidates(sentences: Sequence[Sentence]) -> Counter[str]:
    """Count the candidate phrases of a text."""
    return Counter(phrase for sentence in sentences for phrase in _noun_phrases(sentence.words))


def terms_of(phrase: str) -> tuple[int, ...]:
    """Return the sparse encoder's terms of a phrase; () for question words alone."""
    return encode_query(phrase).indices


def key_phrases(said: Mapping[str, int], idf: Mapping[int, float]) -> list[KeyPhrase]:
    """Return the phrases of a text, the most certain first, from their counts and the ``idf`` of their terms.

    The weight is ``log(1 + n) · i · (1 + .2 (w - 1))`` for ``n`` occurrences, a mean IDF of ``i`` and ``w`` words; the
    certainty is the weight as a share of the highest, times ``i / (i + .5)``, which discounts common phrases.
    """
    weighed: dict[str, tuple[float, float]] = {}
    for phrase, times in said.items():
        terms = terms_of(phrase)
        if terms:
            rarity = sum(idf.get(term, 0.0) for term in terms) / len(terms)
            words = phrase.count(" ")
            weighed[phrase] = math.log1p(times) * rarity * (1 + _PER_WORD * words), rarity
    most = max((weight for weight, _ in weighed.values()), default=0.0)
    if most <= 0:
        return []
    found = [KeyPhrase(p, weight / most * rarity / (rarity + _COMMON)) for p, (weight, rarity) in weighed.items()]
    return sorted(found, key=lambda phrase: (-phrase.certainty, phrase.text))


def _noun_phrases(words: Sequence[Word]) -> Iterator[str]:
    """Yield each run of nouns with the adjectives before it: of a longer one the last three words."""
    run: list[Word] = []
    for word in (*words, None):
        named = bool(run) and run[-1].tag in _NAMING
        if named and (word is None or word.tag not in _NAMING or not _PLAIN.fullmatch(word.text)):
            phrase = fold_case(" ".join(one.text for one in run[-_MOST_WORDS:]))
            if _FEWEST_CHARS <= len(phrase) <= _MOST_CHARS:
                yield phrase
            run = []
        if word is not None and _stands(word):
            run.append(word)
        else:
            run = []


def _stands(word: Word) -> bool:
    """Return whether a word may be part of a phrase."""
    telling = word.tag in _NAMING or (word.tag == "ADJ" and word.lower not in _EMPTY)
    return telling and _PLAIN.fullmatch(word.text) is not None
