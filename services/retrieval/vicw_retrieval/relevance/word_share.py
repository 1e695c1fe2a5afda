"""Share of the question's words that the best passages have: what none of them speaks of, they hardly answer."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from vicw_retrieval.model.similarity import QuerySimilarity
from vicw_retrieval.ranking.fusion import Candidate, Wave

_PASSAGES = 10
_RAREST = 16
"""Words of the question that are looked for, at most."""


async def covered_share(wave: Wave, candidates: Sequence[Candidate], similarity: QuerySimilarity) -> float:
    """Return the share of a question's words that any of its ten best passages has, in [0, 1]; 0 without either.

    The rarest sixteen words count, each by the square of its IDF: "the" and "did" count next to nothing, and a word
    that nothing in the store has counts most. Only passages of ``candidates``, which the asker may see, are read.
    """
    words, strengths = wave.words, wave.strengths
    rarest = heapq.nlargest(_RAREST, words, key=lambda term: (words[term], term))
    seen = {passage for one in candidates for passage, _ in one.passages}
    best = heapq.nlargest(_PASSAGES, (uid for uid in strengths if uid in seen), key=strengths.__getitem__)
    whole = sum(words[term] ** 2 for term in rarest)
    if not best or not whole:
        return 0.0
    had = frozenset[int]().union(*(await similarity.words(best, rarest)).values())
    return sum(words[term] ** 2 for term in rarest if term in had) / whole
