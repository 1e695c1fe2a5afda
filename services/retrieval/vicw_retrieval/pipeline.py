"""Read path: the work of ``POST /retrieve``.

scope → first wave (channels, fusion, domain) → refinement → expansion (with causal chains) → synthesis

Each stage takes frozen inputs, and returns a frozen result that the next ones take: ``FoundItems``, ``RefinedItems``,
``Expanded``.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import structlog
from prometheus_client import Counter, Histogram

from vicw_core.filters.plain import all_conditions
from vicw_core.language.times.date_order import shown_order
from vicw_retrieval.access.scope import scope_of
from vicw_retrieval.access.viewer_identity import with_viewer_identities
from vicw_retrieval.feedback.service import feedback_on
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.profile.service import PROFILE
from vicw_retrieval.refine.pipeline import TIME, RefinedItems, refine
from vicw_retrieval.relevance.judge import Relevance, judge, relevance_line
from vicw_retrieval.relevance.word_share import covered_share
from vicw_retrieval.request.engines import Deadline, bounded, cached_graph
from vicw_retrieval.request.pages import Page
from vicw_retrieval.request.payload_fallback import payload_graph
from vicw_retrieval.request.stages import StageRun, name_sizes, require_within_limits
from vicw_retrieval.search.filtered_search import filtered
from vicw_retrieval.search.first_wave import FoundItems, find_items
from vicw_retrieval.search.waiting_passages import PENDING
from vicw_retrieval.synthesis.changes import items_of, passages_of, with_changes
from vicw_retrieval.synthesis.expansion import Expanded, MovedError, expand_results
from vicw_retrieval.synthesis.explanation import explain
from vicw_retrieval.synthesis.named_time import nothing_line, to_named_time
from vicw_retrieval.synthesis.page import TextMeter, require_room
from vicw_retrieval.synthesis.results import graph_to_wire, to_results
from vicw_retrieval.synthesis.text import write_text
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis, analyse_time
from vicw_shared.clock import in_zone, now
from vicw_shared.errors import OverloadedError, UnavailableError
from vicw_shared.ports import Audience, Scope
from vicw_shared.settings import LimitSettings
from vicw_shared.settings.concerns import DAY_FIRST
from vicw_shared.wire.answer_format import PENDING_LINE
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

_log = structlog.get_logger()
_AMONG, _AMONG_OF_VIEWER = 256, 4096
"""Edges per node and spread from which the heaviest are chosen, in stores that do not sort them."""
RELEVANCE = "relevance"
DEGRADED = Counter("vicw_retrieve_degraded_total", "Answers that were returned in degraded mode", ["part"])
BOUNDED = Counter("vicw_retrieve_bounded_total", "Answers in which a stage reached VICW_RETRIEVAL_HOP_EDGES", ["stage"])
RESULTS = Histogram("vicw_retrieve_results", "Results of an answer", buckets=(0, 1, 2, 5, 10, 20, 50, 100, 200))


async def retrieve(request: RetrieveRequest, tenant: str, ports: RetrievalPorts) -> RetrieveResponse:
    """Return the evidence for a question.

    While the graph is down, or too busy for this question, the answer comes from the vectors' payloads: live and public
    items only. While the vector index is incomplete, it comes from the graph's full text. Raises InvalidInputError for
    a field over its limit; UnavailableError or OverloadedError if every channel fails, or the graph, for a question
    about another time or with a filter.
    """
    _check(request, ports.limits)
    page = Page.of(request, tenant, ports.limits)
    request = page.request(request)
    condition = all_conditions(request, ports.limits, "", metadata=request.metadata, chosen=request.filter)
    scope = replace(scope_of(request, tenant, now()), condition=condition, without=page.shown)
    initial_ports, ports = ports, _ports_of(request, ports)
    if not ports.outage.is_open():
        try:
            try:
                answer = await _answer(request, scope, page, ports, again=True)
            except MovedError:
                answer = await _answer(request, scope, page, _ports_of(request, initial_ports, ports.deadline))
            ports.outage.record_success()
            return answer
        except (UnavailableError, OverloadedError) as error:
            if error.dependency != "graph" or ports.words is not None:
                raise
            if scope.condition is not None:
                raise  # a filter that takes too long says nothing of the graph: other questions are to ask it
            if isinstance(error, UnavailableError):
                ports.outage.record_failure()
            elif _is_time_travel(request):
                raise
            _log.warning("the graph does not answer; answering from the vectors alone", error=error.detail)
    if scope.condition is not None:
        raise UnavailableError("graph", "is down, and only it knows which items pass a filter")
    if _is_time_travel(request):
        raise UnavailableError("graph", "is down, and only it knows what was true or known at another time")
    public = Audience(context=request.viewer.context if request.viewer is not None else None)
    without_graph = replace(ports, graph=payload_graph(ports.vectors), outbox=None)
    return await _answer(request, replace(scope, audience=public), page, without_graph, degraded=("graph",))


def _ports_of(request: RetrieveRequest, ports: RetrievalPorts, deadline: Deadline | None = None) -> RetrievalPorts:
    """Return the ports of a request that begins now: all calls end in time, and no graph read happens twice.

    Hubs are not read completely, more of them for a viewer: invisible edges must not take the places of visible ones.
    ``deadline``: that of an earlier attempt.
    """
    settings = ports.settings
    deadline = deadline or Deadline.in_ms(settings.total_ms or settings.channel_ms + settings.graph_ms)
    among = _AMONG if request.viewer is None else _AMONG_OF_VIEWER
    graph = cached_graph(bounded(ports.graph, "graph", deadline, settings.graph_ms, together=True), among)
    words = bounded(ports.words, "graph", deadline, settings.graph_ms) if ports.words is not None else None
    vectors = bounded(ports.vectors, "vectors", deadline, settings.channel_ms)
    outbox = bounded(ports.outbox, "graph", deadline, settings.graph_ms) if ports.outbox is not None else None
    return replace(ports, graph=graph, words=words, vectors=vectors, outbox=outbox, deadline=deadline)


def _is_time_travel(request: RetrieveRequest) -> bool:
    return request.as_of is not None or request.known_at is not None


async def _answer(
    request: RetrieveRequest,
    scope: Scope,
    page: Page,
    ports: RetrievalPorts,
    *,
    degraded: tuple[str, ...] = (),
    again: bool = False,
) -> RetrieveResponse:
    """Answer. ``again``: while there is time for another try, raise MovedError instead of leaving out a result."""
    stages = StageRun(degraded=list(degraded))
    if request.viewer is not None:
        scope = await with_viewer_identities(ports.graph, scope)
    if scope.condition is not None:
        with stages.timed("filter"):
            scope, ports = await filtered(scope, ports)
    time = TimeAnalysis()
    if ports.settings.time_boost:
        with stages.isolate(TIME):  # in the asker's zone: "today" is the asker's day
            asked_at = in_zone(request.query_time or scope.judged_at, request.zone)
            set_order = DAY_FIRST.get(ports.settings.date_order)
            day_first = await shown_order(ports.graph, scope.tenant, [request.query], set_order, asked_at.year)
            time = analyse_time(request.query, asked_at, day_first=day_first)
    found = await find_items(request, scope, time, ports, stages, more=page.parts, narrows=page.narrows)
    refined = await refine(request, scope, found, time, ports, stages)
    judged = await _judge(request, found, refined, ports, stages)
    if refined.is_profile:
        judged = judged.sure_of({one.key for one in refined.top if PROFILE in one.boosts})
    top = judged.least(refined.top, request.min_relevance)
    expanded = await expand_results(request, scope, top, refined.associates, ports, stages, again=again)
    answer = await _synthesize(request, scope, found, refined, judged, expanded, ports, stages)
    following = page.following(request.limit, top, found.decision)
    return answer if following is None else answer.model_copy(update={"next": following})


async def _judge(
    request: RetrieveRequest, found: FoundItems, refined: RefinedItems, ports: RetrievalPorts, stages: StageRun
) -> Relevance:
    """Return how likely the results are evidence. What they cover is read if the constants, or the caller, ask."""
    covered = 0.0
    if ports.words is None and ("covered" in ports.calibration.answer.weights or request.explain):
        with stages.run(RELEVANCE):
            async with asyncio.timeout(ports.deadline.extra_seconds(ports.settings.channel_ms)):
                covered = await covered_share(found.wave, found.candidates, found.similarity)
    return judge(request.query, refined.top, found.wave, refined.time, ports.calibration, stages.degraded, covered)


async def _synthesize(
    request: RetrieveRequest,
    scope: Scope,
    found: FoundItems,
    refined: RefinedItems,
    judged: Relevance,
    expanded: Expanded,
    ports: RetrievalPorts,
    stages: StageRun,
) -> RetrieveResponse:
    """Return the results, their sub-graph and the text within the budget."""
    candidates, around, parts = expanded.results, expanded.around, expanded.parts
    with stages.timed("synthesize"):
        passages = [passage for candidate in candidates for passage, _ in candidate.passages]
        texts = await ports.graph.texts(scope.tenant, [*passages, *passages_of(refined.pairs)])
        duplicates = [uid for candidate in candidates for uid in candidate.duplicates]
        duplicate_nodes = await ports.graph.nodes(scope.tenant, duplicates) if duplicates else {}
        results = to_results(
            candidates, texts, found.wave, around, ports.settings.fusion, duplicate_nodes, parts, judged.results
        )
        if refined.pairs:
            told = await ports.graph.nodes(scope.tenant, items_of(refined.pairs))
            results = with_changes(results, refined.pairs, texts, told)
        items = {**around.nodes, **{part.uid: part for part in parts.values()}}
        if scope.audience is not None:  # steps count invisible items, too
            results = [result.model_copy(update={"flow_step": None}) for result in results]
        meter = TextMeter.of(request.budget)
        named = to_named_time(refined.time, results)
        unlikely = nothing_line(named, request.zone) or (relevance_line(judged.answered) if results else "")
        notes = (unlikely, PENDING_LINE if PENDING in stages.degraded else "")
        note = "\n".join(filter(None, notes))
        groups = () if refined.is_profile else tuple(found.decision.apart)
        written = write_text(
            results,
            items,
            around,
            meter,
            request.template,
            request.zone,
            note=note,
            groups=groups,
            by_rank=refined.is_profile,
        )
        graph = graph_to_wire(results, around)
    degraded = tuple(sorted(set(stages.degraded)))
    for part in degraded:
        DEGRADED.labels(part).inc()
    for stage in stages.bounded:
        BOUNDED.labels(stage).inc()
    RESULTS.observe(len(results))
    if ports.uses is not None:
        ports.uses.count(scope.tenant, {candidate.item.uid for candidate in candidates})
    explained = None
    if request.explain:
        feedback = await feedback_on(ports.log, [one.uid for one in results], questions=scope.audience is None)
        explained = explain(found, refined, judged, candidates, written, scope, stages.bounded, feedback)
    return RetrieveResponse(
        intent=found.decision.intent,
        results=tuple(results),
        relevance=round(judged.answer, 3),
        answered=judged.answered,
        graph=graph,
        text=written.text,
        took_ms=stages.timer.total(),
        degraded=degraded,
        time=named,
        explain=explained,
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
