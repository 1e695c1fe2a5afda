"""Conversion of candidates into results of the wire format, and the explanation of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from vicw_core.consolidation.consolidate import ids_of
from vicw_retrieval.channels.tags import TAGS
from vicw_retrieval.intent.domain import DomainDecision
from vicw_retrieval.model.candidates import GRAPH, Candidate, Wave, wire_score
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.refine.pipeline import RefinePipeline
from vicw_retrieval.synthesis.text import WrittenText
from vicw_retrieval.temporal.time_ranker import ResolvedTime
from vicw_shared.model import Node
from vicw_shared.ports import Scope
from vicw_shared.wire.explanation import (
    AppliedFilters,
    AskedEvent,
    AskedSpan,
    AskedTime,
    Explanation,
    GraphChannel,
    ProfileWeights,
    RerankedResult,
)
from vicw_shared.wire.retrieve import ChannelHit, Passage, Result, Via

_EXPLAINED_HITS = 50


def to_results(
    top: Sequence[Candidate],
    passages: Mapping[str, str],
    wave: Wave,
    around: Neighbourhood,
    fusion: str,
    same: Mapping[str, Node],
    parts: Mapping[str, Node],
) -> list[Result]:
    """Return the results in order, each with its best passage as text and where every channel ranked it.

    ``same`` are the nodes of near-duplicates, shown by the caller's ids; ``parts`` consolidated items as they were.
    """
    ids = {uid: node.source_id or uid for uid, node in same.items()}
    places = {
        name: {hit.id: (rank, hit.score) for rank, hit in enumerate(hits, start=1)}
        for name, hits in wave.ranked.items()
    }
    return [
        _result(rank, _with_wire_scores(candidate, fusion), parts.get(candidate.key), passages, places, around, ids)
        for rank, candidate in enumerate(top, start=1)
    ]


def _with_wire_scores(candidate: Candidate, fusion: str) -> Candidate:
    passages = [(passage, wire_score(score, fusion)) for passage, score in candidate.passages]
    return replace(candidate, score=wire_score(candidate.score, fusion), passages=passages)


def _result(
    rank: int,
    candidate: Candidate,
    part: Node | None,
    passages: Mapping[str, str],
    places: Mapping[str, Mapping[str, tuple[int, float]]],
    around: Neighbourhood,
    ids: Mapping[str, str],
) -> Result:
    texts = [(uid, score, passages[uid]) for uid, score in candidate.passages if uid in passages]
    item = part or around.nodes[candidate.item.uid]
    return Result(
        id=item.source_id,
        uid=item.uid,
        label=item.label,
        subtype=item.subtype,
        name=item.name,
        text=texts[0][2] if texts else "",
        passages=tuple(Passage(uid=uid, text=text, score=score) for uid, score, text in texts[1:]),
        score=candidate.score,
        rank=rank,
        context=item.context,
        domain=item.domain,
        speaker=item.speaker,
        timestamp=item.timestamp,
        flow_id=item.flow_id,
        flow_step=item.flow_step,
        tags=item.tags,
        source=item.source,
        metadata={} if item.is_macro else dict(item.metadata),
        sensitivity=item.sensitivity,
        kind=candidate.kind,
        duplicates=tuple(ids[uid] for uid in candidate.duplicates if uid in ids),
        channels=tuple(_channel_hits(candidate, places)),
        via=tuple(_via(candidate.item.uid, around)),
        sources=tuple(ids_of([item])) if item.is_macro else (),
        consolidated_into=candidate.item.uid if part is not None else None,
    )


def _channel_hits(candidate: Candidate, places: Mapping[str, Mapping[str, tuple[int, float]]]) -> list[ChannelHit]:
    """Return each channel that found the item, at the rank of its best passage there."""
    hits = []
    reach: dict[str, Any] = {"depth": 0} if candidate.reached is None else asdict(candidate.reached)
    for name, ranks in places.items():
        best = min((ranks[uid] for uid, _ in candidate.passages if uid in ranks), default=None)
        if best is not None:
            details = reach if name == GRAPH else {}
            hits.append(ChannelHit.model_validate({**details, "channel": name, "rank": best[0], "score": best[1]}))
    if candidate.reached is not None and all(hit.channel != GRAPH for hit in hits):
        hits.append(ChannelHit(channel=GRAPH, **reach))
    if candidate.tagged is not None:
        hits.append(ChannelHit(channel=TAGS, rank=candidate.tagged[0], score=candidate.tagged[1]))
    return hits


def _via(uid: str, around: Neighbourhood) -> list[Via]:
    touching = [edge for edge in around.edges.values() if uid in {edge.source, edge.target}]
    return [
        Via(type=e.type, direction="out", uid=e.target)
        if e.source == uid
        else Via(type=e.type, direction="in", uid=e.source)
        for e in sorted(touching, key=lambda e: (e.type, e.id))
    ]


def explain(
    refinement: RefinePipeline, decision: DomainDecision, wave: Wave, top: Sequence[Candidate], written: WrittenText
) -> Explanation:
    """Return how the answer was made: the channels' hits, the fusion, boosts, domains searched, what was cut."""
    settings, spreads = refinement.ports.settings, refinement.spreads
    weights = {name: wave.weights[name] for name in wave.scores}
    return Explanation(
        wrapped_query=refinement.search.wrapped_query,
        domains_searched=decision.domains,
        filters=_filters(refinement.search.scope, decision),
        profile=ProfileWeights(
            code=refinement.search.intent.code,
            long=refinement.search.intent.long,
            alpha=settings.alpha,
            graph_weight=settings.graph_weight,
            causal_bias=settings.causal_bias,
            recency_weight=settings.recency_weight,
            recency_days=settings.recency_days,
        ),
        fusion=f"{settings.fusion}: " + ", ".join(f"{name} {weight:g}" for name, weight in weights.items()),
        channels=_channels(refinement, wave),
        graph=GraphChannel(
            weight=settings.graph_weight,
            causal_bias=settings.causal_bias,
            limit_ms=settings.spread_ms,
            in_time=spreads.in_time,
            reached={name: len(reached.paths) for name, reached in spreads.all.items()},
            sub_graphs={part.value: count for part, count in spreads.reached().items()},
        ),
        time=_time(refinement.resolved_time),
        rerank=_rerank(refinement, top),
        boosts={candidate.key: dict(candidate.boosts) for candidate in top if candidate.boosts},
        cut=written.cut,
        shortened=written.shortened,
        lines_cut=dict(written.lines),
    )


def _channels(refinement: RefinePipeline, wave: Wave) -> dict[str, tuple[dict[str, Any], ...]]:
    """Return the passages of each channel, then the items of each spread and of the tags, best first."""
    by_channel = {name: [(hit.id, hit.score) for hit in hits] for name, hits in wave.ranked.items()}
    by_channel |= refinement.spreads.gained()
    if refinement.associates:
        by_channel[TAGS] = [(one.node.uid, one.score) for one in refinement.associates]
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


def _rerank(refinement: RefinePipeline, top: Sequence[Candidate]) -> dict[str, RerankedResult] | None:
    """Return the re-ranker's scores of the results; None: it was not asked, or did not answer."""
    reranked = refinement.reranked
    if reranked is None or not reranked.in_time:
        return None
    uids = [candidate.key for candidate in top if candidate.key in reranked.scores]
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
