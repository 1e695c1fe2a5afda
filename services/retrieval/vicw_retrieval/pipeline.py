"""The read path (design section "Read path"; seed 003 §3.2): what happens on ``POST /retrieve``.

scope → intent → channels (dense, bm25) → fusion → domain → expansion → synthesis
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from vicw_retrieval.answer import explain, to_results
from vicw_retrieval.candidates import Candidate, Wave, fuse, group
from vicw_retrieval.channels import run_channels
from vicw_retrieval.channels.bm25 import search_bm25
from vicw_retrieval.channels.dense import embed_query, search_dense
from vicw_retrieval.domain import Decision, given, infer
from vicw_retrieval.expansion import Surroundings, expand
from vicw_retrieval.intent import read_words
from vicw_retrieval.ranking import blend, zscore
from vicw_retrieval.scope import in_time, scope_of
from vicw_retrieval.synthesis import draw_graph, write_text
from vicw_shared import sparse
from vicw_shared.clock import now
from vicw_shared.domains import canonical
from vicw_shared.errors import FieldProblem, InvalidInputError, UnavailableError, VicwError
from vicw_shared.ports import Embedder, GraphStore, Scope, VectorHit, VectorStore
from vicw_shared.settings import LimitSettings, RetrievalSettings
from vicw_shared.wire.retrieve import Channel, RetrieveRequest, RetrieveResponse
from vicw_shared.wrapper import wrap

_SHORTLIST = 100


@dataclass(frozen=True, slots=True)
class RetrievalPorts:
    """What the read path works with. ``query_prefix`` is the embedding model's."""

    graph: GraphStore
    vectors: VectorStore
    embedder: Embedder
    query_prefix: str
    limits: LimitSettings
    settings: RetrievalSettings


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds per stage."""

    took_ms: dict[str, float] = field(default_factory=dict)
    _started: float = field(default_factory=time.perf_counter)
    _lap: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        """Book the time since the last lap on ``stage``."""
        instant = time.perf_counter()
        self.took_ms[stage] = round(self.took_ms.get(stage, 0.0) + (instant - self._lap) * 1000, 3)
        self._lap = instant

    def total(self) -> dict[str, float]:
        """Return all laps and their total."""
        return self.took_ms | {"total": round((time.perf_counter() - self._started) * 1000, 3)}


async def retrieve(request: RetrieveRequest, tenant: str, ports: RetrievalPorts) -> RetrieveResponse:
    """Return the evidence for a question.

    Raises InvalidInputError for a field over its limit, UnavailableError if every channel or the graph fails.
    """
    _check(request, ports.limits)
    watch = Stopwatch()
    scope = scope_of(request, tenant, now())
    search = Search(ports, scope, request, watch)
    decision, candidates, wave = await _find(request, search, ports)
    top = candidates[: request.limit]
    around = await _surroundings(request, ports.graph, scope, top, search)
    watch.lap("expand")
    return await _answer(request, ports, search, wave, decision, top, around)


async def _find(
    request: RetrieveRequest, search: Search, ports: RetrievalPorts
) -> tuple[Decision, Sequence[Candidate], Wave]:
    """Search, and where the caller names no domain, narrow to the one that the hits speak for."""
    domain = canonical(request.domain) if request.domain is not None else None
    wave = await search.run(search.scope, domain)
    candidates = await search.rank(wave, search.scope)
    if domain is not None:
        return given(request), candidates, wave
    sizes = await ports.vectors.domains(search.scope.tenant)
    decision = infer(candidates, search.strengths(wave), sizes, read_words(request.query), ports.settings)
    if decision.domains is not None:
        kept = [candidate for candidate in candidates if candidate.item.domain in decision.domains]
        if (len(decision.domains) == 1 and len(kept) < len(candidates)) or len(kept) < request.limit:
            # Again inside the domain, the query wrapped as its documents are: what others crowded out comes back.
            narrowed = replace(search.scope, domains=decision.domains)
            wave = await search.run(narrowed, decision.domains[0] if len(decision.domains) == 1 else None)
            kept = await search.rank(wave, narrowed)
        candidates = kept
    search.watch.lap("domain")
    return decision, candidates, wave


async def _surroundings(
    request: RetrieveRequest, graph: GraphStore, scope: Scope, top: Sequence[Candidate], search: Search
) -> Surroundings:
    nodes = await graph.nodes(scope.tenant, [candidate.item.uid for candidate in top])
    if request.expand.hops == 0:
        return Surroundings(nodes=nodes)
    items = [nodes[candidate.item.uid] for candidate in top]
    try:
        return await expand(graph, scope, items, [candidate.passages[0][0] for candidate in top])
    except UnavailableError:
        search.degraded.append("expand")
        return Surroundings(nodes=nodes)


async def _answer(
    request: RetrieveRequest,
    ports: RetrievalPorts,
    search: Search,
    wave: Wave,
    decision: Decision,
    top: Sequence[Candidate],
    around: Surroundings,
) -> RetrieveResponse:
    passages = [passage for candidate in top for passage, _ in candidate.passages]
    chunks = await ports.graph.nodes(search.scope.tenant, passages)
    results = to_results(top, chunks, wave, around)
    text, cut = write_text(results, around, request.budget.chars)
    graph = draw_graph(results, around)
    search.watch.lap("synthesize")
    return RetrieveResponse(
        intent=decision.intent,
        results=tuple(results),
        graph=graph,
        text=text,
        took_ms=search.watch.total(),
        degraded=tuple(dict.fromkeys(search.degraded)),
        explain=explain(search.wrapped_query, decision, ports.settings, wave, cut) if request.explain else None,
    )


class Search:
    """The channels of one request, which may run twice: over everything, then inside a domain."""

    def __init__(self, ports: RetrievalPorts, scope: Scope, request: RetrieveRequest, watch: Stopwatch) -> None:
        self.scope = scope
        self.watch = watch
        self.degraded: list[str] = []
        self.wrapped_query = ""
        self._ports = ports
        self._request = request
        self._terms = sparse.encode_query(request.query)
        self._vector: NDArray[np.float32] | None = None
        self._wanted = set(request.channels or Channel)

    async def run(self, scope: Scope, domain: str | None) -> Wave:
        """Run the wanted channels at the same time, then score what only one of them found in the other."""
        limit = max(self._ports.settings.candidates, self._request.limit)
        channels: dict[str, Awaitable[list[VectorHit]]] = {}
        if Channel.DENSE in self._wanted:
            channels["dense"] = self._dense(scope, domain, limit)
        if Channel.BM25 in self._wanted and self._terms.indices:
            channels["bm25"] = search_bm25(self._ports.vectors, self._terms, scope, limit)
        ranked, failed = await run_channels(channels, budget_ms=self._ports.settings.budget_ms)
        self.degraded += failed
        _raise_if_all_failed(ranked, failed)
        self.watch.lap("channels")
        wave = await self._complete(ranked, scope)
        self.watch.lap("complete")
        return wave

    def strengths(self, wave: Wave) -> dict[str, float]:
        """Return the standardised scores of a wave's passages, whatever the fusion."""
        return zscore.combine(wave.scores.get("dense", {}), wave.scores.get("bm25", {}), self._ports.settings.alpha)

    async def rank(self, wave: Wave, scope: Scope) -> list[Candidate]:
        """Fuse a wave and return its items, best first."""
        fused = fuse(wave, method=self._ports.settings.fusion, alpha=self._ports.settings.alpha)
        # Standing is judged over all candidates; below this place none becomes a result or tips a vote.
        shortlist = heapq.nlargest(max(_SHORTLIST, 2 * self._request.limit), fused, key=fused.__getitem__)
        owners = await self._ports.graph.owners(scope.tenant, shortlist)
        # The filters saw the payload, which may lag a moment behind the graph.
        current = {passage: item for passage, item in owners.items() if in_time(scope, item)}
        candidates = group({passage: fused[passage] for passage in shortlist}, current)
        self.watch.lap("fuse")
        return candidates

    async def _dense(self, scope: Scope, domain: str | None, limit: int) -> list[VectorHit]:
        with_prefix = self._ports.query_prefix + wrap(self._request.query, domain=domain)
        if self._vector is None or with_prefix != self.wrapped_query:
            self.wrapped_query = with_prefix
            self._vector = await embed_query(self._ports.embedder, with_prefix)
            self.watch.lap("embed")
        return await search_dense(self._ports.vectors, self._vector, scope, limit)

    async def _complete(self, ranked: Mapping[str, Sequence[VectorHit]], scope: Scope) -> Wave:
        scores = {name: {hit.id: hit.score for hit in hits} for name, hits in ranked.items()}
        dense, lexical = scores.get("dense"), scores.get("bm25")
        if dense is None or lexical is None:
            return Wave(ranked, scores, 0.0)
        only_lexical, only_dense = list(lexical.keys() - dense.keys()), list(dense.keys() - lexical.keys())
        vectors = self._ports.vectors
        assert self._vector is not None
        for hit in await search_dense(vectors, self._vector, scope, len(only_lexical), only_lexical):
            dense[hit.id] = hit.score
        for hit in await search_bm25(vectors, self._terms, scope, len(only_dense), only_dense):
            lexical[hit.id] = hit.score
        if self._ports.settings.fusion != "blend":
            return Wave(ranked, scores, 0.0)
        idf = await vectors.idf(self._terms.indices)
        return Wave(ranked, scores, blend.ceiling(idf, sparse.K1 + 1))


def _raise_if_all_failed(ranked: Mapping[str, object], failed: Mapping[str, VicwError | None]) -> None:
    if not ranked and failed:
        raise next((e for e in failed.values() if e is not None), None) or UnavailableError(
            "retrieval", "no channel answered within its budget (VICW_RETRIEVAL_BUDGET_MS)"
        )


def _check(request: RetrieveRequest, limits: LimitSettings) -> None:
    sizes = (
        ("query", len(request.query), limits.query_chars, "VICW_MAX_QUERY_CHARS", "characters"),
        ("limit", request.limit, limits.results, "VICW_MAX_RESULTS", "results"),
        ("budget.chars", request.budget.chars, limits.budget_chars, "VICW_MAX_BUDGET_CHARS", "characters"),
    )
    problems = [
        FieldProblem(name, f"asks for {size} {unit}, over the limit of {limit}", f"Ask for less, or raise {setting}")
        for name, size, limit, setting, unit in sizes
        if size > limit
    ]
    if problems:
        raise InvalidInputError(*problems)
