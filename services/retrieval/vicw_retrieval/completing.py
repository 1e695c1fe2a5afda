"""What only one of the vector channels found, scored by the other, too: then both judge the same passages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from vicw_retrieval.channels.dense import Told, weigh_light
from vicw_shared.ports import GraphStore, ScoreQuery, SparseVector, VectorStore


@dataclass(frozen=True, slots=True)
class Completion:
    """Scores passages of one question: ``vector`` and ``terms`` are the question, ``told`` what its statements tell."""

    vectors: VectorStore
    graph: GraphStore
    tenant: str
    vector: NDArray[np.float32]
    terms: SparseVector
    told: Told

    async def complete(self, scores: Mapping[str, dict[str, float]], more: Iterable[str], *, seconds: float) -> bool:
        """Add to the ``scores`` of dense and bm25 what either lacks of them both and of ``more``.

        Return whether anything was lacking. Raises RetryableError and TimeoutError, before anything is added.
        """
        dense, lexical = scores["dense"], scores["bm25"]
        found = set().union(dense, lexical, *scores.values(), more)
        only_lexical, only_dense = sorted(found - dense.keys()), sorted(found - lexical.keys())
        if not only_lexical and not only_dense:
            return False
        asked = ScoreQuery(ids=only_lexical, dense=self.vector), ScoreQuery(ids=only_dense, sparse=self.terms)
        async with asyncio.timeout(seconds):
            cosines, more_lexical = await self.vectors.score(asked)
            more_dense = {uid: self.told.weigh(uid, cosine) for uid, cosine in cosines.items()}
            light = [uid for uid in only_lexical if uid not in cosines]
            more_dense |= await weigh_light(self.vectors, self.graph, self.tenant, self.vector, light)
        dense.update({uid: score for uid, score in more_dense.items() if isfinite(score)})
        lexical.update({uid: score for uid, score in more_lexical.items() if isfinite(score)})
        return True
