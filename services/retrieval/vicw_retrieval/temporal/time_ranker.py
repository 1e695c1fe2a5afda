"""Ranking by the time of a question: items of that time gain, whether or not a channel found them."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from vicw_retrieval.access.visibility import filter_results
from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_retrieval.temporal.event_items import Find, find_events, follow_thread
from vicw_retrieval.temporal.event_references import EventReference
from vicw_retrieval.temporal.nearest import Nearest, nearest_first, nearest_to
from vicw_retrieval.temporal.order import OrderEnd
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis
from vicw_retrieval.temporal.selection import selects_by_time
from vicw_retrieval.temporal.span_items import SpanItem, SpanLookup, items_of_span
from vicw_retrieval.temporal.spans import BEGINNING, END, SpanRelation, TimeSpan
from vicw_retrieval.temporal.time_lift import (
    LATER,
    MIN_STRENGTH,
    SURE_ORDER,
    in_time_order,
    keep_places,
    lift_named,
    misleading_last,
)
from vicw_retrieval.temporal.time_weights import (
    Moment,
    TimeFit,
    Weight,
    middle,
    named_spans,
    weigh,
)
from vicw_shared.model import Label, Node
from vicw_shared.ports import ItemRef, PassageTimes
from vicw_shared.settings import RetrievalSettings
from vicw_shared.uids import chunk_uid

_JUDGED = 100
"""Candidates whose time is compared, the best."""
_BOOST = 0.5
"""Setting ``time_boost`` at which a named time has the weight of its odds."""
_DAY = timedelta(days=1)
"""The longest stated time that replaces the time of telling: "in March" may be said of what is told today."""
_TELLING = re.compile(
    r"\b(?:sa(?:y|id)|t(?:ell|old)|talk(?:ed|ing)?|discuss(?:ed|ing)?|mention(?:ed|ing)?|sp(?:eak|oke)|ask(?:ed|ing)?"
    r"|wr(?:ite|ote)|message[sd]?|conversations?|chat(?:s|ted)?|posted|sent|note[sd]?)\b",
    re.IGNORECASE,
)
"""Words of a question about telling: then an item is of the time when it was told, whatever it tells of."""


@dataclass(frozen=True, slots=True)
class ResolvedTime:
    """The time of a question, with the events that its anchors were resolved to.

    ``limit`` is how many results are asked for. ``inside`` are the keys of the items of the named time.
    """

    reading: TimeAnalysis
    limit: int
    events: Mapping[EventReference, Node] = field(default_factory=dict)
    in_time: bool = False
    only: bool = False
    """Whether nothing but the time selects, and there are items of it: they come first."""
    spans: tuple[TimeSpan, ...] = ()
    """The named spans, with those that are counted from events."""
    inside: frozenset[str] = frozenset()
    nearest: Nearest | None = None
    """The nearest items, if there is none of the named time."""


async def rank_by_time(
    question: SpreadContext,
    candidates: Sequence[Candidate],
    resolved: ResolvedTime,
    settings: RetrievalSettings,
    find: Find,
    seconds: float = math.inf,
) -> tuple[list[Candidate], ResolvedTime]:
    """Return the candidates in their new order, with items of the question's time among them, and the time's events.

    Items of a named time are lifted by its odds (``lift_named``), and come first if nothing else selects; nothing is
    left out. After ``seconds``, no further pages of a span are read, and ``in_time`` stays false. Raises the graph's
    errors.
    """
    until = asyncio.get_running_loop().time() + seconds
    resolved = replace(resolved, events=await find_events(question, resolved.reading, find))
    reading = await _with_windows(question, resolved)
    lookup = SpanLookup.of(settings, resolved.limit, until, earliest=_asks_first(reading))
    then, in_time = await _items_of_span(question, reading, lookup)
    near = await _items_next_to_events(question, resolved)
    known = {candidate.key for candidate in candidates}
    new = await _new_candidates(question, candidates, [one for one in then if one.item.key not in known])
    known |= {candidate.key for candidate in new}
    new += [Candidate(ItemRef.of(n), 0.0, [(n.qdrant_id, 0.0)]) for n in near if n.uid not in known and n.qdrant_id]
    of_time = {one.item.key for one in then} | {node.uid for node in near}
    judged = [*candidates[:_JUDGED], *new, *(one for one in candidates[_JUDGED:] if one.key in of_time)]
    moments = await _moments(question, reading, resolved, judged)
    events = {anchor: Moment.of(node) for anchor, node in resolved.events.items() if anchor.offset is None}
    weighed = weigh(reading, list(moments.values()), events, boost=settings.time_boost)
    weights = dict(zip(moments, weighed, strict=True))
    inside = {key: weight for key, weight in weights.items() if weight.named}
    named = inside
    if not reading.by_time:
        # A year on a page is one of its facts: its words match already, and the page that goes with it has none.
        happened = {one.key for one in judged if one.item.label is Label.EVENT}
        named = {key: weight for key, weight in inside.items() if key in happened}
    ranked = _boosted(question, judged, weights, [node.uid for node in near])
    if named:
        share = len(named.keys() & {one.key for one in candidates[:_JUDGED]}), len(candidates[:_JUDGED])
        ranked = lift_named(ranked, named, share, settings.time_boost / _BOOST, alone=reading.by_time)
    ranked = in_time_order(ranked, named, moments, reading, settings.time_boost)
    if reading.by_time:
        ranked = misleading_last(ranked, named, moments, reading)
    spans = named_spans(reading)
    nearest = None
    if spans and not inside and in_time and _is_present(question):
        nearest = await nearest_to(question, (min(span.start for span in spans), max(span.end for span in spans)))
        if reading.by_time:
            ranked = nearest_first(ranked, nearest)
    only = bool(named) and reading.by_time
    resolved = replace(resolved, in_time=in_time, only=only, spans=spans, inside=frozenset(inside), nearest=nearest)
    keys = {candidate.key for candidate in ranked}
    ranked = in_order([*ranked, *(one for one in candidates if one.key not in keys)])
    if named and not reading.by_time:
        ranked = keep_places(ranked, candidates, resolved.limit)
    return ranked, resolved


async def _with_windows(question: SpreadContext, resolved: ResolvedTime) -> TimeAnalysis:
    """Return the reading with a span for each event that days are counted from, in its place.

    An order over time in which nothing else selects is one of all times: up to now, unless the question looks ahead.
    """
    reading = resolved.reading
    windows: list[TimeSpan] = []
    for anchor, event in resolved.events.items():
        if anchor.offset is None:
            continue
        with suppress(OverflowError):
            start, end = anchor.offset.window(await _event_time(question, event), reading.zone)
            span = TimeSpan(start, end, SpanRelation.ON, anchor.confidence, anchor.text, anchor.begins)
            windows.append(span)
    events = tuple(anchor for anchor in reading.event_references if anchor.offset is None)
    by_time = reading.by_time or selects_by_time(question.text, reading)
    order = reading.order
    if order is not None and by_time and not (reading.spans or windows or events or reading.recurrence):
        end = END if reading.ahead else question.scope.judged_at
        windows = [TimeSpan(BEGINNING, end, SpanRelation.ON, SURE_ORDER, order.text, order.begins)]
    return replace(reading, spans=(*reading.spans, *windows), event_references=events, by_time=by_time)


async def _event_time(question: SpreadContext, event: Node) -> datetime:
    """Return when an event happened: what its only statement says, else when it was told."""
    times = await question.graph.stated_times(question.scope.tenant, [event.uid])
    passages = times.get(event.uid, [])
    assert event.timestamp is not None
    stated = [time for passage in passages for time in passage.stated]
    return middle(stated[0]) if stated and not any(passage.untimed for passage in passages) else event.timestamp


async def _items_of_span(
    question: SpreadContext, reading: TimeAnalysis, lookup: SpanLookup
) -> tuple[list[SpanItem], bool]:
    """Return items of the named spans, visible and in scope, and whether time sufficed."""
    items: list[SpanItem] = []
    in_time = True
    for span in named_spans(reading) if _is_present(question) else ():
        found, all_read = await items_of_span(question, (span.start, span.end), lookup)
        items += found
        in_time = in_time and all_read
    return list({one.item.key: one for one in items}.values()), in_time


def _is_present(question: SpreadContext) -> bool:
    """Return whether the question is about what is true and known now: the index by time has nothing else."""
    return question.scope.as_of is None and question.scope.known_at is None


def _asks_first(reading: TimeAnalysis) -> bool:
    return reading.order is not None and reading.order.end is OrderEnd.FIRST


async def _items_next_to_events(question: SpreadContext, resolved: ResolvedTime) -> list[Node]:
    """Return the items next to the events in their threads, visible and in scope."""
    near: dict[str, Node] = {}
    for anchor, event in resolved.events.items():
        if anchor.offset is None:
            near |= {node.uid: node for node in await follow_thread(question, anchor, event)}
    return await filter_results(question.graph, question.scope, list(near.values())) if near else []


async def _new_candidates(
    question: SpreadContext, candidates: Sequence[Candidate], found: Sequence[SpanItem]
) -> list[Candidate]:
    """Return items that no channel found as candidates below all others, by their similarity to the question."""
    if not found:
        return []
    lowest = min((one.score for one in candidates), default=0.0)
    similarity = await question.similarity.similarities([one.passage for one in found])
    ranked = sorted(found, key=lambda one: -similarity.get(one.passage, -1.0))  # else in the order of the look-up
    return [
        Candidate(one.item, score := lowest - LATER * place, [(one.passage, score)])
        for place, one in enumerate(ranked, start=1)
    ]


async def _moments(
    question: SpreadContext, reading: TimeAnalysis, resolved: ResolvedTime, judged: Sequence[Candidate]
) -> dict[str, Moment]:
    """Return when each candidate happened, by key."""
    graph, tenant = question.graph, question.scope.tenant
    uids = list(dict.fromkeys(one.item.uid for one in judged))
    # Nearness to an event needs flow steps; a span needs no more than what candidates have.
    nodes = await graph.nodes(tenant, uids) if resolved.events else {}
    reads_statements = bool(reading.spans or reading.recurrence or reading.order)
    times = await graph.stated_times(tenant, uids) if reads_statements and uids else {}
    telling = _TELLING.search(question.text) is not None
    return {
        one.key: _moment(one, nodes.get(one.item.uid), times.get(one.item.uid, ()), telling=telling) for one in judged
    }


def _moment(one: Candidate, node: Node | None, times: Sequence[PassageTimes], *, telling: bool) -> Moment:
    """Return when an item happened: a consolidated one at its own time, at its Macro-Event's place in the thread."""
    item = one.item
    if item.part is not None:
        own = {chunk_uid(item.part, 0), *(passage for passage, _ in one.passages)}
        times = [passage for passage in times if passage.passage in own]
    if node is None:
        moment = Moment(item.timestamp, item.context)
    else:
        moment = Moment.of(node if item.part is None else replace(node, timestamp=item.timestamp))
    stated = tuple(time for passage in times for time in passage.stated)
    # "Put off to Saturday" is told today: only what had happened by then replaces the time of telling.
    exact = bool(stated) and all(
        end - start <= _DAY and (moment.at is None or start <= moment.at) for start, end in stated
    )
    now = moment.at is not None and any(start <= moment.at < end for start, end in stated)  # "today", told at 3
    is_told = telling or now or not exact or any(passage.untimed for passage in times)
    return replace(moment, stated=stated, is_told=is_told)


def _boosted(
    question: SpreadContext, judged: Sequence[Candidate], weights: Mapping[str, Weight], near: Sequence[str]
) -> list[Candidate]:
    """Return the candidates, those of a time without a name or near an event raised by their factor."""
    # Items with nothing but their place beside an event rank below similar ones, the next first.
    best = question.best or 1.0
    least = {uid: MIN_STRENGTH * best * (1 - LATER * place) for place, uid in enumerate(near)}
    boosted = []
    for one in judged:
        weight = weights[one.key]
        if weight.fit is TimeFit.INSIDE and not weight.named:
            gain = (weight.factor - 1) * max(least.get(one.item.uid, 0.0), one.strength)
            boosted.append(replace(one, score=one.strength).raised(time=gain))
        else:
            boosted.append(one)
    return boosted
