"""Sparse encoder: BM25 as a vector, identical in every store, without a model to download.

A document's weight for a term is BM25's saturated term frequency (Robertson and Zaragoza, 2009). A query's weights are
multiplied by the terms' IDF in what is searched (``term_weights.py``), and the engine adds up the products. The average
length is a constant, so that no document changes another one's vector. Constants: docs/decisions/0003. Terms:
``words/analyser.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from vicw_core.index.words.analyser import analyse, analyse_query
from vicw_core.index.words.analyser import english_stems as stems
from vicw_shared.ports import SparseVector

__all__ = [
    "AVERAGE_TERMS",
    "K1",
    "VERSION",
    "B",
    "document_terms",
    "encode_document",
    "encode_query",
    "headed",
    "question_terms",
    "saturated",
    "stems",
]

VERSION = 3
"""Version of the words that a text has: of the terms of sparse vectors, their counts, and the full text of both stores.

Raise it with any change of them: existing stores are then converted while they serve (``index/conversion.py``).
"""
K1 = 1.2
B = 0.75
AVERAGE_TERMS = 60
FORM_WEIGHT = 0.5
"""Weight of an unstemmed form in a query, or of a stem in another language, beside 1 of the stem."""


def headed(head: str | None, text: str) -> str:
    """Return the text whose words a passage has: its title or speaker counts double, as names do in full text."""
    return f"{head}: {head}: {text}" if head else text


def encode_document(text: str) -> SparseVector:
    """Return the term weights of a document, each in (0, K1 + 1). ``text``: see ``headed``.

    Its length is the number of its words: unstemmed forms, and what is more than its words, make no text longer.
    """
    words = analyse(text)
    weights = saturated(Counter(words.terms), len(words.stems), AVERAGE_TERMS)
    return SparseVector(tuple(weights), tuple(weights.values()))


def saturated[T](counts: Mapping[T, int], words: int, average: float) -> dict[T, float]:
    """Return BM25's weight of each term, in (0, K1 + 1), by how often it occurs in a text of so many ``words``.

    ``average`` is the length of an average text.
    """
    length = B * words / average + 1 - B
    return {term: n * (K1 + 1) / (n + K1 * length) for term, n in counts.items()}


def encode_query(text: str) -> SparseVector:
    """Return the weight of each distinct term of a query; question words alone give an empty vector.

    A word weighs 1, by its stem. Its unstemmed form is asked for, too, unless the query is certainly English: a title
    may be analysed as of another language than the question. Few words do not show their language: then the stems that
    they have in other languages are asked for, too.
    """
    words = analyse_query(text)
    weights = dict.fromkeys([*words.stems, *words.wholes], 1.0)
    if not words.certain:
        weights |= {form: FORM_WEIGHT for form in words.forms if form not in weights}
    return SparseVector(tuple(weights), tuple(weights.values()))


def word_weights(weighted: SparseVector, query: SparseVector) -> dict[int, float]:
    """Return the IDF of each word of a query: of its stems, not of their forms in other languages.

    ``weighted`` is the ``query`` with its terms' IDF.
    """
    terms = zip(weighted.indices, weighted.values, query.values, strict=True)
    return {term: weight for term, weight, plain in terms if plain > FORM_WEIGHT}


def ceiling(words: Mapping[int, float]) -> float:
    """Return the score that a text with all ``words`` of a query (``word_weights``) comes near."""
    return (K1 + 1) * sum(words.values())


def question_terms(text: str) -> tuple[int, ...]:
    """Return the distinct terms of a text by its stems alone: what it is about, each word counted once."""
    words = analyse(text)
    return tuple(dict.fromkeys([*words.stems, *words.wholes]))


def document_terms(text: str) -> list[int]:
    """Return the terms of a document, with repeats: the words of its full text."""
    return analyse(text).terms
