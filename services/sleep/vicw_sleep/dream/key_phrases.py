"""Key phrases of a text: nouns with their adjectives, weighted by TF-IDF (Spärck Jones, 1972)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from vicw_core.index.sparse import encode_query
from vicw_core.language.analysis import Analyst, Sentence, Word
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
_PER_WORD = 0.2
"""Weight added per further word of a phrase: two words describe a text better than one."""
_COMMON_IDF = 0.5
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


def key_phrases(counts: Mapping[str, int], idf: Mapping[int, float]) -> list[KeyPhrase]:
    """Return the phrases of a text, the most certain first, from their counts and the ``idf`` of their terms.

    The weight is ``log(1 + n) · i · (1 + .2 (w - 1))`` for ``n`` occurrences, a mean IDF of ``i`` and ``w`` words; the
    certainty is the weight as a share of the highest, times ``i / (i + .5)``, which discounts common phrases.
    """
    weights: dict[str, tuple[float, float]] = {}
    for phrase, times in counts.items():
        terms = terms_of(phrase)
        if terms:
            rarity = sum(idf.get(term, 0.0) for term in terms) / len(terms)
            words = phrase.count(" ")
            weights[phrase] = math.log1p(times) * rarity * (1 + _PER_WORD * words), rarity
    max_weight = max((weight for weight, _ in weights.values()), default=0.0)
    if max_weight <= 0:
        return []
    phrases = [
        KeyPhrase(p, weight / max_weight * rarity / (rarity + _COMMON_IDF)) for p, (weight, rarity) in weights.items()
    ]
    return sorted(phrases, key=lambda phrase: (-phrase.certainty, phrase.text))


def _noun_phrases(words: Sequence[Word]) -> Iterator[str]:
    """Yield each run of nouns with the adjectives before it: of a longer one the last three words."""
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
