"""Ranking by the time of a question: items of that time gain, whether or not a channel found them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from vicw_retrieval.access.visibility import filter_results
from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_retrieval.temporal.query_analyzer import EventReference, ReferenceSide, TimeAnalysis, distinctive_words
from vicw_retrieval.temporal.spans import SpanRelation, TimeSpan
from vicw_retrieval.temporal.time_weights import Moment, TimeFit, Weight, weigh
from vicw_shared.model import Label, Node
from vicw_shared.ports import Direction as Way
from vicw_shared.ports import GraphStore, ItemRef, Scope, VectorHit

_IN_SPAN = 50
MAX_READ = 5000
"""Maximum items of a span that are read to find these."""
_PAGE = 500
_INSTANT = timedelta(microseconds=1)


async def items_in_span(question: SpreadContext, span: TimeSpan, until: float, limit: int) -> tuple[list[Node], bool]:
    """Return the latest items of a span that may be results, and whether time sufficed.

    They are ``limit`` or fifty at most, whichever is more. The usual case is one read. If invisible items or other
    domains and tags leave too few, it reads on backwards in time, up to ``MAX_READ`` items, until the clock of the
    event loop is at ``until``: items found by then count. Raises the graph's errors.
    """
    scope, graph, most = question.scope, question.graph, max(limit, _IN_SPAN)
    items: list[Node] = []
    read: set[str] = set()
    end, room = span.end, question.visibility.read_limit(most)
    while True:
        try:
            async with asyncio.timeout_at(until if read else None):
                page = await graph.between(scope.tenant, span.start, end, contexts=scope.contexts, limit=room)
                new = [node for node in page if node.uid not in read]
                items += await filter_results(graph, scope, await question.visibility.nodes(new))
        except TimeoutError:
            if not read:
                raise
            return items[:most], False
        read |= {node.uid for node in new}
        if len(items) >= most or len(page) < room or len(read) >= MAX_READ:
            return items[:most], True
        last = page[-1].timestamp
        assert last is not None
        # More items than a page may have the same time: then the next page is larger.
        is_stuck = last + _INSTANT == end
        end, room = last + _INSTANT, min(2 * room if is_stuck else max(room, _PAGE), MAX_READ)


_SURE = 0.5
"""Minimum confidence of a span of time whose items are added."""
_JUDGED = 100
"""Candidates whose time is compared, the best."""
_STEPS = 6
"""Steps that an event's thread is followed."""
_EVENTS = 10
_AS_GOOD = 0.8
"""Share of the best score from which a passage may describe an event; the earliest does, later ones refer to it."""
_MIN_STRENGTH = 0.5
"""Minimum strength for the gain of an item of that time, as a share of the best, whatever the channels found."""

_LATER = 1e-4
"""Decrease of that minimum from each item to the next in the order of ``between``: it settles ties."""


type Find = Callable[[str, Scope, int], Awaitable[Sequence[VectorHit]]]
"""Search for the passages that have some words, best first."""


@dataclass(frozen=True, slots=True)
class ResolvedTime:
    """The time of a question, with the events that its anchors were resolved to.

    ``limit`` is how many results are asked for.
    """

    reading: TimeAnalysis
    limit: int
    events: Mapping[EventReference, Node] = field(default_factory=dict)
    in_time: bool = False
    only: bool = False
    """Whether only items of that time are in the answer."""


async def rank_by_time(
    question: SpreadContext,
    candidates: Sequence[Candidate],
    resolved: ResolvedTime,
    boost: float,
    find: Find,
    seconds: float = math.inf,
) -> tuple[list[Candidate], ResolvedTime]:
    """Return the candidates in their new order, with items of the question's time among them, and the time's events.

    If only time selects, only items of that time remain, if there are any. After ``seconds``, no further pages of a
    span are read, and ``in_time`` stays false. Raises the graph's errors.
    """
    until = asyncio.get_running_loop().time() + seconds
    resolved = replace(resolved, events=await _events(question, resolved.reading, find))
    then, in_time = await _items_of_time(question, resolved, until)
    known_keys = {candidate.key for candidate in candidates}
    nodes = {node.uid: node for node in then}
    new = [Candidate(ItemRef.of(n), 0.0, [(n.qdrant_id, 0.0)]) for n in then if n.uid not in known_keys and n.qdrant_id]
    judged = [*candidates[:_JUDGED], *new, *(one for one in candidates[_JUDGED:] if one.item.uid in nodes)]
    if resolved.events:  # nearness to an event needs flow steps; a span needs no more than what is read
        missing = [one.item.uid for one in judged if one.item.uid not in nodes]
        nodes |= await question.graph.nodes(question.scope.tenant, missing)
    weights = _weights(resolved, judged, nodes, boost)
    # Items with nothing but their time rank below similar ones, the latest first.
    best = question.best or 1.0
    least = {node.uid: _MIN_STRENGTH * best * (1 - _LATER * place) for place, node in enumerate(then)}
    inside = [candidate for candidate in judged if weights[candidate.key].fit is TimeFit.INSIDE]
    gains = [(weights[one.key].factor - 1) * max(least.get(one.item.uid, 0.0), one.strength) for one in inside]
    then_too = {
        one.key: replace(one, score=one.strength).raised(time=gain) for one, gain in zip(inside, gains, strict=True)
    }
    resolved = replace(resolved, in_time=in_time, only=resolved.reading.alone and bool(then_too))
    others = (one for one in candidates if one.key not in then_too and not resolved.only)
    return in_order([*others, *then_too.values()]), resolved


def _weights(
    resolved: ResolvedTime, judged: Sequence[Candidate], nodes: Mapping[str, Node], boost: float
) -> dict[str, Weight]:
    moments = [_moment(one.item, nodes.get(one.item.uid)) for one in judged]
    events = {anchor: Moment.of(node) for anchor, node in resolved.events.items()}
    weights = weigh(resolved.reading, moments, events, boost=boost)
    return {one.key: weight for one, weight in zip(judged, weights, strict=True)}


def _moment(item: ItemRef, node: Node | None) -> Moment:
    """Return when an item happened: a consolidated one at its own time, at its Macro-Event's place in the thread."""
    if node is None:
        return Moment(item.timestamp, item.context)
    return Moment.of(node if item.part is None else replace(node, timestamp=item.timestamp))


async def _events(question: SpreadContext, reading: TimeAnalysis, find: Find) -> dict[EventReference, Node]:
    """Return the visible Event that each phrase most likely means: the earliest of the best matches."""
    by_anchor: dict[EventReference, Node] = {}
    for anchor in reading.event_references:
        owners = await _items_of_event(question.graph, question.scope, anchor, find)
        items = await question.graph.nodes(question.scope.tenant, sorted({owner.uid for owner in owners.values()}))
        events = [
            n for n in await question.visibility.nodes(list(items.values())) if n.label is Label.EVENT and n.timestamp
        ]
        if events:
            by_anchor[anchor] = min(events, key=lambda node: (node.timestamp, node.arrival or 0, node.uid))
    return by_anchor


async def _items_of_event(graph: GraphStore, scope: Scope, anchor: EventReference, find: Find) -> dict[str, ItemRef]:
    """Return the items, by passage, that match an event's words about as well as the best one.

    If any of them are Events, only these count: other matches describe no event ("def deploy(): …").
    """
    scope = replace(scope, tags_any=(), tags_all=(), tags_none=())  # these choose results, not anchors
    hits = await find(distinctive_words(anchor.phrase), scope, _EVENTS)
    owners = await graph.owners(scope.tenant, [hit.id for hit in hits]) if hits else {}
    owned = [hit for hit in hits if hit.id in owners]
    matches = [hit for hit in owned if owners[hit.id].label is Label.EVENT] or owned
    return {hit.id: owners[hit.id] for hit in matches if hit.score >= _AS_GOOD * matches[0].score}


async def event_domains(graph: GraphStore, scope: Scope, reading: TimeAnalysis, find: Find) -> set[str]:
    """Return the domains of the items that match the events of a question. Raises the stores' errors."""
    owners_by_event = [await _items_of_event(graph, scope, anchor, find) for anchor in reading.event_references]
    return {item.domain for owners in owners_by_event for item in owners.values()}


async def _items_of_time(question: SpreadContext, resolved: ResolvedTime, until: float) -> tuple[list[Node], bool]:
    """Return items of the sure spans and next to the events, visible and in scope.

    And whether time sufficed.
    """
    scope, in_time = question.scope, True
    then: list[Node] = []
    if scope.as_of is None and scope.known_at is None:  # the index by time has the present only
        for span in resolved.reading.spans:
            if span.confidence >= _SURE and (
                resolved.reading.alone or span.kind in {SpanRelation.ON, SpanRelation.AROUND}
            ):
                items, all_read = await items_in_span(question, span, until, resolved.limit)
                then += items
                in_time = in_time and all_read
    near = [node for anchor, event in resolved.events.items() for node in await _follow_thread(question, anchor, event)]
    then += await filter_results(question.graph, scope, near) if near else []
    return list({node.uid: node for node in then}.values()), in_time


async def _follow_thread(question: SpreadContext, anchor: EventReference, event: Node) -> list[Node]:
    """Follow an event's thread, as far as every step is visible."""
    if anchor.direction is ReferenceSide.DURING:
        return [event]
    spread = ("NEXT", Way.OUT if anchor.direction is ReferenceSide.AFTER else Way.IN)
    nodes: list[Node] = []
    front = [event.uid]
    for _ in range(_STEPS):
        steps = await question.visibility.expand(front, [spread], 1)
        if not steps:
            break
        nodes.append(steps[0].node)
        front = [steps[0].node.uid]
    return nodes
