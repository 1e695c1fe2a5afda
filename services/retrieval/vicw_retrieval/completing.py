"""What only one vector channel found, or only a statement leads to, scored by all: then they judge the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np
import structlog
from numpy.typing import NDArray

from vicw_retrieval.candidates import GRAPH
from vicw_retrieval.channels.dense import Told, in_order, remains_of, weigh_light
from vicw_shared.errors import RetryableError
from vicw_shared.ports import GraphStore, ScoreQuery, SparseVector, VectorHit, VectorStore

_log = structlog.get_logger()
_VECTOR_CHANNELS = ("dense", "bm25")


class Scored(NamedTuple):
    """Each channel's own hits, best first, and the scores that it gives to what all of them found."""

    ranked: Mapping[str, Sequence[VectorHit]]
    scores: Mapping[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Completion:
    """Scores passages of one question: ``vector`` and ``terms`` are the question, ``told`` what its statements tell.

    It takes ``seconds`` at most.
    """

    vectors: VectorStore
    graph: GraphStore
    tenant: str
    vector: NDArray[np.float32]
    terms: SparseVector
    told: Told
    seconds: float

    async def complete(
        self, scores: Mapping[str, dict[str, float]], more: Iterable[str], light: Sequence[str] = ()
    ) -> list[str]:
        """Add to the ``scores`` of dense, and of bm25 if it was asked, what they lack: of each other, of ``more``, and
        of the passages that only statements lead to.

        Of ``light``, passages that have no vector most likely, what stands for it is read meanwhile. What the channels
        found stands, whatever happens here: return those that lack what could not be scored.
        """
        found = set().union(*scores.values(), more, self.told.best)
        lacking = {name: sorted(found - scores[name].keys()) for name in _VECTOR_CHANNELS if name in scores}
        if not any(lacking.values()):
            return []
        try:
            async with asyncio.timeout(self.seconds):
                got = await self._score(lacking, light)
        except Exception as error:
            if not isinstance(error, (RetryableError, TimeoutError)):
                _log.exception("what channels lack could not be scored", error=type(error).__name__)
            return [name for name, passages in lacking.items() if passages]
        for name in lacking:
            scores[name].update({uid: score for uid, score in got[name].items() if isfinite(score)})
        return [name for name in lacking if not all(map(isfinite, got[name].values()))]

    async def _score(
        self, lacking: Mapping[str, Sequence[str]], light: Sequence[str]
    ) -> dict[str, Mapping[str, float]]:
        """Return the scores of what each channel lacks. Raises what the engines raise."""
        asked = (
            ScoreQuery(ids=lacking["dense"], dense=self.vector),
            ScoreQuery(ids=lacking.get("bm25", ()), sparse=self.terms),
        )
        ahead = remains_of(self.graph, self.tenant, self.told, light)  # the question's memory has it then
        (cosines, lexical), _ = await asyncio.gather(self.vectors.score(asked), ahead)
        without = [uid for uid in lacking["dense"] if uid not in cosines]
        weighed = await weigh_light(self.vectors, self.graph, self.tenant, self.vector, self.told, without)
        return {
            "dense": {uid: self.told.weigh(uid, cosine) for uid, cosine in cosines.items()} | weighed,
            "bm25": lexical,
        }


async def score_all(
    found: Mapping[str, Sequence[VectorHit]], seeds: Sequence[VectorHit], completion: Completion | None
) -> tuple[Scored, list[str]]:
    """Return what channels and trigger phrases (``seeds``) found, scored by all; and the channels that lack some still.

    ``completion`` is None where there is no dense channel. What a statement leads to counts as found by that one.
    """
    scores = {name: {hit.id: hit.score for hit in hits} for name, hits in found.items()}
    brought = {hit.id: 0.0 for hit in seeds}  # whatever they score: they may not be indexed yet
    ranked = {**found, GRAPH: seeds} if seeds else dict(found)
    failed: list[str] = []
    if completion is not None:
        failed = await completion.complete(scores, brought)
        told = {uid: scores["dense"][uid] for uid in completion.told.best if uid in scores["dense"]}
        ranked["dense"] = in_order({hit.id: hit.score for hit in found["dense"]} | told)
    for channel in scores.values():
        channel.update(brought | channel)
    return Scored(ranked, scores), failed
