"""Final order by an optional re-ranker: a model that reads the question together with each text."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from vicw_retrieval.ranking.fusion import Candidate
from vicw_shared.errors import VicwError
from vicw_shared.ports import GraphStore, Reranker, Scope

_log = structlog.get_logger()
RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Reranked:
    """The re-ranker's scores of items, by uid, on its own scale, and their ranks ``before``, from 1."""

    in_time: bool
    scores: Mapping[str, float] = field(default_factory=dict)
    before: Mapping[str, int] = field(default_factory=dict)


async def rerank(
    reranker: Reranker,
    graph: GraphStore,
    scope: Scope,
    query: str,
    candidates: Sequence[Candidate],
    *,
    top: int,
    seconds: float,
) -> tuple[Sequence[Candidate], Reranked]:
    """Return the candidates, the first ``top`` in the order of the model's scores, and these scores.

    Each is judged by its best passage; one without a readable passage keeps its place. The first candidates' scores are
    dealt out anew among them, so that they stay comparable with the others'. Ties keep their order; so does everything
    if the model fails or is late.
    """
    try:
        async with asyncio.timeout(seconds):
            passages = [candidate.passages[0][0] for candidate in candidates[:top]]
            texts = await graph.texts(scope.tenant, passages)
            places = [at for at, passage in enumerate(passages) if texts.get(passage)]
            judged = await reranker.rerank(query, [texts[passages[at]] for at in places])
    except (VicwError, TimeoutError) as error:
        _log.warning("the re-ranker does not answer; the order stands as it was", error=str(error))
        return candidates, Reranked(in_time=False)
    readable = [candidates[at] for at in places]
    scores = {one.key: score for one, score in zip(readable, judged, strict=True)}
    before = {candidates[at].key: at + 1 for at in places}
    ordered = list(candidates)
    old_scores = [one.score for one in readable]
    for at, share, one in zip(places, old_scores, sorted(readable, key=lambda one: -scores[one.key]), strict=True):
        ordered[at] = one.raised(**{RERANK: share - one.score}) if share != one.score else one
    return ordered, Reranked(in_time=True, scores=scores, before=before)
