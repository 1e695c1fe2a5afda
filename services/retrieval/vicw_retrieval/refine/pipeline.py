"""Second wave: extends the hits of the first through the graph, time and tags.

Each stage has a budget and fails alone: the order then stays as it was, and ``degraded`` names the stage. A request
that names channels uses only these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from vicw_retrieval.channels import tags
from vicw_retrieval.channels.graph.channel import SpreadResults, run_spreads
from vicw_retrieval.channels.graph.spread import Anchor, SpreadContext, by_item
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.ranking.fusion import GRAPH, Candidate, Wave, choose
from vicw_retrieval.refine.cross_encoder import RERANK, Reranked, rerank
from vicw_retrieval.refine.current_first import CURRENT, asks_for_past, prefer_current
from vicw_retrieval.refine.near_duplicates import cover, merge_duplicates, read_texts
from vicw_retrieval.refine.recency import RECENT, prefer_recent
from vicw_retrieval.refine.speaker_boost import prefer_speaker
from vicw_retrieval.request.stages import isolate
from vicw_retrieval.search.first_wave import TIME, FirstWave
from vicw_retrieval.temporal.time_ranker import ResolvedTime, rank_by_time
from vicw_shared.text import fold_case
from vicw_shared.wire.retrieve import RetrieveRequest

NEAR_DUPLICATES = "near_duplicates"
_READ_FACTOR = 2


@dataclass(slots=True)
class RefinePipeline:
    """The second wave of one request, and what its stages found."""

    request: RetrieveRequest
    ports: RetrievalPorts
    search: FirstWave
    spreads: SpreadResults = field(default_factory=SpreadResults)
    resolved_time: ResolvedTime | None = None
    associates: list[tags.Associate] = field(default_factory=list)
    reranked: Reranked | None = None

    async def run(
        self, candidates: Sequence[Candidate], wave: Wave, domains: tuple[str, ...] | None
    ) -> list[Candidate]:
        """Return the results: the best candidates after all stages, at most as many as asked for."""
        question = self._question(candidates, wave, domains)
        if self.request.channels is None:
            candidates = await self._spread(question, candidates) if candidates else candidates
            candidates = await self._rank_by_time(question, candidates)  # adds items of that time, too
            with isolate(self.search.degraded, RECENT):
                candidates = prefer_recent(candidates, self.ports.settings)
        candidates = await self._merge(question, candidates)
        candidates = await self._rerank(candidates)
        candidates = await self._prefer_current(question, candidates)  # last: no model knows what was replaced
        top = choose(candidates, wave, self.request.limit)
        if self.request.channels is None and self.request.expand.hops > 0:
            await self._walk_tags(question, top)
        return tags.add_associates(top, self.associates, self.request.limit)

    @contextmanager
    def _isolate(self, stage: str) -> Iterator[None]:
        with self.search.timer.stage(stage), isolate(self.search.degraded, stage):
            yield

    def _within(self, most_ms: int) -> asyncio.Timeout:
        """Return the timeout of a stage: an answer does without what comes later."""
        return asyncio.timeout(self.ports.deadline.extra_seconds(most_ms))

    def _question(self, candidates: Sequence[Candidate], wave: Wave, domains: tuple[str, ...] | None) -> SpreadContext:
        viewer = self.request.viewer
        names = (viewer.user, *viewer.participants) if viewer is not None else ()
        seeded = {hit.id for hit in wave.ranked.get(GRAPH, ())}
        return SpreadContext(
            self.ports.graph,
            self.search.similarity(),
            replace(self.search.scope, domains=domains),
            self.request.query,
            {candidate.key: candidate.strength for candidate in candidates},
            tuple(dict.fromkeys(fold_case(name) for name in names if name)),
            {c.item.uid: passage for c in candidates for passage, _ in c.passages if passage in seeded},
        )

    async def _spread(self, question: SpreadContext, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Spread from the candidates through the graph."""
        settings = self.ports.settings
        with self._isolate("graph"):
            candidates = prefer_speaker(self.request.query, candidates) if settings.speaker_boost else candidates
            seconds = self.ports.deadline.extra_seconds(settings.spread_ms)
            async with self._within(_READ_FACTOR * settings.spread_ms):  # reached items are read when that is over
                candidates, self.spreads = await run_spreads(
                    question, candidates, settings, self.ports.registry, seconds
                )
        if not self.spreads.in_time:
            self.search.degraded.append(GRAPH)
        return candidates

    async def _rank_by_time(self, question: SpreadContext, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Raise items of the question's time."""
        if not self.search.time:
            return candidates
        self.resolved_time = ResolvedTime(self.search.time, self.request.limit)
        rescored = replace(question, strengths={candidate.key: candidate.strength for candidate in candidates})
        settings = self.ports.settings
        seconds = self.ports.deadline.extra_seconds(settings.spread_ms)
        with self._isolate(TIME):
            async with self._within(_READ_FACTOR * settings.spread_ms):
                candidates = await rank_by_time(
                    rescored, candidates, self.resolved_time, settings.time_boost, self.search.by_phrase, seconds
                )
        if not self.resolved_time.in_time:
            self.search.degraded.append(TIME)
        return candidates

    async def _prefer_current(self, question: SpreadContext, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Rank current statements before what they replaced, unless the question is about the past."""
        if not self.ports.settings.current_first or self.request.channels is not None or not candidates:
            return candidates
        if self.search.time.is_over(question.scope.judged_at) or asks_for_past(self.request.query):
            return candidates
        with self._isolate(CURRENT):
            async with self._within(self.ports.settings.spread_ms):
                return await prefer_current(question, candidates)
        return candidates

    async def _merge(self, question: SpreadContext, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Raise results that add to the others, and merge near-duplicates."""
        settings, limit = self.ports.settings, self.request.limit
        prose = 1 - self.search.intent.code  # questions about code use other words than the code
        least, share = settings.duplicate_share, settings.coverage * prose if self.request.channels is None else 0.0
        if not candidates or not (least or share):
            return candidates
        with self._isolate(NEAR_DUPLICATES):
            async with self._within(_READ_FACTOR * settings.graph_ms):
                texts = await read_texts(self.ports.graph, self.search.scope, candidates, limit)
                candidates = await cover(question.similarity, texts, candidates, limit, share) if share else candidates
                return merge_duplicates(texts, candidates, least) if least else candidates
        return candidates

    async def _rerank(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Let the re-ranker order the first candidates; all of them are visible to the caller."""
        reranker, settings = self.ports.reranker, self.ports.settings
        if reranker is None or not settings.rerank_top or self.request.channels is not None:
            return candidates
        with self.search.timer.stage(RERANK):
            candidates, self.reranked = await rerank(
                reranker,
                self.ports.graph,
                self.search.scope,
                self.request.query,
                candidates,
                top=settings.rerank_top,
                seconds=self.ports.deadline.extra_seconds(settings.rerank_ms),
            )
        if not self.reranked.in_time:
            self.search.degraded.append(RERANK)
        return candidates

    async def _walk_tags(self, question: SpreadContext, top: Sequence[Candidate]) -> None:
        """Find items that share a tag with the results."""
        limit, auto_tags = self.ports.settings.associates, self.ports.settings.auto_tags
        if not limit:
            return
        anchors = [Anchor(c.item.uid, max(c.strength, 1e-9), tuple(p for p, _ in c.passages), c.item.part) for c in top]
        with self._isolate(tags.TAGS):
            async with self._within(self.ports.settings.spread_ms):
                self.associates = await tags.walk_tags(question, by_item(anchors), limit, auto_tags=auto_tags)
