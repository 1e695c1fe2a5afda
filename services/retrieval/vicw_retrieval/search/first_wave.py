"""First wave: the items found for a question, and the domain to which they point.

The channels run over all domains, and again inside the domains that the hits are sure of.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vicw_core.index import sparse
from vicw_core.index.term_weights import rarity, weighted
from vicw_retrieval.channels.dense import QueryEmbedder
from vicw_retrieval.channels.runner import search_bm25, search_fulltext, select_channels
from vicw_retrieval.intent.domain import DomainDecision, by_words, domain_cues, given, infer
from vicw_retrieval.intent.profiles import QuestionIntent
from vicw_retrieval.model.similarity import QuerySimilarity, VectorSimilarity, WordSimilarity
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.ranking.fusion import Candidate, Wave
from vicw_retrieval.refine.speaker_boost import SpeakerVotes, raise_speaker_votes
from vicw_retrieval.request.stages import StageRun
from vicw_retrieval.search.item_search import ItemQuery, ItemSearch, SearchResult, SearchState
from vicw_retrieval.search.waiting_passages import PENDING, is_waiting
from vicw_retrieval.temporal.event_items import event_domains
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis
from vicw_shared.domains import canonical
from vicw_shared.errors import RetryableError
from vicw_shared.ports import Scope, TermFrequencies, VectorHit
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Channel, RetrieveRequest

DOMAIN = "domain"
EMBEDDING = "embedding"
"""Part of an answer that is degraded while the embedding model is loaded."""
WORDS = "words"
"""Part of an answer that is degraded while the words of an earlier version's store are converted."""


@dataclass(frozen=True, slots=True)
class PhraseSearch:
    """Searches for the passages that have the words of a phrase: by full text where there are no vectors."""

    ports: RetrievalPorts
    by_words: bool

    async def __call__(self, phrase: str, scope: Scope, limit: int) -> Sequence[VectorHit]:
        """Return the passages, best first. Raises the engine's errors."""
        if self.by_words:
            return (await search_fulltext(self.ports.graph, phrase, scope, limit)).hits
        terms = sparse.encode_query(phrase)
        if not terms.indices:
            return []
        terms = weighted(terms, await self.ports.graph.frequencies(scope.tenant, scope.contexts, terms.indices))
        return (await search_bm25(self.ports.vectors, terms, scope, limit)).hits


@dataclass(frozen=True, slots=True)
class FoundItems:
    """The items found for a question, best first, the channels' hits, and what they say of the question.

    ``similarity`` compares texts with the question, ``find_phrase`` finds passages by words. ``wrapped_query`` is the
    question in the wording that was embedded.
    """

    candidates: Sequence[Candidate]
    wave: Wave
    decision: DomainDecision
    intent: QuestionIntent
    similarity: QuerySimilarity
    find_phrase: PhraseSearch
    wrapped_query: str


async def find_items(
    request: RetrieveRequest,
    scope: Scope,
    time: TimeAnalysis,
    ports: RetrievalPorts,
    stages: StageRun,
    *,
    more: int = 0,
    narrows: bool = True,
) -> FoundItems:
    """Search, and narrow to the domain that the hits point to, unless the caller names one or only time selects.

    So many ``more`` items are searched for than the request asks for: consolidated ones that are then left out. Unless
    it ``narrows``, it answers from all domains.
    Raises the channels' errors if none of them answers, and the graph's.
    """
    # Full text lacks nothing. Asked before the search: what is indexed meanwhile may be missing from it.
    outbox = ports.outbox if ports.words is None and not ports.vectors_incomplete else None
    channels = select_channels(request.channels, ports.settings, vectors=ports.words is None)
    embedder = QueryEmbedder(ports.embedder, ports.query_prefix, request.query)
    with embedder.opened():
        (query, frequencies), lacks_passages, (domain, sizes) = await asyncio.gather(
            _query_of(request, scope, channels, ports, more),
            is_waiting(outbox, ports.graph, scope),
            _begin_embedding(request, scope, channels, embedder, ports, stages),
        )
        if lacks_passages:
            stages.degraded.append(PENDING)
        stages.degraded.extend(one.value for one in request.channels or () if one not in channels)
        if ports.converting:
            stages.degraded.append(WORDS)
        if ports.loading:
            stages.degraded.append(EMBEDDING)
        search = ItemSearch(query, scope.tenant, ports, embedder, stages)
        by_words = ports.vectors_incomplete and not query.named
        state = SearchState(QuestionIntent(ports.settings), by_words, vectors_down=ports.loading)
        result = await search.run(scope, domain, state)
        if request.domain is not None:
            return _found(query, frequencies, result, given(request), scope, ports)
        if sizes is None and not {"dense", "bm25"} & set(stages.degraded):
            stages.degraded.append(DOMAIN)  # otherwise the channels are named
        with stages.timed(DOMAIN):
            decision = await _decide(query.text, result, sizes or {}, scope, time, ports, stages)
            if decision.domains is not None and not narrows:
                decision = _widened(decision)
            elif decision.domains is not None:
                result = await _narrow(search, result, decision.domains, scope)
        return _found(query, frequencies, result, decision, scope, ports)


async def _begin_embedding(
    request: RetrieveRequest,
    scope: Scope,
    channels: Sequence[Channel],
    embedder: QueryEmbedder,
    ports: RetrievalPorts,
    stages: StageRun,
) -> tuple[str | None, Mapping[str, int] | None]:
    """Begin to embed the question, in the wording of its domain; return that, and the sizes of all (None: unknown).

    The embedding is what the channels wait for longest, so it runs beside the look-ups that they need, too.
    """
    domain: str | None
    sizes: Mapping[str, int] | None = {}
    if request.domain is not None:
        domain = canonical(request.domain)
    else:
        by_words = ports.vectors_incomplete and request.channels is None
        sizes = await _domain_sizes(scope, by_words, ports, stages)
        domain = next(iter(sizes)) if sizes is not None and len(sizes) == 1 else None
    if Channel.DENSE in channels and not ports.vectors_incomplete:
        embedder.begin(domain)
    return domain, sizes


async def _query_of(
    request: RetrieveRequest, scope: Scope, channels: tuple[Channel, ...], ports: RetrievalPorts, more: int
) -> tuple[ItemQuery, TermFrequencies]:
    """Return what is searched for, its terms weighted by their frequencies in what is searched."""
    is_named = request.channels is not None
    terms = sparse.encode_query(request.query)
    frequencies = TermFrequencies()
    if terms.indices:
        frequencies = await ports.graph.frequencies(scope.tenant, scope.contexts, terms.indices)
    weights = weighted(terms, frequencies)
    items = request.limit + more
    query = ItemQuery(request.query, weights, channels, is_named, items, sparse.word_weights(weights, terms))
    return query, frequencies


def _found(
    query: ItemQuery,
    frequencies: TermFrequencies,
    result: SearchResult,
    decision: DomainDecision,
    scope: Scope,
    ports: RetrievalPorts,
) -> FoundItems:
    terms = query.terms.indices
    state = result.state
    if state.intent.question is not None:
        decision = replace(decision, intent=state.intent.question.intent(decision.intent))
    similarity: QuerySimilarity
    if ports.words is not None or state.vectors_down:
        known = rarity(terms, frequencies, most=0.5) if ports.words is not None else None
        similarity = WordSimilarity(ports.graph, scope.tenant, terms, known)
    else:
        similarity = VectorSimilarity(ports.vectors, state.vector.vector, query.terms, rarity(terms, frequencies))
    wrapped = state.vector.wrapped
    return FoundItems(
        result.candidates,
        result.wave,
        decision,
        state.intent,
        similarity,
        _phrase_search(ports, state),
        wrapped,
    )


def _phrase_search(ports: RetrievalPorts, state: SearchState) -> PhraseSearch:
    return PhraseSearch(ports, ports.words is not None or state.by_words or state.vectors_down)


async def _domain_sizes(
    scope: Scope, by_words: bool, ports: RetrievalPorts, stages: StageRun
) -> Mapping[str, int] | None:
    """Return the number of points, or passages, of each domain; {} if none can count them, None on failure."""
    hides = scope.audience is not None  # sizes must not reveal invisible items
    if by_words and ports.words is None:
        return {}
    counter = ports.vectors if ports.words is None else ports.words
    with stages.timed(DOMAIN), contextlib.suppress(RetryableError, TimeoutError):
        async with asyncio.timeout(ports.deadline.extra_seconds(ports.settings.channel_ms)):
            return await counter.domains(scope.tenant, public=hides)
    return None


async def _decide(
    query: str,
    result: SearchResult,
    sizes: Mapping[str, int],
    scope: Scope,
    time: TimeAnalysis,
    ports: RetrievalPorts,
    stages: StageRun,
) -> DomainDecision:
    """Return the domains that the hits point to; by the question's own words if that fails."""
    decision = by_words(words := domain_cues(query))
    with stages.isolate(DOMAIN):
        votes = _votes(query, result, ports.settings)
        inferred = infer(result.candidates, votes.strengths, sizes, words, ports.settings, named=votes.domain)
        if inferred.domains is not None and time.by_time:
            decision = _widened(inferred)  # the decision if the next line fails
            inferred = await _check_event_domains(inferred, scope, time, ports, _phrase_search(ports, result.state))
        return inferred
    return decision


def _votes(query: str, result: SearchResult, settings: RetrievalSettings) -> SpeakerVotes:
    strengths = result.wave.strengths
    if not settings.speaker_boost:
        return SpeakerVotes(strengths)
    return raise_speaker_votes(query, result.candidates, strengths)


async def _check_event_domains(
    decision: DomainDecision, scope: Scope, time: TimeAnalysis, ports: RetrievalPorts, find_phrase: PhraseSearch
) -> DomainDecision:
    """Return the decision on a question that only time selects: narrowed if its events are in these domains.

    What happened then need not be similar to the question's words, so its hits would vote for an arbitrary domain.
    """
    assert decision.domains is not None
    async with asyncio.timeout(ports.deadline.extra_seconds(ports.settings.graph_ms)):
        domains = await event_domains(ports.graph, scope, time, find_phrase)
    return decision if domains & set(decision.domains) else _widened(decision)


def _widened(decision: DomainDecision) -> DomainDecision:
    open_intent = decision.intent.model_copy(update={"filtered": False, "ambiguous": False, "domains": {}})
    return DomainDecision(open_intent, None)


async def _narrow(search: ItemSearch, result: SearchResult, domains: tuple[str, ...], scope: Scope) -> SearchResult:
    """Return the result inside ``domains``.

    The search inside the domain, the query wrapped as its documents are, brings back items that others crowded out, and
    the answer is the same as for a caller who names the domain.
    """
    kept = [candidate for candidate in result.candidates if candidate.item.domain in domains]
    only = domains[0] if len(domains) == 1 else None
    if only is not None or len(kept) < search.query.items:
        with contextlib.suppress(RetryableError):  # what was found stands; `degraded` names the channels
            return await search.run(replace(scope, domains=domains), only, result.state)
    return replace(result, candidates=kept)
