"""Uncovered terms: the query terms that a statement lacks, weighted by rarity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vicw_retrieval.model.similarity import QuerySimilarity, rarest
from vicw_shared import sparse

SHARE = 0.25
"""How much of what is handed on depends on whether the receiver has the words that are left."""


class UncoveredTerms:
    """Judges by the words of one question."""

    def __init__(self, likeness: QuerySimilarity) -> None:
        self._likeness = likeness

    async def answered(
        self, sentences: Mapping[str, str], targets: Mapping[str, Sequence[str]]
    ) -> Callable[[str, str], float]:
        """Return how much of its share a target gets from a sentence: 1 − SHARE to 1 + SHARE.

        ``targets`` are items with their passages. 1 + SHARE is for the words that the sentence lacks, all of them.
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
        """Return which of the words each target has."""
        owner = {passage: uid for uid, passages in targets.items() for passage in passages}
        has: dict[str, frozenset[int]] = {}
        for passage, found in (await self._likeness.words(list(owner), terms)).items():
            has[owner[passage]] = has.get(owner[passage], frozenset()) | found
        return has
