"""Channels of one request, run over all domains and again inside inferred domains if needed."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace

import structlog

from vicw_core.index import sparse
from vicw_retrieval.access.scope import holds_in_scope
from vicw_retrieval.channels.dense import QueryVector, StatementScores, search_dense
from vicw_retrieval.channels.runner import (
    run_channels,
    search_bm25,
    search_fulltext,
    seeds_of,
    select_channels,
    valid_hits,
)
from vicw_retrieval.intent.profiles import IntentResolver
from vicw_retrieval.model.consolidated import without_summaries
from vicw_retrieval.model.similarity import QuerySimilarity, VectorSimilarity, WordSimilarity
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.ranking.fusion import GRAPH, Candidate, Wave, fuse_wave, group, is_full, merge
from vicw_retrieval.request.stages import StageTimer, isolate
from vicw_retrieval.search.cross_scoring import CrossScorer, Scored, score_all
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis, analyse_time
from vicw_shared.errors import RetryableError, UnavailableError, VicwError
from vicw_shared.model import Node
from vicw_shared.ports import Scope, VectorHit, VectorQuery
from vicw_shared.wire.retrieve import Channel, RetrieveRequest

_log = structlog.get_logger()
_SHORTLIST = 100
FULLTEXT = Channel.FULLTEXT.value
INTENT = "intent"
TIME = "time"
_IS_CODE = 0.5
"""Minimum share of code among the best hits of a question about code."""
_WIDENINGS = 4
_WIDER = 4
"""Factor on the full-text limit at each widening: full text cannot leave out items."""


class FirstWave:
    """The channels of one request, which may run twice: over all domains, then inside some.

    ``by_words``: the graph's full-text index answers instead of the channels.
    """

    def __init__(self, ports: RetrievalPorts, scope: Scope, request: RetrieveRequest, timer: StageTimer) -> None:
        self.scope = scope
        self.timer = timer
        self.degraded: list[str] = []
        self.by_words = ports.rebuilding and request.channels is None  # no channel is named
        self._ports = ports
        self._request = request
        self.terms = sparse.encode_query(request.query)
        asked_at = request.query_time or scope.judged_at  # with its offset: "today" is the asker's day
        self.time = TimeAnalysis()
        with isolate(self.degraded, TIME):
            self.time = analyse_time(request.query, asked_at) if ports.settings.time_boost else self.time
        self._vector = QueryVector(ports.embedder, ports.query_prefix, request.query)
        self._statements = StatementScores()
        self._scored_summaries: set[str] = set()
        self.intent = IntentResolver(ports.settings, ports.settings)
        self._without_vectors = ports.words is not None  # there are no vectors
        self._vectors_down = False  # the vector store does not answer now
        self._channels = select_channels(request.channels, ports.settings, vectors=not self._without_vectors)
        self.degraded += [channel.value for channel in request.channels or () if channel not in self._channels]
        self._limit = max(ports.settings.candidates, request.limit)

    @property
    def wrapped_query(self) -> str:
        """The question in the wording that was embedded."""
        return self._vector.wrapped

    def similarity(self) -> QuerySimilarity:
        """Return the measure of similarity to the question."""
        ports, query = self._ports, self._request.query
        if self._without_vectors or self._vectors_down:
            return WordSimilarity(ports.graph, ports.words, self.scope.tenant, query)
        return VectorSimilarity(ports.vectors, self._vector.vector, query)

    async def by_phrase(self, phrase: str, scope: Scope, limit: int) -> list[VectorHit]:
        """Return the passages that have the words of a phrase, best first. Raises the engine's errors."""
        if self._without_vectors or self.by_words or self._vectors_down:
            return await search_fulltext(self._ports.graph, phrase, scope, limit)
        terms = sparse.encode_query(phrase)
        return await search_bm25(self._ports.vectors, terms, scope, limit) if terms.indices else []

    async def find(self, scope: Scope, domain: str | None) -> tuple[list[Candidate], Wave]:
        """Return the items found, best first, and the channels' hits.

        A channel counts passages, an answer counts items: while the passages of a few long items crowd out others, the
        search runs again without these items. Without vectors it reads further down the full-text list instead.
        """
        limit = self._limit
        wave = last = await self._run(scope, domain, limit)
        candidates, wave = await self._rank(wave, scope)
        for _ in range(_WIDENINGS):
            by_vectors = FULLTEXT not in last.ranked
            if (
                len(candidates) >= self._request.limit
                or not is_full(last, limit)
                or not (by_vectors or self._without_vectors)
            ):
                break
            seen = tuple(candidate.item.uid for candidate in candidates) if by_vectors else ()
            limit = limit if by_vectors else limit * _WIDER
            try:
                last = await self._run(scope, domain, limit, without=seen)
            except RetryableError:
                break  # what was found stands; `degraded` names the channels
            wave = merge(wave, last) if by_vectors else last
            candidates, wave = await self._rank(wave, scope)
        return candidates, wave

    async def _run(self, scope: Scope, domain: str | None, limit: int, without: tuple[str, ...] = ()) -> Wave:
        """Run the channels, then cross-score their hits."""
        with self.timer.stage("channels"):
            hits, seeds = await asyncio.gather(
                self._search_channels(scope, domain, limit, without), self._find_seeds(scope, without)
            )
        analysis = self._analyse(hits) if not without else _do_nothing()
        # Independent of each other; only questions about code are searched, and so scored, again.
        (scored, failed), _ = await asyncio.gather(self._cross_score(hits, seeds), analysis)
        if not without and self._asks_for_code():
            with self.timer.stage("bare_query"):
                bare = await self._search_bare(scope, domain, limit, without)
            if bare is not None:
                scored, failed = await self._cross_score({**hits, "dense": bare}, seeds)
        self.degraded += failed
        return self._wave(scored)

    async def _find_seeds(self, scope: Scope, without: tuple[str, ...]) -> list[VectorHit]:
        """Return the first passages of items with a trigger phrase of the question; none if channels are named."""
        if self._request.channels is not None or without:
            return []
        seeds: list[Node] = []
        try:
            seeds = await seeds_of(self._request.query, scope, self._ports.graph, self._ports.settings)
        except RetryableError:
            raise  # without the graph the vectors' payloads answer
        except Exception as error:
            _log.exception("stage failed", stage="seeds", error=type(error).__name__)
            self.degraded.append(GRAPH)
        return [VectorHit(seed.qdrant_id, 1 / rank) for rank, seed in enumerate(seeds, start=1) if seed.qdrant_id]

    async def _search_channels(
        self, scope: Scope, domain: str | None, limit: int, without: tuple[str, ...]
    ) -> dict[str, list[VectorHit]]:
        """Run the selected channels at the same time; while the vector index is incomplete, full text instead."""
        if self._ports.rebuilding:
            self.degraded += [channel.value for channel in self._channels]
        fulltext_error: VicwError | None = None
        if self.by_words:
            try:
                return await self._search_fulltext(scope)
            except VicwError as error:  # an incomplete vector index is better than nothing
                _log.warning("full-text search failed while the vector index is rebuilt", error=error.detail)
                self.degraded.append(FULLTEXT)
                self.by_words, fulltext_error = False, error
        channels: dict[str, Awaitable[list[VectorHit]]] = {}
        if Channel.DENSE in self._channels:
            channels["dense"] = self._dense(scope, domain, limit, without)
        if Channel.BM25 in self._channels and self.terms.indices:
            channels["bm25"] = search_bm25(self._ports.vectors, self.terms, scope, limit, without)
        if Channel.FULLTEXT in self._channels and not without:
            channels[FULLTEXT] = search_fulltext(self._ports.graph, self._request.query, scope, limit)
        seconds = self._ports.deadline.seconds(self._ports.settings.channel_ms)
        results, errors = await run_channels(channels, seconds)
        ranked = {name: valid_hits(hits) for name, hits in results.items()}
        self.degraded += [name for name, hits in ranked.items() if len(hits) < len(results[name])]
        failed = {name: error or self._out_of_time(name) for name, error in errors.items()}
        self.degraded += failed
        if fulltext_error is not None and not any(ranked.values()):
            raise fulltext_error  # an empty index is no answer
        return await self._fall_back_to_fulltext(scope, failed) if failed and not ranked else ranked

    def _out_of_time(self, channel: str) -> UnavailableError:
        """Return the error of a channel that ran out of time: it names the engine for which the channel waited."""
        engines = {Channel.DENSE: "embedding" if self._vector.vector is None else "vectors", Channel.FULLTEXT: "graph"}
        waited_for = engines.get(Channel(channel), "vectors")
        budget = f"VICW_RETRIEVAL_CHANNEL_MS ({self._ports.settings.channel_ms})"
        return UnavailableError(waited_for, f"does not answer: nothing came within {budget}")

    async def _fall_back_to_fulltext(self, scope: Scope, failed: Mapping[str, VicwError]) -> dict[str, list[VectorHit]]:
        """Search full text if no channel answers. Raises a channel's error if that fails or channels were named."""
        first = next(iter(failed.values()))
        if self._request.channels is not None:
            raise first
        self._vectors_down = any(
            isinstance(error, UnavailableError) and error.dependency == "vectors" for error in failed.values()
        )
        try:
            return await self._search_fulltext(scope)
        except VicwError as error:
            raise first from error

    async def _search_fulltext(self, scope: Scope) -> dict[str, list[VectorHit]]:
        """Search the graph's full-text index. Raises its errors."""
        return {FULLTEXT: await search_fulltext(self._ports.graph, self._request.query, scope, self._limit)}

    async def _rank(self, wave: Wave, scope: Scope) -> tuple[list[Candidate], Wave]:
        """Fuse a wave and return its items, best first. The sources of summaries are scored, too."""
        candidates = await self._fuse(wave, scope)
        wider = await self._score_sources(candidates, wave)
        if wider is not wave:
            candidates = await self._fuse(wider, scope)
        return without_summaries(candidates), wider

    async def _fuse(self, wave: Wave, scope: Scope) -> list[Candidate]:
        with self.timer.stage("fuse"):
            fused = fuse_wave(wave, method=self._ports.settings.fusion)
            # Scores compare all candidates; below this place none becomes a result or tips a vote.
            shortlist = heapq.nlargest(max(_SHORTLIST, 2 * self._request.limit), fused, key=fused.__getitem__)
            shortlist += {hit.id for hit in wave.ranked.get(GRAPH, ())}.difference(shortlist)
            candidates = await self._group(fused, shortlist, scope)
            if len(candidates) < min(self._request.limit, len(fused)) and len(shortlist) < len(fused):
                candidates = await self._group(fused, list(fused), scope)
            return candidates

    async def _group(self, fused: Mapping[str, float], passages: Sequence[str], scope: Scope) -> list[Candidate]:
        owners = await self._ports.graph.owners(scope.tenant, passages)
        # The filters saw the payload, which may lag a moment behind the graph.
        current = {passage: item for passage, item in owners.items() if holds_in_scope(scope, item)}
        return group({passage: fused[passage] for passage in passages}, current)

    async def _dense(self, scope: Scope, domain: str | None, limit: int, without: tuple[str, ...]) -> list[VectorHit]:
        if not self._vector.is_for(domain):
            with self.timer.stage("embed"):
                await self._vector.embed(domain)
        query = VectorQuery(scope=scope, limit=limit, dense=self._vector.vector, without=without)
        graph = self._ports.graph if self._ports.settings.statements else None
        hits, self._statements = await search_dense(self._ports.vectors, query, graph)
        return hits

    def _asks_for_code(self) -> bool:
        """Return whether the question is about code and was not searched without its wrapper yet."""
        is_code = self._ports.settings.bare_query and self.intent.code >= _IS_CODE
        return is_code and self._vector.vector is not None and not self._vector.bare

    async def _search_bare(
        self, scope: Scope, domain: str | None, limit: int, without: tuple[str, ...]
    ) -> list[VectorHit] | None:
        """Return the dense hits for a vector between those of the wrapped and the bare question.

        None if both forms are the same, or on failure: then the wrapped question's hits and vector stay.
        """
        wrapped, vector = self._vector.wrapped, self._vector.vector
        with contextlib.suppress(RetryableError, TimeoutError):
            async with asyncio.timeout(self._ports.deadline.extra_seconds(self._ports.settings.channel_ms)):
                await self._vector.embed(domain, bare=True)
                if self._vector.vector is vector:
                    return None
                return valid_hits(await self._dense(scope, domain, limit, without))
        self._vector.wrapped, self._vector.vector, self._vector.bare = wrapped, vector, False
        self.degraded.append(Channel.DENSE.value)
        return None

    async def _cross_score(
        self, by_channel: Mapping[str, Sequence[VectorHit]], seeds: Sequence[VectorHit]
    ) -> tuple[Scored, list[str]]:
        """Return the hits scored by all channels, and the channels that still lack scores."""
        with self.timer.stage("cross_score"):
            self._scored_summaries = set()
            return await score_all(by_channel, seeds, self._scorer() if "dense" in by_channel else None)

    def _wave(self, scored: Scored) -> Wave:
        """Return the scored hits with the channel weights for this question."""
        ranked, scores = scored
        settings = self.intent.settings
        weights = {"dense": settings.alpha, "bm25": 1 - settings.alpha, FULLTEXT: settings.fulltext_weight}
        if "bm25" not in scores:
            weights[FULLTEXT] = 1 - settings.alpha  # full text replaces bm25
        return Wave(ranked, scores, weights)

    async def _analyse(self, ranked: Mapping[str, Sequence[VectorHit]]) -> None:
        """Infer the intent of the question from its words and hits, and the settings that follow."""
        ports = self._ports
        with self.timer.stage("intent"):
            if self.intent.question is None:
                self.intent.analyse(self._request.query)
            seconds = ports.deadline.extra_seconds(ports.settings.channel_ms)
            if not await self.intent.judge(ranked, ports.vectors, seconds):
                self.degraded.append(INTENT)

    async def _score_sources(self, candidates: Sequence[Candidate], wave: Wave) -> Wave:
        """Return the wave with scores for the sources of its summaries: each source is scored by itself."""
        if not {"dense", "bm25"} <= wave.scores.keys():
            return wave
        summaries = [one.item.uid for one in candidates if one.item.is_macro and one.item.part is None]
        if not summaries:
            return wave
        scores = {name: dict(of) for name, of in wave.scores.items()}
        self.degraded += await self._scorer().score_sources(scores, summaries)
        return replace(wave, scores=scores) if scores != wave.scores else wave

    def _scorer(self) -> CrossScorer:
        ports = self._ports
        assert self._vector.vector is not None
        return CrossScorer(
            ports.vectors,
            ports.graph,
            self.scope.tenant,
            self._vector.vector,
            self.terms,
            self._statements,
            lambda: ports.deadline.extra_seconds(ports.settings.channel_ms),
            self._scored_summaries,
        )


async def _do_nothing() -> None:
    """Do nothing."""
