"""Items of a time span, visible and in scope; excluded items take no places."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from vicw_retrieval.access.result_filter import filter_results
from vicw_retrieval.channels.graph.question import Question
from vicw_retrieval.temporal.spans import TimeSpan
from vicw_shared.model import Node

_IN_SPAN = 50
MAX_READ = 5000
"""Maximum items of a span that are read to find these."""
_PAGE = 500
_INSTANT = timedelta(microseconds=1)


async def items_in_span(question: Question, span: TimeSpan, until: float, limit: int) -> tuple[list[Node], bool]:
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
