"""Key phrases of a text: its noun phrases, weighted by TF-IDF (Spärck Jones, 1972)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from vicw_core.index.sparse import question_terms

_PER_WORD = 0.2
"""Weight added per further word of a phrase: two words describe a text better than one."""
_COMMON_IDF = 0.5
"""IDF at which a phrase is as likely generic as specific."""


@dataclass(frozen=True, slots=True)
class KeyPhrase:
    """A key phrase, folded; ``certainty`` in [0, 1) that it describes the text's topic."""

    text: str
    certainty: float


def terms_of(phrase: str) -> tuple[int, ...]:
    """Return the sparse encoder's terms of a phrase; () for question words alone."""
    return question_terms(phrase)


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
