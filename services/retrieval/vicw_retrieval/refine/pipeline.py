"""Second wave: extends the hits of the first through the graph, time and tags.

Each stage takes candidates and returns them in a new order. It has a budget and fails alone: the order then stays as it
was, and ``degraded`` names the stage. A request that names channels uses only these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from vicw_retrieval.channels import tags
from vicw_retrieval.channels.graph.channel import SpreadResults, run_spreads
from vicw_retrieval.channels.graph.spread import Anchor, SpreadContext, by_item
from vicw_retrieval.intent.history import asks_for_beginning, is_in_past_tense
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.profile.question import asks_for_profile
from vicw_retrieval.profile.service import PROFILE, put_profile_first
from vicw_retrieval.ranking.domain_groups import choose_apart, in_groups
from vicw_retrieval.ranking.fusion import GRAPH, Candidate, Wave, choose, not_shown
from vicw_retrieval.refine.asker_boost import asker_names, is_about_asker, prefer_asker
from vicw_retrieval.refine.cross_encoder import RERANK, Reranked, rerank
from vicw_retrieval.refine.current_first import CURRENT, prefer_current
from vicw_retrieval.refine.importance import keep_important, prefer_important
from vicw_retrieval.refine.later_first import LATER, InTime, StatementPair, TimeWanted, prefer_later
from vicw_retrieval.refine.near_duplicates import cover, merge_duplicates, read_texts
from vicw_retrieval.refine.recency import RECENT, prefer_recent
from vicw_retrieval.refine.speaker_boost import prefer_speaker
from vicw_retrieval.refine.system_texts import asks_for_system_texts, people_first, system_keys
from vicw_retrieval.request.hop_limit import HopLimit
from vicw_retrieval.request.stages import StageRun
from vicw_retrieval.search.first_wave import FoundItems
from vicw_retrieval.temporal.event_items import Find
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis
from vicw_retrieval.temporal.time_ranker import ResolvedTime, rank_by_time
from vicw_shared.ports import Scope
from vicw_shared.text import fold_case
from vicw_shared.wire.retrieve import RetrieveRequest

NEAR_DUPLICATES = "near_duplicates"
SYSTEM_TEXTS = "system_texts"
TIME = "time"
_READ_FACTOR = 2


@dataclass(frozen=True, slots=True)
class RefinedItems:
    """The results of a question, and ``associates`` that share a tag with them.

    ``spreads``, ``time`` and ``reranked`` explain the order; the last two are None where they had no part in it.
    ``is_profile``: they are what the asker told of themself, topic by topic.
    ``pairs`` are statements of the same of which the later came first, or takes the other back.
    """

    top: Sequence[Candidate]
    associates: Sequence[tags.Associate] = ()
    spreads: SpreadResults = field(default_factory=SpreadResults)
    time: ResolvedTime | None = None
    reranked: Reranked | None = None
    is_profile: bool = False
    pairs: Sequence[StatementPair] = ()


async def refine(
    request: RetrieveRequest,
    scope: Scope,
    found: FoundItems,
    time: TimeAnalysis,
    ports: RetrievalPorts,
    stages: StageRun,
) -> RefinedItems:
    """Return the results: the best candidates after all stages, at most as many as asked for."""
    question = _question(request, scope, found, ports, stages)
    ports, limit, apart = replace(ports, settings=found.intent.settings), request.limit, found.decision.apart
    if request.channels is not None:
        merged = await _merge(question, found.candidates, limit, 0.0, ports, stages)
        return RefinedItems(in_groups(_choose(merged, found.wave, apart, limit), apart))
    settings = ports.settings
    candidates, spreads, resolved = await _extend(question, found, time, limit, ports, stages)
    coverage = settings.coverage * (1 - found.intent.code)
    candidates = await _merge(question, candidates, limit, coverage, ports, stages)
    candidates, reranked = await _rerank(question, candidates, ports, stages)
    candidates = await _people_first(question, candidates, limit, ports, stages)
    candidates = prefer_important(candidates, settings.importance_weight)
    if settings.profile and asks_for_profile(request.query):
        candidates = await _put_profile_first(question, candidates, limit, ports, stages)
    is_profile = any(PROFILE in one.boosts for one in candidates)
    in_time = await _order_in_time(question, candidates, time, limit, ports, stages, is_profile=is_profile)
    ordered = not_shown(scope, in_time.candidates)  # what holds now is added, shown or not
    if settings.importance_weight and not is_profile:
        ordered = keep_important(ordered, limit)
    shares = {} if is_profile else apart
    top = _choose(ordered, found.wave, shares, limit)
    associates: Sequence[tags.Associate] = ()
    if settings.associates and request.expand.hops > 0:
        associates = await _walk_tags(question, top, ports, stages)
    top = tags.add_associates(top, associates, limit)
    return RefinedItems(in_groups(top, shares), associates, spreads, resolved, reranked, is_profile, in_time.pairs)


def _choose(ordered: Sequence[Candidate], wave: Wave, shares: Mapping[str, float], limit: int) -> Sequence[Candidate]:
    """Return the best, of each domain of ``shares`` by itself: one ranking would mix what shares nothing but a word."""
    return choose_apart(ordered, wave, shares, limit) if shares else choose(ordered, wave, limit)


async def _extend(
    question: SpreadContext,
    found: FoundItems,
    time: TimeAnalysis,
    limit: int,
    ports: RetrievalPorts,
    stages: StageRun,
) -> tuple[Sequence[Candidate], SpreadResults, ResolvedTime | None]:
    """Spread through the graph, and add and raise what is of the question's time, and what is recent."""
    candidates, spreads, resolved = found.candidates, SpreadResults(), None
    if candidates:
        candidates, spreads = await _spread(question, candidates, ports, stages)
    if time:  # adds items of that time, too
        resolved = ResolvedTime(time, limit)
        candidates, resolved = await _rank_by_time(question, candidates, resolved, found.find_phrase, ports, stages)
    if ports.settings.recency_weight:
        with stages.isolate(RECENT):
            candidates = prefer_recent(candidates, ports.settings)
    return not_shown(question.scope, candidates), spreads, resolved


async def _order_in_time(
    question: SpreadContext,
    candidates: Sequence[Candidate],
    time: TimeAnalysis,
    limit: int,
    ports: RetrievalPorts,
    stages: StageRun,
    *,
    is_profile: bool,
) -> InTime:
    """Rank what holds before what was replaced, and later statements before earlier ones. Last: no model knows it."""
    scope, settings = question.scope, ports.settings
    asks_now = not (time.is_over(scope.judged_at) or scope.with_past)
    if settings.current_first and candidates and asks_now:
        candidates = await _prefer_current(question, candidates, ports, stages)
    if not settings.later_first or is_profile or len(candidates) < 2:
        return InTime(candidates)
    wanted = _wanted(question.text, time, settings.later_first, asks_now and not scope.travels)
    return await _prefer_later(question, candidates, wanted, limit, ports, stages)


def _question(
    request: RetrieveRequest, scope: Scope, found: FoundItems, ports: RetrievalPorts, stages: StageRun
) -> SpreadContext:
    viewer, candidates = request.viewer, found.candidates
    names = (viewer.user, *viewer.participants) if viewer is not None else ()
    seeded = {hit.id for hit in found.wave.ranked.get(GRAPH, ())}
    return SpreadContext(
        ports.graph,
        found.similarity,
        replace(scope, domains=found.decision.domains),
        request.query,
        {candidate.key: candidate.strength for candidate in candidates},
        HopLimit(ports.settings.hop_edges, stages.bounded),
        tuple(dict.fromkeys(fold_case(name) for name in names if name)),
        {c.item.uid: passage for c in candidates for passage, _ in c.passages if passage in seeded},
    )


def _clocked(stage: str, ports: RetrievalPorts, stages: StageRun) -> AbstractContextManager[float]:
    """Run a stage under the emergency clock; its bounds in counts end it long before."""
    return stages.spread(stage, ports.deadline, ports.settings.spread_ms)


async def _spread(
    question: SpreadContext, candidates: Sequence[Candidate], ports: RetrievalPorts, stages: StageRun
) -> tuple[Sequence[Candidate], SpreadResults]:
    """Spread from the candidates through the graph."""
    settings, spreads = ports.settings, SpreadResults()
    with _clocked(GRAPH, ports, stages) as seconds:
        if settings.speaker_boost:
            candidates = prefer_speaker(question.text, candidates)
            if is_about_asker(question.text) and (names := await asker_names(question.graph, question.scope)):
                candidates = prefer_asker(candidates, names)
        async with asyncio.timeout(_READ_FACTOR * seconds):  # reached items are read when the clock has stopped
            candidates, spreads = await run_spreads(question, candidates, settings, ports.registry, seconds)
    if not spreads.in_time:
        stages.degraded.append(GRAPH)
    return candidates, spreads


async def _rank_by_time(
    question: SpreadContext,
    candidates: Sequence[Candidate],
    resolved: ResolvedTime,
    find: Find,
    ports: RetrievalPorts,
    stages: StageRun,
) -> tuple[Sequence[Candidate], ResolvedTime]:
    """Raise items of the question's time."""
    rescored = replace(question, strengths={candidate.key: candidate.strength for candidate in candidates})
    settings = ports.settings
    with _clocked(TIME, ports, stages) as seconds:
        async with asyncio.timeout(_READ_FACTOR * seconds):
            candidates, resolved = await rank_by_time(rescored, candidates, resolved, settings, find, seconds)
    if not resolved.in_time:
        stages.degraded.append(TIME)
    return candidates, resolved


async def _merge(
    question: SpreadContext,
    candidates: Sequence[Candidate],
    limit: int,
    share: float,
    ports: RetrievalPorts,
    stages: StageRun,
) -> Sequence[Candidate]:
    """Raise results that add to the others, and merge near-duplicates."""
    least = ports.settings.duplicate_share
    if not candidates or not (least or share):
        return candidates
    with stages.run(NEAR_DUPLICATES):
        async with asyncio.timeout(ports.deadline.extra_seconds(_READ_FACTOR * ports.settings.graph_ms)):
            texts = await read_texts(ports.graph, question.scope, candidates, limit)
            candidates = cover(question.similarity, texts, candidates, limit, share) if share else candidates
            return merge_duplicates(texts, candidates, least) if least else candidates
    return candidates


async def _people_first(
    question: SpreadContext, candidates: Sequence[Candidate], limit: int, ports: RetrievalPorts, stages: StageRun
) -> Sequence[Candidate]:
    """Rank system prompts and schemas of tools below what people said, unless the question asks for such."""
    if not ports.settings.system_below or not candidates or asks_for_system_texts(question.text):
        return candidates
    graph, scope = question.graph, question.scope
    with stages.run(SYSTEM_TEXTS):
        async with asyncio.timeout(ports.deadline.extra_seconds(_READ_FACTOR * ports.settings.graph_ms)):
            texts = await read_texts(graph, scope, candidates, limit)
            uids = [one.item.uid for one in candidates if one.key in texts]
            subtypes = {uid: node.subtype for uid, node in (await graph.nodes(scope.tenant, uids)).items()}
            system = system_keys(question.text, candidates, subtypes, texts)
            return people_first(candidates, system, limit)
    return candidates


async def _rerank(
    question: SpreadContext, candidates: Sequence[Candidate], ports: RetrievalPorts, stages: StageRun
) -> tuple[Sequence[Candidate], Reranked | None]:
    """Let the re-ranker, if there is one, order the first candidates; all of them are visible to the caller."""
    if ports.reranker is None or not ports.settings.rerank_top:
        return candidates, None
    with stages.timed(RERANK):
        candidates, reranked = await rerank(
            ports.reranker,
            ports.graph,
            question.scope,
            question.text,
            candidates,
            top=ports.settings.rerank_top,
            seconds=ports.deadline.extra_seconds(ports.settings.rerank_ms),
        )
    if not reranked.in_time:
        stages.degraded.append(RERANK)
    return candidates, reranked


async def _put_profile_first(
    question: SpreadContext, candidates: Sequence[Candidate], limit: int, ports: RetrievalPorts, stages: StageRun
) -> Sequence[Candidate]:
    """Put what the asker told of themself first."""
    with _clocked(PROFILE, ports, stages) as seconds:
        async with asyncio.timeout(seconds):
            return await put_profile_first(question, candidates, limit)
    return candidates


async def _prefer_current(
    question: SpreadContext, candidates: Sequence[Candidate], ports: RetrievalPorts, stages: StageRun
) -> Sequence[Candidate]:
    """Rank current statements before what they replaced, unless the question is about the past."""
    with _clocked(CURRENT, ports, stages) as seconds:
        async with asyncio.timeout(seconds):
            return await prefer_current(question, candidates)
    return candidates


def _wanted(query: str, time: TimeAnalysis, least: float, asks_now: bool) -> TimeWanted:
    """Return the order in time that a question wants of answers that are alike."""
    if asks_for_beginning(query):
        return TimeWanted(least, earliest=True, may_move=lambda at: all(s.start <= at < s.end for s in time.spans))
    return TimeWanted(least if asks_now and not time.order and not is_in_past_tense(query) else 0.0)


async def _prefer_later(
    question: SpreadContext,
    candidates: Sequence[Candidate],
    wanted: TimeWanted,
    limit: int,
    ports: RetrievalPorts,
    stages: StageRun,
) -> InTime:
    """Order statements that answer alike by their time."""
    with _clocked(LATER, ports, stages) as seconds:
        async with asyncio.timeout(seconds):
            return await prefer_later(question, candidates, ports.vectors, wanted, limit)
    return InTime(candidates)


async def _walk_tags(
    question: SpreadContext, top: Sequence[Candidate], ports: RetrievalPorts, stages: StageRun
) -> Sequence[tags.Associate]:
    """Return items that share a tag with the results."""
    settings = ports.settings
    anchors = [Anchor(c.item.uid, max(c.strength, 1e-9), tuple(p for p, _ in c.passages), c.item.part) for c in top]
    with _clocked(tags.TAGS, ports, stages) as seconds:
        async with asyncio.timeout(seconds):
            return await tags.walk_tags(question, by_item(anchors), settings.associates, auto_tags=settings.auto_tags)
    return ()
