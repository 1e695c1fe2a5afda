"""Similarity of a text to the question and the query terms it contains: by vectors, or by words alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vicw_shared import sparse
from vicw_shared.ports import GraphStore, ScoreQuery, SparseVector, VectorStore, WordIndex

_RAREST = 12
"""Words of a question that texts are looked through for."""


class QuerySimilarity(Protocol):
    """Compares passages and statements, by their uids, with one question. Its words are the sparse encoder's terms."""

    @property
    def is_known(self) -> bool:
        """Whether it can be told how like the question something is."""
        ...

    async def alike(self, uids: Sequence[str]) -> dict[str, float]:
        """Return how like the question each is, at most 1; what is not there, or not known, is left out."""
        ...

    async def rarity(self) -> dict[int, float]:
        """Return the words of the question that anything has, with their inverse document frequency (> 0)."""
        ...

    async def words(self, uids: Sequence[str], terms: Sequence[int]) -> dict[str, frozenset[int]]:
        """Return which of these words of the question each passage has; those that have none are left out."""
        ...

    async def speaking(self, uids: Sequence[str]) -> set[str]:
        """Return the passages that have any word of the question."""
        ...


async def rarest(likeness: QuerySimilarity) -> dict[int, float]:
    """Return the rarest words of the question that anything has, twelve at most, with their IDF."""
    weights = await likeness.rarity()
    return {term: weights[term] for term in sorted(weights, key=lambda term: (-weights[term], term))[:_RAREST]}


class VectorSimilarity:
    """By the cosine of dense vectors in [-1, 1], and by sparse ones' terms. ``vector`` None: no model answered."""

    def __init__(self, vectors: VectorStore, vector: NDArray[np.float32] | None, question: str) -> None:
        self._vectors = vectors
        self._vector = vector
        self._terms = sparse.encode_query(question)

    @property
    def is_known(self) -> bool:
        """Whether there is a vector of the question."""
        return self._vector is not None

    async def alike(self, uids: Sequence[str]) -> dict[str, float]:
        """Return the cosines."""
        if self._vector is None or not uids:
            return {}
        (cosines,) = await self._vectors.score([ScoreQuery(ids=list(uids), dense=self._vector)])
        return cosines

    async def rarity(self) -> dict[int, float]:
        """Return what the engine has."""
        terms = self._terms.indices
        found = zip(terms, await self._vectors.idf(terms), strict=True)
        return {term: idf for term, idf in found if idf > 0}

    async def words(self, uids: Sequence[str], terms: Sequence[int]) -> dict[str, frozenset[int]]:
        """Return the terms that score."""
        if not uids or not terms:
            return {}
        asked = [ScoreQuery(ids=list(uids), sparse=SparseVector((term,), (1.0,))) for term in terms]
        has: dict[str, set[int]] = {}
        for term, scores in zip(terms, await self._vectors.score(asked), strict=True):
            for uid, score in scores.items():
                if score > 0:
                    has.setdefault(uid, set()).add(term)
        return {uid: frozenset(found) for uid, found in has.items()}

    async def speaking(self, uids: Sequence[str]) -> set[str]:
        """Return what scores with all terms together."""
        if not uids or not self._terms.indices:
            return set()
        (scores,) = await self._vectors.score([ScoreQuery(ids=list(uids), sparse=self._terms)])
        return {uid for uid, score in scores.items() if score > 0}


class WordSimilarity:
    """By the question's words alone: a text is like it by the share that it has of them, weighed by their rarity.

    That is in [0, 1], and reads the texts themselves: a few hundred at most are asked for. ``index`` None: nothing
    knows how rare a word is, so that all count the same.
    """

    def __init__(self, graph: GraphStore, index: WordIndex | None, tenant: str, question: str) -> None:
        self._graph = graph
        self._index = index
        self._tenant = tenant
        self._stems = dict.fromkeys(sparse.stems(question))
        self._terms = sparse.encode_query(question).indices  # of the same stems, in the same order
        self._rarity: dict[int, float] | None = None

    @property
    def is_known(self) -> bool:
        """Whether it is known how rare words are: of a question most are in every text."""
        return self._index is not None

    async def alike(self, uids: Sequence[str]) -> dict[str, float]:
        """Return the shares."""
        rarity = await self.rarity()
        has = await self._having(uids, rarity)
        whole = sum(rarity.values()) or 1.0
        return {uid: sum(rarity[term] for term in terms) / whole for uid, terms in has.items()}

    async def rarity(self) -> dict[int, float]:
        """Return what the full-text index tells."""
        if self._index is None:
            return dict.fromkeys(self._terms, 1.0)
        if self._rarity is None:
            found = zip(self._terms, await self._index.rarity(list(self._stems)), strict=True)
            self._rarity = {term: idf for term, idf in found if idf > 0}
        return self._rarity

    async def words(self, uids: Sequence[str], terms: Sequence[int]) -> dict[str, frozenset[int]]:
        """Return the terms in the texts."""
        return {uid: found for uid, found in (await self._having(uids, dict.fromkeys(terms, 1.0))).items() if found}

    async def speaking(self, uids: Sequence[str]) -> set[str]:
        """Return those whose text has one."""
        return set(await self.words(uids, self._terms))

    async def _having(self, uids: Sequence[str], terms: Mapping[int, float]) -> dict[str, frozenset[int]]:
        texts = await self._graph.texts(self._tenant, list(uids)) if uids and terms else {}
        asked = terms.keys()
        return {uid: frozenset(asked & set(sparse.encode_query(text).indices)) for uid, text in texts.items()}
