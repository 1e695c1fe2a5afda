"""Cross-scoring: dense and BM25 score each other's hits and those of statements, trigger phrases and summaries.

All candidates are then compared by the same scores.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

import numpy as np
import structlog
from numpy.typing import NDArray

from vicw_retrieval.channels.dense import (
    StatementScores,
    UnfoundStatements,
    estimate_scores,
    in_order,
    unfound_statements,
)
from vicw_retrieval.model.consolidated import proofs_of
from vicw_retrieval.ranking.fusion import GRAPH
from vicw_shared.errors import RetryableError
from vicw_shared.ports import GraphStore, ScoreQuery, SparseVector, VectorHit, VectorStore

_log = structlog.get_logger()
_VECTOR_CHANNELS = ("dense", "bm25")
_MAX_SUMMARIES = 20
"""Maximum summaries whose sources are scored: those most similar to the question, and the first in fused order."""


class Scored(NamedTuple):
    """Each channel's own hits, best first, and its scores of the hits of all channels.

    ``failed`` are the channels that lack scores, ``summaries`` the Macro-Events whose source passages were scored.
    """

    ranked: Mapping[str, Sequence[VectorHit]]
    scores: Mapping[str, dict[str, float]]
    failed: Sequence[str] = ()
    summaries: AbstractSet[str] = frozenset()


type _Scores = dict[str, dict[str, float]]


@dataclass(slots=True)
class CrossScorer:
    """Scores passages for one question, given by ``vector`` and ``terms``; ``statements`` are its statement scores.

    ``seconds`` returns the time left. The source passages of ``scored_summaries`` were scored.
    """

    vectors: VectorStore
    graph: GraphStore
    tenant: str
    vector: NDArray[np.float32]
    terms: SparseVector
    statements: StatementScores
    seconds: Callable[[], float]
    scored_summaries: set[str] = field(default_factory=set)

    async def complete(self, scores: Mapping[str, dict[str, float]], more: Iterable[str]) -> list[str]:
        """Add what the ``scores`` of dense, and of bm25 if it ran, lack.

        Scored are each other's hits, ``more``, passages of found statements, and source passages of found summaries.
        The channels' own scores stay in any case. Returns the channels that still lack scores.
        """
        passages = set().union(*scores.values(), more, self.statements.best)
        lacking = {name: sorted(passages - scores[name].keys()) for name in _VECTOR_CHANNELS if name in scores}
        if failed := await self._add(scores, lacking, lambda: self._score(lacking)):
            return failed
        without = [uid for uid in lacking["dense"] if uid not in scores["dense"]]
        owned = sorted(passages) if "bm25" in scores else ()
        sources: list[str] = []

        async def weigh() -> _Scores:
            unfound = await unfound_statements(self.graph, self.tenant, self.statements, without, beside=owned)
            summaries = _summaries(unfound, scores["dense"]) if owned else []
            estimates, found = await asyncio.gather(
                estimate_scores(self.vectors, self.vector, self.statements, without, unfound),
                self._sources_of(summaries, passages),
            )
            sources.extend(found)
            return {"dense": estimates}

        failed = await self._add(scores, {"dense": without}, weigh)
        return failed + await self._score_passages(scores, sources)

    async def score_sources(self, scores: Mapping[str, dict[str, float]], summaries: Sequence[str]) -> list[str]:
        """Add the scores of the source passages of the first of these Macro-Events, unless they were scored before.

        Each source is scored by itself. Returns the channels that still lack scores.
        """
        new = [uid for uid in summaries[:_MAX_SUMMARIES] if uid not in self.scored_summaries]
        return await self._score_passages(scores, await self._sources_of(new, set().union(*scores.values())))

    async def _sources_of(self, summaries: Sequence[str], known: AbstractSet[str]) -> list[str]:
        """Return the unknown source passages of Macro-Events; none if the graph does not answer."""
        try:
            sources = await proofs_of(self.graph, self.tenant, summaries, known)
        except (RetryableError, TimeoutError):
            return []
        self.scored_summaries.update(summaries)
        return sources

    async def _score_passages(self, scores: Mapping[str, dict[str, float]], passages: Sequence[str]) -> list[str]:
        lacking = dict.fromkeys(_VECTOR_CHANNELS, passages)

        async def score() -> _Scores:
            result, unfound = await asyncio.gather(
                self._score(lacking), unfound_statements(self.graph, self.tenant, self.statements, passages)
            )
            without = [uid for uid in passages if uid not in result["dense"]]
            result["dense"] |= await estimate_scores(self.vectors, self.vector, self.statements, without, unfound)
            return result

        return await self._add(scores, lacking, score)

    async def _score(self, lacking: Mapping[str, Sequence[str]]) -> _Scores:
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
                result = await score()
        except Exception as error:
            if not isinstance(error, (RetryableError, TimeoutError)):
                _log.exception("cross-scoring failed", error=type(error).__name__)
            return [name for name, passages in lacking.items() if passages]
        for name in lacking:
            scores[name].update({uid: score for uid, score in result[name].items() if isfinite(score)})
        return [name for name in lacking if not all(map(isfinite, result[name].values()))]


def _summaries(unfound: UnfoundStatements, cosines: Mapping[str, float]) -> list[str]:
    """Return the Macro-Events whose summaries are most similar to the question."""
    best: dict[str, float] = {}
    for passage, item in unfound.owners.items():
        if item.is_macro and item.part is None and passage in cosines:
            best[item.uid] = max(best.get(item.uid, -1.0), cosines[passage])
    return sorted(best, key=lambda uid: (-best[uid], uid))[:_MAX_SUMMARIES]


async def score_all(
    by_channel: Mapping[str, Sequence[VectorHit]], seeds: Sequence[VectorHit], scorer: CrossScorer | None
) -> Scored:
    """Return the hits of channels and trigger phrases (``seeds``), cross-scored.

    ``scorer`` is None without a dense channel. Passages of found statements count as found by dense.
    """
    scores = {name: {hit.id: hit.score for hit in hits} for name, hits in by_channel.items()}
    seed_scores = {hit.id: 0.0 for hit in seeds}  # 0 unless scored: they may not be indexed yet
    ranked = {**by_channel, GRAPH: seeds} if seeds else dict(by_channel)
    failed: list[str] = []
    if scorer is not None:
        failed = await scorer.complete(scores, seed_scores)
        statement_scores = {uid: scores["dense"][uid] for uid in scorer.statements.best if uid in scores["dense"]}
        ranked["dense"] = in_order({hit.id: hit.score for hit in by_channel["dense"]} | statement_scores)
    for channel in scores.values():
        channel.update(seed_scores | channel)
    return Scored(ranked, scores, failed, frozenset(scorer.scored_summaries) if scorer is not None else frozenset())
