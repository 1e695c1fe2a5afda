"""Uncovered terms: the query terms that a statement lacks, weighted by rarity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vicw_retrieval.model.similarity import QuerySimilarity, rarest
from vicw_shared import sparse

SHARE = 0.25
"""Part of a passed-on score that depends on whether the receiver has the uncovered terms."""


class UncoveredTerms:
    """Weighs receivers by the uncovered terms of one question."""

    def __init__(self, similarity: QuerySimilarity) -> None:
        self._similarity = similarity

    async def cover_factor(
        self, sentences: Mapping[str, str], targets: Mapping[str, Sequence[str]]
    ) -> Callable[[str, str], float]:
        """Return the factor by which a target takes a sentence's score: 1 − SHARE to 1 + SHARE.

        ``targets`` are items with their passages. A target with all terms that the sentence lacks gets 1 + SHARE.
        """
        rarity = await rarest(self._similarity)
        terms_of = await self._terms_of(list(rarity), targets)
        missing = {
            uid: frozenset(rarity).difference(sparse.encode_query(text).indices) for uid, text in sentences.items()
        }
        totals = {uid: sum(rarity[term] for term in terms) for uid, terms in missing.items()}

        def factor(sentence: str, target: str) -> float:
            if not totals[sentence]:
                return 1 - SHARE
            covered = sum(rarity[term] for term in missing[sentence] & terms_of.get(target, frozenset()))
            return 1 - SHARE + 2 * SHARE * covered / totals[sentence]

        return factor

    async def _terms_of(self, terms: Sequence[int], targets: Mapping[str, Sequence[str]]) -> dict[str, frozenset[int]]:
        """Return which of the terms each target has."""
        owner = {passage: uid for uid, passages in targets.items() for passage in passages}
        has: dict[str, frozenset[int]] = {}
        for passage, passage_terms in (await self._similarity.words(list(owner), terms)).items():
            has[owner[passage]] = has.get(owner[passage], frozenset()) | passage_terms
        return has
