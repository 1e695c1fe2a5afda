"""Similarity of a text to the question and the query terms it contains: by vectors, or by words alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vicw_core.index import sparse
from vicw_shared.ports import GraphStore, ScoreQuery, SparseVector, VectorStore

_RAREST = 12
"""Maximum terms of a question that texts are searched for."""


class QuerySimilarity(Protocol):
    """Compares passages and statements, by uid, with one question. Its words are the sparse encoder's terms."""

    @property
    def is_known(self) -> bool:
        """Whether similarity can be measured."""
        ...

    async def similarities(self, uids: Sequence[str]) -> dict[str, float]:
        """Return the similarity of each to the question, at most 1; missing or unknown ones are left out."""
        ...

    @property
    def rarity(self) -> Mapping[int, float]:
        """The question's terms that occur in what is searched, with their inverse document frequency (> 0)."""
        ...

    async def words(self, uids: Sequence[str], terms: Sequence[int]) -> dict[str, frozenset[int]]:
        """Return which of these terms each passage has; passages without any are left out."""
        ...

    async def matching(self, uids: Sequence[str]) -> set[str]:
        """Return the passages that have any term of the question."""
        ...


def rarest(similarity: QuerySimilarity) -> dict[int, float]:
    """Return the rarest terms of the question that occur at all, twelve at most, with their IDF."""
    weights = similarity.rarity
    return {term: weights[term] for term in sorted(weights, key=lambda term: (-weights[term], term))[:_RAREST]}


class VectorSimilarity:
    """Similarity: cosine of dense vectors in [-1, 1]. Terms: sparse vectors. ``vector`` None: no model answered.

    ``terms`` are the question's, with any weights.
    """

    def __init__(
        self,
        vectors: VectorStore,
        vector: NDArray[np.float32] | None,
        terms: SparseVector,
        rarity: Mapping[int, float],
    ) -> None:
        self._vectors = vectors
        self._vector = vector
        self._terms = terms
        self.rarity = rarity

    @property
    def is_known(self) -> bool:
        """Whether there is a vector of the question."""
        return self._vector is not None

    async def similarities(self, uids: Sequence[str]) -> dict[str, float]:
        """Return the cosines."""
        if self._vector is None or not uids:
            return {}
        (cosines,) = await self._vectors.score([ScoreQuery(ids=list(uids), dense=self._vector)])
        return cosines

    async def words(self, uids: Sequence[str], terms: Sequence[int]) -> dict[str, frozenset[int]]:
        """Return the terms in the sparse vectors."""
        if not uids or not terms:
            return {}
        wanted = frozenset(terms)
        has = {uid: wanted & found for uid, found in (await self._vectors.terms(list(uids))).items()}
        return {uid: found for uid, found in has.items() if found}

    async def matching(self, uids: Sequence[str]) -> set[str]:
        """Return the passages with a score for all terms together."""
        if not uids or not self._terms.indices:
            return set()
        (scores,) = await self._vectors.score([ScoreQuery(ids=list(uids), sparse=self._terms)])
        return {uid for uid, score in scores.items() if score > 0}


class WordSimilarity:
    """Similarity by words alone: the share of the question's terms that a text has, weighted by rarity.

    It is in [0, 1] and reads the texts themselves, so callers compare a few hundred at most. Without a ``rarity`` all
    ``terms`` of the question count the same.
    """

    def __init__(
        self, graph: GraphStore, tenant: str, terms: Sequence[int], rarity: Mapping[int, float] | None
    ) -> None:
        self._graph = graph
        self._tenant = tenant
        self._terms = terms
        self.is_known = rarity is not None
        """Whether the rarity of words is known: most words of a question are in every text."""
        self.rarity = rarity if rarity is not None else dict.fromkeys(terms, 1.0)

    async def similarities(self, uids: Sequence[str]) -> dict[str, float]:
        """Return the shares."""
        rarity = self.rarity
        has = await self._terms_by_text(uids, rarity)
        whole = sum(rarity.values()) or 1.0
        return {uid: sum(rarity[term] for term in terms) / whole for uid, terms in has.items()}

    async def words(self, uids: Sequence[str], terms: Sequence[int]) -> dict[str, frozenset[int]]:
        """Return the terms in the texts."""
        return {
            uid: found for uid, found in (await self._terms_by_text(uids, dict.fromkeys(terms, 1.0))).items() if found
        }

    async def matching(self, uids: Sequence[str]) -> set[str]:
        """Return the passages whose text has any term."""
        return set(await self.words(uids, self._terms))

    async def _terms_by_text(self, uids: Sequence[str], terms: Mapping[int, float]) -> dict[str, frozenset[int]]:
        texts = await self._graph.texts(self._tenant, list(uids)) if uids and terms else {}
        wanted_terms = terms.keys()
        return {uid: frozenset(wanted_terms & set(sparse.document_terms(text))) for uid, text in texts.items()}
