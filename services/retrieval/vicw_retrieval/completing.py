"""What only one vector channel found, or only a statement leads to, scored by all: then they judge the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from vicw_retrieval.channels.dense import Told, remains_of, weigh_light
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

    async def complete(
        self, scores: Mapping[str, dict[str, float]], more: Iterable[str], *, seconds: float, light: Sequence[str] = ()
    ) -> bool:
        """Add to the ``scores`` of dense, and of bm25 if it was asked, what they lack: of each other, of ``more``, and
        of the passages that only statements lead to.

        Of ``light``, passages that have no vector most likely, what stands for it is read meanwhile. Return whether
        anything was lacking. Raises RetryableError and TimeoutError, before anything is added.
        """
        dense, lexical = scores["dense"], scores.get("bm25")
        found = set().union(*scores.values(), more, self.told.best)
        only_lexical = sorted(found - dense.keys())
        only_dense = sorted(found - lexical.keys()) if lexical is not None else []
        if not only_lexical and not only_dense:
            return False
        asked = ScoreQuery(ids=only_lexical, dense=self.vector), ScoreQuery(ids=only_dense, sparse=self.terms)
        async with asyncio.timeout(seconds):
            ahead = remains_of(self.graph, self.tenant, self.told, light)  # the question's memory has it then
            (cosines, more_lexical), _ = await asyncio.gather(self.vectors.score(asked), ahead)
            more_dense = {uid: self.told.weigh(uid, cosine) for uid, cosine in cosines.items()}
            without = [uid for uid in only_lexical if uid not in cosines]
            more_dense |= await weigh_light(self.vectors, self.graph, self.tenant, self.vector, self.told, without)
        dense.update({uid: score for uid, score in more_dense.items() if isfinite(score)})
        if lexical is not None:
            lexical.update({uid: score for uid, score in more_lexical.items() if isfinite(score)})
        return True
