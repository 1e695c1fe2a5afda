"""Weights of a question's terms: their inverse document frequency (IDF) in what is searched.

The engines multiply them with the documents' weights (``sparse``), so that every store computes the same score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from vicw_shared.ports import SparseVector, TermFrequencies

PRIOR = 50
"""Passages for which the tenant's frequencies stand in those of contexts: a small context has mostly the tenant's."""


def idf(passages: float, having: float) -> float:
    """Return ln(1 + (N − n + ½) ÷ (n + ½)), > 0, as BM25 defines it (Robertson and Zaragoza, 2009).

    >>> idf(9, 2) == math.log(1 + 7.5 / 2.5)
    True
    """
    return math.log(1 + (passages - having + 0.5) / (having + 0.5))


def term_idf(terms: tuple[int, ...], frequencies: TermFrequencies) -> dict[int, float]:
    """Return the IDF of each term: of the contexts asked, beside PRIOR passages with the tenant's shares."""
    asked, tenant = frequencies.asked, frequencies.tenant
    prior = PRIOR / tenant.passages if tenant.passages > asked.passages else 0.0
    size = asked.passages + prior * tenant.passages
    return {term: idf(size, asked.counts.get(term, 0) + prior * tenant.counts.get(term, 0)) for term in terms}


def weighted(query: SparseVector, weights: Mapping[int, float]) -> SparseVector:
    """Return a query with the weight of each of its terms."""
    return SparseVector(query.indices, tuple(weights[term] for term in query.indices))
