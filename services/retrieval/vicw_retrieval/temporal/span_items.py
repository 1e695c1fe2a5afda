"""Items of a span of time, by look-ups in the graph: told in it, or telling of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from vicw_retrieval.access.visibility import filter_results
from vicw_retrieval.channels.graph.item_nodes import items_of_statements
from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.temporal.time_weights import lies_in
from vicw_shared.model import Node
from vicw_shared.model.core5 import LASTS
from vicw_shared.model.stated_times import Interval, stated_interval
from vicw_shared.ports import ItemRef
from vicw_shared.settings import RetrievalSettings

_PAGE = 500
_INSTANT = timedelta(microseconds=1)
_HALF_DAY = timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class SpanLookup:
    """How the items of a span are read: at most ``most`` of each kind, among ``max_read`` at most.

    ``until``: the clock of the event loop at which no further page is read. ``earliest``: the first come first.
    """

    most: int
    max_read: int
    until: float
    earliest: bool = False

    @classmethod
    def of(cls, settings: RetrievalSettings, limit: int, until: float, *, earliest: bool = False) -> SpanLookup:
        """Return how to read the items of a span for so many results."""
        return cls(max(limit, settings.time_items), settings.time_read, until, earliest)


@dataclass(frozen=True, slots=True)
class SpanItem:
    """An item of a span, and the passage that shows it."""

    item: ItemRef
    passage: str


async def items_of_span(question: SpreadContext, span: Interval, lookup: SpanLookup) -> tuple[list[SpanItem], bool]:
    """Return the items told in a span, or telling of it, that may be results, and whether time sufficed.

    Raises the graph's errors.
    """
    told, all_read = await _told_in(question, span, lookup)
    stated = await _stated_in(question, span, lookup)
    own = [SpanItem(ItemRef.of(node), node.qdrant_id) for node in told if node.qdrant_id is not None]
    return list({one.item.part or one.item.uid: one for one in (*own, *stated)}.values()), all_read


async def _told_in(question: SpreadContext, span: Interval, lookup: SpanLookup) -> tuple[list[Node], bool]:
    """Return the items with a timestamp in the span.

    The usual case is one read. If invisible items or other domains and tags leave too few, it reads on.
    """
    scope, graph, most = question.scope, question.graph, lookup.most
    items: list[Node] = []
    read: set[str] = set()
    (start, end), room = span, question.visibility.read_limit(most)
    while True:
        try:
            async with asyncio.timeout_at(lookup.until if read else None):
                page = await graph.between(
                    scope.tenant, start, end, contexts=scope.contexts, limit=room, earliest=lookup.earliest
                )
                new = [node for node in page if node.uid not in read]
                items += await filter_results(graph, scope, await question.visibility.nodes(new))
        except TimeoutError:
            if not read:
                raise
            return items[:most], False
        read |= {node.uid for node in new}
        if len(items) >= most or len(page) < room or len(read) >= lookup.max_read:
            return items[:most], True
        last = page[-1].timestamp
        assert last is not None
        # More items than a page may have the same time: then the next page is larger.
        is_stuck = last == start if lookup.earliest else last + _INSTANT == end
        start, end = (last, end) if lookup.earliest else (start, last + _INSTANT)
        room = min(2 * room if is_stuck else max(room, _PAGE), lookup.max_read)


async def _stated_in(question: SpreadContext, span: Interval, lookup: SpanLookup) -> list[SpanItem]:
    """Return the items with a statement whose time is in the span: one read, for a viewer a larger one."""
    scope, graph = question.scope, question.graph
    room = question.visibility.read_limit(lookup.most)
    statements = await graph.stated_between(
        scope.tenant, *_begin_in(span), contexts=scope.contexts, limit=room, earliest=lookup.earliest
    )
    inside = [node for node in statements if lies_in(stated_time(node), span)]
    owners = await items_of_statements(question, [node.uid for node in await question.visibility.nodes(inside)])
    nodes = await graph.nodes(scope.tenant, sorted({item.uid for item, _ in owners.values()})) if owners else {}
    seen = await question.visibility.nodes(list(nodes.values()))
    allowed = {node.uid for node in await filter_results(graph, scope, seen)}
    return [SpanItem(*owners[node.uid]) for node in inside if node.uid in owners and owners[node.uid][0].uid in allowed]


def stated_time(node: Node) -> Interval:
    """Return the time that a statement gives."""
    assert node.timestamp is not None
    return stated_interval(node.timestamp, node.metadata.get(LASTS))


def _begin_in(span: Interval) -> Interval:
    """Return the beginnings of all times that may be of a span: the middle of a time is in it, not its beginning."""
    start, end = span
    try:
        return start - max(_HALF_DAY, end - start), end
    except OverflowError:
        return datetime.min.replace(tzinfo=start.tzinfo), end
