"""Weights of a question's terms: their inverse document frequency (IDF) in what is searched.

The engines multiply them with the documents' weights (``sparse``), so that every store computes the same score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vicw_shared.ports import SparseVector, TermFrequencies

PRIOR = 50
"""Maximum number of the tenant's other passages, of average words, that are added to those of contexts."""


def idf(passages: float, having: float) -> float:
    """Return ln(1 + (N − n + ½) ÷ (n + ½)), > 0, as BM25 defines it (Robertson and Zaragoza, 2009).

    >>> idf(9, 2) == math.log(1 + 7.5 / 2.5)
    True
    """
    return math.log(1 + (passages - having + 0.5) / (having + 0.5))


def weighted(query: SparseVector, frequencies: TermFrequencies) -> SparseVector:
    """Return a query with its weights times the terms' IDF in what is searched, also of those that it lacks."""
    pairs = zip(query.indices, query.values, strict=True)
    return SparseVector(query.indices, tuple(value * _term_idf(term, frequencies, 1.0) for term, value in pairs))


def rarity(terms: Sequence[int], frequencies: TermFrequencies, *, most: float = 1.0) -> dict[int, float]:
    """Return the IDF of the terms that occur in what is searched.

    ``most`` is the largest share of passages that a term may count with: one half gives at least ln 2.
    """
    return {term: _term_idf(term, frequencies, most) for term in terms if frequencies.asked.counts.get(term)}


def _term_idf(term: int, frequencies: TermFrequencies, most: float) -> float:
    asked, tenant = frequencies.asked, frequencies.tenant
    passages, having = float(asked.passages), float(asked.counts.get(term, 0))
    if (others := tenant.passages - asked.passages) > 0:
        # A small context has the tenant's frequencies, a large one its own, and nothing in between jumps.
        added = min(PRIOR, others)
        passages += added
        having += added * (tenant.counts.get(term, 0) - asked.counts.get(term, 0)) / others
    return idf(passages, min(having, most * passages))
