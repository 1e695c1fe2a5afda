"""Cross-scoring: dense and BM25 score each other's hits and those of statements, trigger phrases and summaries.

All candidates are then compared by the same scores.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

import numpy as np
import structlog
from numpy.typing import NDArray

from vicw_retrieval.channels.dense import (
    StatementScores,
    UnfoundStatements,
    in_order,
    unconsumed_statements,
    weigh_light,
)
from vicw_retrieval.model.candidates import GRAPH
from vicw_retrieval.model.consolidated import proofs_of
from vicw_shared.errors import RetryableError
from vicw_shared.ports import GraphStore, ScoreQuery, SparseVector, VectorHit, VectorStore

_log = structlog.get_logger()
_VECTOR_CHANNELS = ("dense", "bm25")
_HANDING = 20
"""Maximum summaries whose sources are scored: those most similar to the question, and the first in fused order."""


class Scored(NamedTuple):
    """Each channel's own hits, best first, and its scores of the hits of all channels."""

    ranked: Mapping[str, Sequence[VectorHit]]
    scores: Mapping[str, dict[str, float]]


type _Scores = dict[str, dict[str, float]]


@dataclass(slots=True)
class CrossScorer:
    """Scores passages for one question, given by ``vector`` and ``terms``; ``statements`` are its statement scores.

    ``seconds`` returns the time left. ``handed`` are the Macro-Events whose source passages were scored.
    """

    vectors: VectorStore
    graph: GraphStore
    tenant: str
    vector: NDArray[np.float32]
    terms: SparseVector
    statements: StatementScores
    seconds: Callable[[], float]
    handed: set[str] = field(default_factory=set)

    async def complete(self, scores: Mapping[str, dict[str, float]], more: Iterable[str]) -> list[str]:
        """Add what the ``scores`` of dense, and of bm25 if it ran, lack.

        Scored are each other's hits, ``more``, passages of found statements, and source passages of found summaries.
        The channels' own scores stay in any case. Returns the channels that still lack scores.
        """
        found = set().union(*scores.values(), more, self.statements.best)
        lacking = {name: sorted(found - scores[name].keys()) for name in _VECTOR_CHANNELS if name in scores}
        if failed := await self._add(scores, lacking, lambda: self._ask(lacking)):
            return failed
        without = [uid for uid in lacking["dense"] if uid not in scores["dense"]]
        beside = sorted(found) if "bm25" in scores else ()
        proofs: list[str] = []

        async def weigh() -> _Scores:
            remains = await unconsumed_statements(self.graph, self.tenant, self.statements, without, beside=beside)
            summaries = _summaries(remains, scores["dense"]) if beside else []
            weighed, led = await asyncio.gather(
                weigh_light(self.vectors, self.vector, self.statements, without, remains),
                self._sources_of(summaries, found),
            )
            proofs.extend(led)
            return {"dense": weighed}

        failed = await self._add(scores, {"dense": without}, weigh)
        return failed + await self._score_proofs(scores, proofs)

    async def score_sources(self, scores: Mapping[str, dict[str, float]], summaries: Sequence[str]) -> list[str]:
        """Add the scores of the source passages of the first of these Macro-Events, unless they were scored before.

        Each source is scored by itself. Returns the channels that still lack scores.
        """
        new = [uid for uid in summaries[:_HANDING] if uid not in self.handed]
        return await self._score_proofs(scores, await self._sources_of(new, set().union(*scores.values())))

    async def _sources_of(self, summaries: Sequence[str], known: Set[str]) -> list[str]:
        """Return the unknown source passages of Macro-Events; none if the graph does not answer."""
        try:
            proofs = await proofs_of(self.graph, self.tenant, summaries, known)
        except (RetryableError, TimeoutError):
            return []
        self.handed.update(summaries)
        return proofs

    async def _score_proofs(self, scores: Mapping[str, dict[str, float]], proofs: Sequence[str]) -> list[str]:
        lacking = dict.fromkeys(_VECTOR_CHANNELS, proofs)

        async def score() -> _Scores:
            got, remains = await asyncio.gather(
                self._ask(lacking), unconsumed_statements(self.graph, self.tenant, self.statements, proofs)
            )
            without = [uid for uid in proofs if uid not in got["dense"]]
            got["dense"] |= await weigh_light(self.vectors, self.vector, self.statements, without, remains)
            return got

        return await self._add(scores, lacking, score)

    async def _ask(self, lacking: Mapping[str, Sequence[str]]) -> _Scores:
        """Return the engine's scores of the passages that each channel lacks, statements included."""
        cosines, lexical = await self.vectors.score(
            [
                ScoreQuery(ids=lacking["dense"], dense=self.vector),
                ScoreQuery(ids=lacking.get("bm25", ()), sparse=self.terms),
            ]
        )
        return {"dense": {uid: self.statements.weigh(uid, cosine) for uid, cosine in cosines.items()}, "bm25": lexical}

    async def _add(
        self,
        scores: Mapping[str, dict[str, float]],
        lacking: Mapping[str, Sequence[str]],
        score: Callable[[], Awaitable[_Scores]],
    ) -> list[str]:
        """Add the results of ``score`` to ``scores``; return the channels that still lack some."""
        if not any(lacking.values()):
            return []
        try:
            async with asyncio.timeout(self.seconds()):
                got = await score()
        except Exception as error:
            if not isinstance(error, (RetryableError, TimeoutError)):
                _log.exception("what channels lack could not be scored", error=type(error).__name__)
            return [name for name, passages in lacking.items() if passages]
        for name in lacking:
            scores[name].update({uid: score for uid, score in got[name].items() if isfinite(score)})
        return [name for name in lacking if not all(map(isfinite, got[name].values()))]


def _summaries(remains: UnfoundStatements, cosines: Mapping[str, float]) -> list[str]:
    """Return the Macro-Events whose summaries are most similar to the question."""
    best: dict[str, float] = {}
    for passage, item in remains.owners.items():
        if item.is_macro and item.part is None and passage in cosines:
            best[item.uid] = max(best.get(item.uid, -1.0), cosines[passage])
    return sorted(best, key=lambda uid: (-best[uid], uid))[:_HANDING]


async def score_all(
    found: Mapping[str, Sequence[VectorHit]], seeds: Sequence[VectorHit], completion: CrossScorer | None
) -> tuple[Scored, list[str]]:
    """Return the hits of channels and trigger phrases (``seeds``), cross-scored; and the channels that lack scores.

    ``completion`` is None without a dense channel. Passages of found statements count as found by dense.
    """
    scores = {name: {hit.id: hit.score for hit in hits} for name, hits in found.items()}
    brought = {hit.id: 0.0 for hit in seeds}  # 0 unless scored: they may not be indexed yet
    ranked = {**found, GRAPH: seeds} if seeds else dict(found)
    failed: list[str] = []
    if completion is not None:
        failed = await completion.complete(scores, brought)
        told = {uid: scores["dense"][uid] for uid in completion.statements.best if uid in scores["dense"]}
        ranked["dense"] = in_order({hit.id: hit.score for hit in found["dense"]} | told)
    for channel in scores.values():
        channel.update(brought | channel)
    return Scored(ranked, scores), failed
