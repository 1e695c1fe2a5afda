"""Explanation of an answer: the channels' hits, the fusion, boosts, domains searched, what was cut."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from vicw_retrieval.channels.tags import TAGS
from vicw_retrieval.intent.domain import DomainDecision
from vicw_retrieval.ranking.fusion import Candidate, Wave
from vicw_retrieval.refine.cross_encoder import Reranked
from vicw_retrieval.refine.pipeline import RefinedItems
from vicw_retrieval.relevance.judge import Relevance
from vicw_retrieval.search.first_wave import FoundItems
from vicw_retrieval.synthesis.text import WrittenText
from vicw_retrieval.temporal.time_ranker import ResolvedTime
from vicw_shared.ports import Scope
from vicw_shared.wire.explanation import (
    AppliedFilters,
    AskedEvent,
    AskedSpan,
    AskedTime,
    Explanation,
    GraphChannel,
    ProfileWeights,
    RelevanceSignals,
    RerankedResult,
)
from vicw_shared.wire.feedback import ResultFeedback

_EXPLAINED_HITS = 50


def explain(
    found: FoundItems,
    refined: RefinedItems,
    judged: Relevance,
    results: Sequence[Candidate],
    written: WrittenText,
    scope: Scope,
    bounded: Collection[str],
    feedback: Mapping[str, ResultFeedback],
) -> Explanation:
    """Return how the answer was made: the channels' hits, the fusion, boosts, domains searched, what was cut."""
    intent, wave, decision, spreads = found.intent, found.wave, found.decision, refined.spreads
    settings = intent.settings
    weights = {name: wave.weights[name] for name in wave.scores}
    return Explanation(
        wrapped_query=found.wrapped_query,
        domains_searched=decision.domains,
        filters=_filters(scope, decision),
        profile=ProfileWeights(
            code=intent.code,
            long=intent.long,
            alpha=settings.alpha,
            graph_weight=settings.graph_weight,
            causal_bias=settings.causal_bias,
            recency_weight=settings.recency_weight,
            recency_days=settings.recency_days,
        ),
        fusion=f"{settings.fusion}: " + ", ".join(f"{name} {weight:g}" for name, weight in weights.items()),
        channels=_channels(wave, refined),
        graph=GraphChannel(
            weight=settings.graph_weight,
            causal_bias=settings.causal_bias,
            limit_ms=settings.spread_ms,
            in_time=spreads.in_time,
            reached={name: len(reached.paths) for name, reached in spreads.all.items()},
            sub_graphs={part.value: count for part, count in spreads.reached().items()},
        ),
        time=_time(refined.time),
        relevance=RelevanceSignals(
            answer=dict(judged.signals),
            results={one.key: dict(judged.result_signals.get(one.key, {})) for one in results},
        ),
        rerank=_rerank(refined.reranked, results),
        boosts={candidate.key: dict(candidate.boosts) for candidate in results if candidate.boosts},
        bounded=tuple(sorted(bounded)),
        feedback=dict(feedback),
        cut=written.cut,
        shortened=written.shortened,
        lines_cut=dict(written.lines),
    )


def _channels(wave: Wave, refined: RefinedItems) -> dict[str, tuple[dict[str, Any], ...]]:
    """Return the passages of each channel, then the items of each spread and of the tags, best first."""
    by_channel = {name: [(hit.id, hit.score) for hit in hits] for name, hits in wave.ranked.items()}
    by_channel |= refined.spreads.gained()
    if refined.associates:
        by_channel[TAGS] = [(one.node.uid, one.score) for one in refined.associates]
    return {
        name: tuple(
            {"uid": uid, "rank": rank, "score": score} for rank, (uid, score) in enumerate(hits[:_EXPLAINED_HITS], 1)
        )
        for name, hits in by_channel.items()
    }


def _filters(scope: Scope, decision: DomainDecision) -> AppliedFilters:
    audience = scope.audience
    return AppliedFilters(
        contexts=scope.contexts,
        domains=decision.domains if decision.domains is not None else scope.domains,
        tags_any=scope.tags_any,
        tags_all=scope.tags_all,
        tags_none=scope.tags_none,
        as_of=scope.as_of,
        known_at=scope.known_at,
        judged_at=scope.judged_at,
        audience="everything" if audience is None else "viewer" if audience.private else "group",
    )


def _rerank(reranked: Reranked | None, results: Sequence[Candidate]) -> dict[str, RerankedResult] | None:
    """Return the re-ranker's scores of the results; None: it was not asked, or did not answer."""
    if reranked is None or not reranked.in_time:
        return None
    uids = [candidate.key for candidate in results if candidate.key in reranked.scores]
    return {uid: RerankedResult(score=reranked.scores[uid], rank_before=reranked.before[uid]) for uid in uids}


def _time(resolved: ResolvedTime | None) -> AskedTime | None:
    if resolved is None:
        return None
    spans = [
        AskedSpan(text=one.text, kind=one.kind.value, start=one.start, end=one.end, confidence=one.confidence)
        for one in resolved.reading.spans
    ]
    events = [
        AskedEvent(
            text=anchor.phrase,
            direction=anchor.direction.value,
            confidence=anchor.confidence,
            uid=resolved.events[anchor].uid if anchor in resolved.events else None,
        )
        for anchor in resolved.reading.event_references
    ]
    return AskedTime(spans=tuple(spans), events=tuple(events), only=resolved.only, in_time=resolved.in_time)
