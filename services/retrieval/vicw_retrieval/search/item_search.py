"""Search for items: the channels, scores of each other's hits, and fusion into one candidate per item.

A search takes what the searches of the same question before it have found out, and returns that with its result.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from vicw_retrieval.access.item_filter import passing_filter
from vicw_retrieval.access.scope import holds_in_scope
from vicw_retrieval.channels.dense import ChannelHits, QueryEmbedder, QueryVector, StatementScores, search_dense
from vicw_retrieval.channels.runner import run_channels, search_bm25, search_fulltext, seeds_of, valid_hits
from vicw_retrieval.intent.profiles import QuestionIntent, read_hits, read_words
from vicw_retrieval.model.consolidated import without_summaries
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.ranking.fusion import GRAPH, Candidate, Wave, fuse_wave, group, is_full, merge, not_shown
from vicw_retrieval.request.stages import StageRun
from vicw_retrieval.search.cross_scoring import CrossScorer, Scored, score_all
from vicw_shared.errors import RetryableError, UnavailableError, VicwError
from vicw_shared.ports import Scope, SparseVector, VectorHit, VectorQuery
from vicw_shared.wire.retrieve import Channel

_log = structlog.get_logger()
FULLTEXT = Channel.FULLTEXT.value
INTENT = "intent"
_SHORTLIST = 100
_IS_CODE = 0.5
"""Minimum share of code among the best hits of a question about code."""
_WIDENINGS = 4
_WIDER = 4
"""Factor on the full-text limit at each widening: full text cannot leave out items."""


@dataclass(frozen=True, slots=True)
class ItemQuery:
    """What is searched for: the words, by which ``channels`` (``named``: by the caller), and how many ``items``.

    ``words`` are its terms with their IDF, without forms in other languages.
    """

    text: str
    terms: SparseVector
    channels: tuple[Channel, ...]
    named: bool
    items: int
    words: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchState:
    """What the searches of one question have found out: its intent and vector, and which engines answer.

    ``by_words``: the graph's full-text index answers instead of the channels.
    """

    intent: QuestionIntent
    by_words: bool
    vector: QueryVector = field(default_factory=QueryVector)
    statements: StatementScores = field(default_factory=StatementScores)
    vectors_down: bool = False


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The items found, best first, and the channels' hits."""

    candidates: Sequence[Candidate]
    wave: Wave
    state: SearchState


@dataclass(frozen=True, slots=True)
class _Scores:
    """The scored hits of one run of the channels; the source passages of ``summaries`` are among them."""

    wave: Wave
    summaries: frozenset[str]
    state: SearchState


@dataclass(frozen=True, slots=True)
class ItemSearch:
    """Searches for the items of one question, over all domains or inside some."""

    query: ItemQuery
    tenant: str
    ports: RetrievalPorts
    embedder: QueryEmbedder
    stages: StageRun

    async def run(self, scope: Scope, domain: str | None, state: SearchState) -> SearchResult:
        """Return the items found, best first, and the channels' hits.

        A channel counts passages, an answer counts items: while the passages of a few long items crowd out others, the
        search runs again without these items. Without vectors it reads further down the full-text list instead.
        """
        limit = self._passages
        last = await self._score(scope, domain, limit, state)
        candidates, wave = await self._rank(last, last.wave, scope)
        for _ in range(_WIDENINGS):
            by_vectors = FULLTEXT not in last.wave.ranked
            is_narrow = len(candidates) < self.query.items and is_full(last.wave, limit)
            if not is_narrow or not (by_vectors or self.ports.words is not None):
                break
            seen = tuple(candidate.item.uid for candidate in candidates) if by_vectors else ()
            limit = limit if by_vectors else limit * _WIDER
            try:
                last = await self._score(scope, domain, limit, last.state, without=seen)
            except RetryableError:
                break  # what was found stands; `degraded` names the channels
            candidates, wave = await self._rank(last, merge(wave, last.wave) if by_vectors else last.wave, scope)
        return SearchResult(candidates, wave, last.state)

    @property
    def _passages(self) -> int:
        return max(self.ports.settings.candidates, self.query.items)

    async def _score(
        self, scope: Scope, domain: str | None, limit: int, state: SearchState, without: tuple[str, ...] = ()
    ) -> _Scores:
        """Run the channels, then cross-score their hits."""
        with self.stages.timed("channels"):
            (hits, state), seeds = await asyncio.gather(
                self._search_channels(scope, domain, limit, state, without), self._find_seeds(scope, without)
            )
        # Independent of each other; only questions about code are searched, and so scored, again.
        scored, intent = await asyncio.gather(
            self._cross_score(hits, seeds, state), self._read_intent(state.intent, hits, is_first=not without)
        )
        state = replace(state, intent=intent)
        if not without and self._asks_for_code(state):
            with self.stages.timed("bare_query"):
                bare, state = await self._search_bare(scope, domain, limit, state)
            if bare is not None:
                scored = await self._cross_score({**hits, "dense": bare}, seeds, state)
        self.stages.degraded.extend(scored.failed)
        return _Scores(self._wave(scored, state), frozenset(scored.summaries), state)

    async def _find_seeds(self, scope: Scope, without: tuple[str, ...]) -> list[VectorHit]:
        """Return the first passages of items with a trigger phrase of the question; none if channels are named."""
        if self.query.named or without:
            return []
        try:
            seeds = await seeds_of(self.query.text, scope, self.ports.graph, self.ports.settings)
        except RetryableError:
            raise  # without the graph the vectors' payloads answer
        except Exception as error:
            _log.exception("stage failed", stage="seeds", error=type(error).__name__)
            self.stages.degraded.append(GRAPH)
            return []
        return [VectorHit(seed.qdrant_id, 1 / rank) for rank, seed in enumerate(seeds, start=1) if seed.qdrant_id]

    async def _search_channels(
        self, scope: Scope, domain: str | None, limit: int, state: SearchState, without: tuple[str, ...]
    ) -> tuple[dict[str, Sequence[VectorHit]], SearchState]:
        """Run the selected channels at the same time; while the vector index is incomplete, full text instead."""
        query, ports, degraded = self.query, self.ports, self.stages.degraded
        if ports.vectors_incomplete:
            degraded += [channel.value for channel in query.channels]
        fulltext_error: VicwError | None = None
        if state.by_words:
            try:
                return await self._search_fulltext(scope), state
            except VicwError as error:  # an incomplete vector index is better than nothing
                _log.warning("full-text search failed while the vectors are incomplete", error=error.detail)
                degraded.append(FULLTEXT)
                state, fulltext_error = replace(state, by_words=False), error
        channels: dict[str, Awaitable[ChannelHits]] = {}
        if Channel.BM25 in query.channels and query.terms.indices:
            channels["bm25"] = search_bm25(ports.vectors, query.terms, scope, limit, without)
        if Channel.DENSE in query.channels:
            channels["dense"] = self._dense(scope, domain, limit, state.vector, without)
        if Channel.FULLTEXT in query.channels and not without:
            channels[FULLTEXT] = search_fulltext(ports.graph, query.text, scope, limit)
        found, errors = await run_channels(channels, ports.deadline.seconds(ports.settings.channel_ms))
        if "dense" in channels:  # also if it has embedded the question and failed then
            state = replace(state, vector=self.embedder.known(domain, bare=state.vector.bare) or state.vector)
        if "dense" in found:
            state = replace(state, statements=found["dense"].statements)
        ranked: dict[str, Sequence[VectorHit]] = {name: valid_hits(one.hits) for name, one in found.items()}
        degraded += [name for name, hits in ranked.items() if len(hits) < len(found[name].hits)]
        failed = {name: error or self._out_of_time(name) for name, error in errors.items()}
        degraded += failed
        if fulltext_error is not None and not any(ranked.values()):
            raise fulltext_error  # an empty index is no answer
        if not failed or ranked:
            return ranked, state
        down = any(isinstance(one, UnavailableError) and one.dependency == "vectors" for one in failed.values())
        return await self._fall_back_to_fulltext(scope, failed), replace(state, vectors_down=down)

    def _out_of_time(self, channel: str) -> UnavailableError:
        """Return the error of a channel that ran out of time: it names the engine for which the channel waited."""
        engines = {
            Channel.DENSE: "vectors" if self.embedder.has_answered else "embedding",
            Channel.FULLTEXT: "graph",
        }
        waited_for = engines.get(Channel(channel), "vectors")
        budget = f"VICW_RETRIEVAL_CHANNEL_MS ({self.ports.settings.channel_ms})"
        return UnavailableError(waited_for, f"does not answer: nothing came within {budget}")

    async def _fall_back_to_fulltext(
        self, scope: Scope, failed: Mapping[str, VicwError]
    ) -> dict[str, Sequence[VectorHit]]:
        """Search full text if no channel answers. Raises a channel's error if that fails or channels were named."""
        first = next(iter(failed.values()))
        if self.query.named:
            raise first
        try:
            return await self._search_fulltext(scope)
        except VicwError as error:
            raise first from error

    async def _search_fulltext(self, scope: Scope) -> dict[str, Sequence[VectorHit]]:
        """Search the graph's full-text index. Raises its errors."""
        return {FULLTEXT: (await search_fulltext(self.ports.graph, self.query.text, scope, self._passages)).hits}

    async def _dense(
        self, scope: Scope, domain: str | None, limit: int, before: QueryVector, without: tuple[str, ...]
    ) -> ChannelHits:
        vector = self.embedder.known(domain, bare=before.bare)
        if vector is None or vector.wrapped != before.wrapped:
            with self.stages.timed("embed"):
                vector = await self.embedder.embed(domain, bare=before.bare)
        return await self._search_dense(scope, vector, limit, without)

    async def _search_dense(
        self, scope: Scope, vector: QueryVector, limit: int, without: tuple[str, ...] = ()
    ) -> ChannelHits:
        query = VectorQuery(scope=scope, limit=limit, dense=vector.vector, without=without)
        graph = self.ports.graph if self.ports.settings.statements else None
        return await search_dense(self.ports.vectors, query, graph)

    def _asks_for_code(self, state: SearchState) -> bool:
        """Return whether the question is about code and was not searched without its wrapper yet."""
        is_code = self.ports.settings.bare_query and state.intent.code >= _IS_CODE
        return is_code and state.vector.vector is not None and not state.vector.bare

    async def _search_bare(
        self, scope: Scope, domain: str | None, limit: int, state: SearchState
    ) -> tuple[Sequence[VectorHit] | None, SearchState]:
        """Return the dense hits for a vector between those of the wrapped and the bare question.

        None if both forms are the same, or on failure: then the wrapped question's hits and vector stay.
        """
        with contextlib.suppress(RetryableError, TimeoutError):
            async with asyncio.timeout(self.ports.deadline.extra_seconds(self.ports.settings.channel_ms)):
                vector = await self.embedder.embed(domain, bare=True)
                if vector.vector is state.vector.vector:
                    return None, replace(state, vector=vector)
                found = await self._search_dense(scope, vector, limit)
                return valid_hits(found.hits), replace(state, vector=vector, statements=found.statements)
        self.stages.degraded.append(Channel.DENSE.value)
        return None, state

    async def _read_intent(
        self, intent: QuestionIntent, ranked: Mapping[str, Sequence[VectorHit]], *, is_first: bool
    ) -> QuestionIntent:
        """Return the intent by the question's words and hits; those of a widened search say nothing new."""
        if not is_first:
            return intent
        ports = self.ports
        with self.stages.timed("intent"):
            if intent.question is None:
                intent = read_words(intent, ports.settings, self.query.text)
            seconds = ports.deadline.extra_seconds(ports.settings.channel_ms)
            judged = await read_hits(intent, ports.settings, ranked, ports.graph, self.tenant, seconds)
            if judged is None:
                self.stages.degraded.append(INTENT)
            return judged or intent

    async def _cross_score(
        self, by_channel: Mapping[str, Sequence[VectorHit]], seeds: Sequence[VectorHit], state: SearchState
    ) -> Scored:
        """Return the hits scored by all channels."""
        with self.stages.timed("cross_score"):
            return await score_all(by_channel, seeds, self._scorer(state) if "dense" in by_channel else None)

    def _scorer(self, state: SearchState, summaries: frozenset[str] = frozenset()) -> CrossScorer:
        ports = self.ports
        assert state.vector.vector is not None
        return CrossScorer(
            ports.vectors,
            ports.graph,
            self.tenant,
            state.vector.vector,
            self.query.terms,
            state.statements,
            lambda: ports.deadline.extra_seconds(ports.settings.channel_ms),
            set(summaries),
        )

    def _wave(self, scored: Scored, state: SearchState) -> Wave:
        """Return the scored hits with the channel weights for this question."""
        settings = state.intent.settings
        weights = {"dense": settings.alpha, "bm25": 1 - settings.alpha, FULLTEXT: settings.fulltext_weight}
        if "bm25" not in scored.scores:
            weights[FULLTEXT] = 1 - settings.alpha  # full text replaces bm25
        return Wave(scored.ranked, scored.scores, weights, self.query.words)

    async def _rank(self, last: _Scores, wave: Wave, scope: Scope) -> tuple[list[Candidate], Wave]:
        """Fuse a wave and return its items, best first. The sources of summaries are scored, too."""
        candidates = await self._fuse(wave, scope)
        wider = await self._score_sources(candidates, wave, last)
        if wider is not wave:
            candidates = await self._fuse(wider, scope)
        return without_summaries(candidates), wider

    async def _fuse(self, wave: Wave, scope: Scope) -> list[Candidate]:
        with self.stages.timed("fuse"):
            items = self.query.items
            fused = fuse_wave(wave, method=self.ports.settings.fusion)
            # Scores compare all candidates; below this place none becomes a result or tips a vote.
            shortlist = heapq.nlargest(max(_SHORTLIST, 2 * items), fused, key=fused.__getitem__)
            shortlist += {hit.id for hit in wave.ranked.get(GRAPH, ())}.difference(shortlist)
            candidates = await self._group(fused, shortlist, scope)
            if len(candidates) < min(items, len(fused)) and len(shortlist) < len(fused):
                candidates = await self._group(fused, list(fused), scope)
            return candidates

    async def _group(self, fused: Mapping[str, float], passages: Sequence[str], scope: Scope) -> list[Candidate]:
        owners = await self.ports.graph.owners(scope.tenant, passages)
        # The filters saw the payload, which may lag a moment behind the graph.
        passing = await passing_filter(self.ports.graph, scope, [item.uid for item in owners.values()])
        current = {
            passage: item for passage, item in owners.items() if item.uid in passing and holds_in_scope(scope, item)
        }
        return not_shown(scope, group({passage: fused[passage] for passage in passages}, current))

    async def _score_sources(self, candidates: Sequence[Candidate], wave: Wave, last: _Scores) -> Wave:
        """Return the wave with scores for the sources of its summaries: each source is scored by itself."""
        if not {"dense", "bm25"} <= wave.scores.keys():
            return wave
        summaries = [one.item.uid for one in candidates if one.item.is_macro and one.item.part is None]
        if not summaries:
            return wave
        scores = {name: dict(of) for name, of in wave.scores.items()}
        self.stages.degraded.extend(await self._scorer(last.state, last.summaries).score_sources(scores, summaries))
        return replace(wave, scores=scores) if scores != wave.scores else wave
