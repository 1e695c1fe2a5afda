"""Read path: the work of ``POST /retrieve``.

scope → first wave (channels, fusion) → domain → second wave → expansion → causal chains → synthesis
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog
from prometheus_client import Counter, Histogram

from vicw_retrieval.access.scope import scope_of
from vicw_retrieval.access.viewer_identity import with_viewer_identities
from vicw_retrieval.access.visibility import known_by, texts_of
from vicw_retrieval.causal_chains.attach import ChainRequest, attach_chains
from vicw_retrieval.causal_chains.model import direction_of
from vicw_retrieval.channels import tags
from vicw_retrieval.intent.domain import DomainDecision, by_words, domain_cues, given, infer
from vicw_retrieval.model.consolidated import add_adjacent, read_parts
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.ranking.fusion import Candidate, Wave
from vicw_retrieval.refine.pipeline import RefinePipeline
from vicw_retrieval.refine.speaker_boost import raise_speaker_votes
from vicw_retrieval.request.payload_fallback import payload_graph
from vicw_retrieval.request.stages import StageTimer, isolate, name_sizes, require_within_limits
from vicw_retrieval.search.first_wave import FirstWave
from vicw_retrieval.synthesis.expansion import expand
from vicw_retrieval.synthesis.explanation import explain
from vicw_retrieval.synthesis.page import TextMeter, require_room
from vicw_retrieval.synthesis.results import graph_to_wire, to_results
from vicw_retrieval.synthesis.text import write_text
from vicw_retrieval.temporal.time_ranker import event_domains
from vicw_shared.clock import now
from vicw_shared.domains import canonical
from vicw_shared.errors import OverloadedError, RetryableError, UnavailableError
from vicw_shared.model import Node
from vicw_shared.ports import Audience, Scope
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

_log = structlog.get_logger()
DOMAIN = "domain"
EXPAND = "expand"
CAUSAL_CHAINS = "causal_chains"
DEGRADED = Counter("vicw_retrieve_degraded_total", "Answers that were returned in degraded mode", ["part"])
RESULTS = Histogram("vicw_retrieve_results", "Results of an answer", buckets=(0, 1, 2, 5, 10, 20, 50, 100, 200))


async def retrieve(request: RetrieveRequest, tenant: str, ports: RetrievalPorts) -> RetrieveResponse:
    """Return the evidence for a question.

    While the graph is down, or too busy for this question, the answer comes from the vectors' payloads: live and public
    items only. While the vector index is incomplete, it comes from the graph's full text. Raises InvalidInputError for
    a field over its limit; UnavailableError or OverloadedError if every channel fails, or the graph, for a question
    about another time.
    """
    _check(request, ports.limits)
    scope = scope_of(request, tenant, now())
    viewed = request.viewer is not None
    initial_ports, ports = ports, ports.for_request(viewed=viewed)
    if not ports.outage.is_open():
        try:
            try:
                answer = await _retrieve(request, scope, ports, again=True)
            except _MovedError:
                answer = await _retrieve(
                    request, scope, initial_ports.for_request(viewed=viewed, deadline=ports.deadline)
                )
            ports.outage.record_success()
            return answer
        except (UnavailableError, OverloadedError) as error:
            if error.dependency != "graph" or ports.words is not None:
                raise
            if isinstance(error, UnavailableError):
                ports.outage.record_failure()
            elif _is_time_travel(request):
                raise
            _log.warning("the graph does not answer; answering from the vectors alone", error=error.detail)
    if _is_time_travel(request):
        raise UnavailableError("graph", "is down, and only it knows what was true or known at another time")
    public = Audience(context=request.viewer.context if request.viewer is not None else None)
    without_graph = replace(ports, graph=payload_graph(ports.vectors))
    return await _retrieve(request, replace(scope, audience=public), without_graph, degraded=("graph",))


def _is_time_travel(request: RetrieveRequest) -> bool:
    return request.as_of is not None or request.known_at is not None


class _MovedError(Exception):
    """A found item was consolidated, restored or erased before it was shown."""


async def _retrieve(
    request: RetrieveRequest,
    scope: Scope,
    ports: RetrievalPorts,
    *,
    degraded: tuple[str, ...] = (),
    again: bool = False,
) -> RetrieveResponse:
    """Answer. ``again``: while there is time for another try, raise _MovedError instead of leaving out a result."""
    timer = StageTimer()
    scope = await with_viewer_identities(ports.graph, scope)
    search = FirstWave(ports, scope, request, timer)
    search.degraded += degraded
    decision, candidates, wave = await _find(request, search, ports)
    understood = search.intent
    if understood.question is not None:
        decision = replace(decision, intent=understood.question.intent(decision.intent))
    refinement = RefinePipeline(request, replace(ports, settings=understood.settings), search)
    top = await refinement.run(candidates, wave, decision.domains)
    with timer.stage(EXPAND):
        around = await _expand_results(request, ports, scope, top, search)
        parts = await read_parts(ports.graph, scope.tenant, top)
        results = [one for one in top if _was_read(one, around, parts)]
        if len(results) < len(top) and again and _has_time(ports):
            _log.info("a result was consolidated, restored or erased meanwhile; retrying")
            raise _MovedError
        await _add_chains(request, ports, scope, results, around, search)
        await _add_associates(ports, scope, around, refinement.associates)
    return await _answer(refinement, wave, decision, results, around, parts)


def _was_read(candidate: Candidate, around: Neighbourhood, parts: Mapping[str, Node]) -> bool:
    return candidate.item.uid in around.nodes and (candidate.item.part is None or candidate.key in parts)


def _has_time(ports: RetrievalPorts) -> bool:
    """Return whether the question can be asked again: half of the channels' time is left."""
    most_ms = ports.settings.channel_ms
    return ports.deadline.extra_seconds(most_ms) >= most_ms / 1000 / 2


async def _find(
    request: RetrieveRequest, search: FirstWave, ports: RetrievalPorts
) -> tuple[DomainDecision, Sequence[Candidate], Wave]:
    """Search, and narrow to the domain that the hits point to, unless the caller names one or only time selects."""
    if request.domain is not None:
        return given(request), *await search.find(search.scope, canonical(request.domain))
    known_sizes = await _domain_sizes(search, ports)
    sizes = known_sizes or {}
    candidates, wave = await search.find(search.scope, next(iter(sizes)) if len(sizes) == 1 else None)
    if known_sizes is None and not {"dense", "bm25"} & set(search.degraded):
        search.degraded.append(DOMAIN)  # otherwise the channels are named
    with search.timer.stage(DOMAIN):
        decision = by_words(words := domain_cues(request.query))
        with isolate(search.degraded, DOMAIN):
            strengths: Mapping[str, float] = wave.strengths
            if ports.settings.speaker_boost:
                strengths = raise_speaker_votes(request.query, candidates, strengths)
            inferred = infer(candidates, strengths, sizes, words, ports.settings)
            if inferred.domains is not None and search.time.by_time:
                decision = _widened(inferred)  # the decision if the next line fails
                inferred = await _check_event_domains(inferred, search, ports)
            decision = inferred
        if decision.domains is not None:
            kept = [candidate for candidate in candidates if candidate.item.domain in decision.domains]
            if len(decision.domains) == 1 or len(kept) < request.limit:
                # Search inside the domain, the query wrapped as its documents are: items that others crowded out come
                # back, and the answer is the same as for a caller who names the domain.
                narrowed = replace(search.scope, domains=decision.domains)
                only = decision.domains[0] if len(decision.domains) == 1 else None
                with contextlib.suppress(RetryableError):  # what was found stands; `degraded` names the channels
                    kept, wave = await search.find(narrowed, only)
            candidates = kept
    return decision, candidates, wave


async def _check_event_domains(decision: DomainDecision, search: FirstWave, ports: RetrievalPorts) -> DomainDecision:
    """Return the decision on a question that only time selects: narrowed if its events are in these domains.

    What happened then need not be similar to the question's words, so its hits would vote for an arbitrary domain.
    """
    assert decision.domains is not None
    async with asyncio.timeout(ports.deadline.extra_seconds(ports.settings.graph_ms)):
        domains = await event_domains(ports.graph, search.scope, search.time, search.by_phrase)
    return decision if domains & set(decision.domains) else _widened(decision)


def _widened(decision: DomainDecision) -> DomainDecision:
    return DomainDecision(decision.intent.model_copy(update={"filtered": False}), None)


async def _domain_sizes(search: FirstWave, ports: RetrievalPorts) -> Mapping[str, int] | None:
    """Return the number of points, or passages, of each domain; {} if none can count them, None on failure."""
    hides = search.scope.audience is not None  # sizes must not reveal invisible items
    if search.by_words and ports.words is None:
        return {}
    counter = ports.vectors if ports.words is None else ports.words
    with search.timer.stage(DOMAIN), contextlib.suppress(RetryableError, TimeoutError):
        async with asyncio.timeout(ports.deadline.extra_seconds(ports.settings.channel_ms)):
            return await counter.domains(search.scope.tenant, public=hides)
    return None


async def _expand_results(
    request: RetrieveRequest, ports: RetrievalPorts, scope: Scope, top: Sequence[Candidate], search: FirstWave
) -> Neighbourhood:
    uids = list(dict.fromkeys(candidate.item.uid for candidate in top))
    if request.expand.hops > 0:
        with isolate(search.degraded, EXPAND):
            proofs = [candidate.passages[0][0] for candidate in top]
            async with asyncio.timeout(ports.deadline.extra_seconds(ports.settings.graph_ms)):
                around = await expand(ports.graph, scope, uids, proofs, known_by(ports.registry))
                await add_adjacent(ports.graph, scope, top, around)
                return around
    return Neighbourhood(nodes=await ports.graph.nodes(scope.tenant, uids))


async def _add_chains(
    request: RetrieveRequest,
    ports: RetrievalPorts,
    scope: Scope,
    top: Sequence[Candidate],
    around: Neighbourhood,
    search: FirstWave,
) -> None:
    direction = direction_of(request.query)
    if direction is None or not ports.settings.chains or not request.expand.hops or EXPAND in search.degraded:
        return
    in_time = True  # isolate() records other failures
    with search.timer.stage(CAUSAL_CHAINS), isolate(search.degraded, CAUSAL_CHAINS):
        in_time = await attach_chains(
            ChainRequest(ports, scope, request.query, direction, known_by(ports.registry)), top, around
        )
    search.degraded += [] if in_time else [CAUSAL_CHAINS]


async def _add_associates(
    ports: RetrievalPorts, scope: Scope, around: Neighbourhood, associates: Sequence[tags.Associate]
) -> None:
    for one in associates:
        around.associate(one.anchor, one.way)
    if associates:
        around.texts |= await texts_of(ports.graph, scope, [one.node for one in associates])


async def _answer(
    refinement: RefinePipeline,
    wave: Wave,
    decision: DomainDecision,
    top: Sequence[Candidate],
    around: Neighbourhood,
    parts: Mapping[str, Node],
) -> RetrieveResponse:
    request, ports, search = refinement.request, refinement.ports, refinement.search
    with search.timer.stage("synthesize"):
        passages = [passage for candidate in top for passage, _ in candidate.passages]
        texts = await ports.graph.texts(search.scope.tenant, passages)
        duplicates = [uid for candidate in top for uid in candidate.duplicates]
        duplicate_nodes = await ports.graph.nodes(search.scope.tenant, duplicates) if duplicates else {}
        results = to_results(top, texts, wave, around, ports.settings.fusion, duplicate_nodes, parts)
        items = around.nodes | {part.uid: part for part in parts.values()}
        if search.scope.audience is not None:  # steps count invisible items, too
            results = [result.model_copy(update={"flow_step": None}) for result in results]
        written = write_text(results, items, around, TextMeter.of(request.budget), request.template)
        graph = graph_to_wire(results, around)
    degraded = tuple(sorted(set(search.degraded)))
    for part in degraded:
        DEGRADED.labels(part).inc()
    RESULTS.observe(len(results))
    if ports.uses is not None:
        ports.uses.count(search.scope.tenant, {candidate.item.uid for candidate in top})
    return RetrieveResponse(
        intent=decision.intent,
        results=tuple(results),
        graph=graph,
        text=written.text,
        took_ms=search.timer.total(),
        degraded=degraded,
        explain=explain(refinement, decision, wave, top, written) if request.explain else None,
    )


def _check(request: RetrieveRequest, limits: LimitSettings) -> None:
    budget, template = request.budget, request.template
    sizes = (
        ("query", len(request.query), limits.query_chars, "VICW_MAX_QUERY_CHARS", "characters"),
        ("limit", request.limit, limits.results, "VICW_MAX_RESULTS", "results"),
        ("budget.chars", budget.chars or 0, limits.budget_chars, "VICW_MAX_BUDGET_CHARS", "characters"),
        ("budget.tokens", budget.tokens or 0, limits.budget_chars, "VICW_MAX_BUDGET_CHARS", "tokens"),
        ("template.whole", len(template.whole), limits.template_chars, "VICW_MAX_TEMPLATE_CHARS", "characters"),
        ("template.result", len(template.result or ""), limits.template_chars, "VICW_MAX_TEMPLATE_CHARS", "characters"),
    )
    names = {"context": request.context, "domain": request.domain}
    lists = {f"tags.{kind}": getattr(request.tags, kind) for kind in ("any", "all", "none")}
    require_within_limits((*sizes, *name_sizes(names, lists, request.viewer, limits)))
    require_room(template, TextMeter.of(budget))
