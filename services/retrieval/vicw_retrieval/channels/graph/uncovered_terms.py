"""Uncovered terms: the query terms that a statement lacks, weighted by rarity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vicw_retrieval.model.similarity import QuerySimilarity, rarest
from vicw_shared import sparse

SHARE = 0.25
"""Part of a passed-on score that depends on whether the receiver has the uncovered terms."""


class UncoveredTerms:
    """Weighs receivers by the uncovered terms of one question."""

    def __init__(self, likeness: QuerySimilarity) -> None:
        self._likeness = likeness

    async def answered(
        self, sentences: Mapping[str, str], targets: Mapping[str, Sequence[str]]
    ) -> Callable[[str, str], float]:
        """Return the factor by which a target takes a sentence's score: 1 − SHARE to 1 + SHARE.

        ``targets`` are items with their passages. A target with all terms that the sentence lacks gets 1 + SHARE.
        """
        rarity = await rarest(self._likeness)
        has = await self._has(list(rarity), targets)
        left = {uid: frozenset(rarity).difference(sparse.encode_query(text).indices) for uid, text in sentences.items()}
        total = {uid: sum(rarity[term] for term in terms) for uid, terms in left.items()}

        def factor(sentence: str, target: str) -> float:
            if not total[sentence]:
                return 1 - SHARE
            found = sum(rarity[term] for term in left[sentence] & has.get(target, frozenset()))
            return 1 - SHARE + 2 * SHARE * found / total[sentence]

        return factor

    async def _has(self, terms: Sequence[int], targets: Mapping[str, Sequence[str]]) -> dict[str, frozenset[int]]:
        """Return which of the terms each target has."""
        owner = {passage: uid for uid, passages in targets.items() for passage in passages}
        has: dict[str, frozenset[int]] = {}
        for passage, found in (await self._likeness.words(list(owner), terms)).items():
            has[owner[passage]] = has.get(owner[passage], frozenset()) | found
        return has
