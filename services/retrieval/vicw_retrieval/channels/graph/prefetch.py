"""Prefetch of the edges around the best results, before any spread starts.

Stages read different edges of the same items one after another. This module reads what most of them will need in one
read per kind, and ``graph_cache`` serves it from then on. It changes the number of graph reads and nothing else. An
unused prefetch costs less than a separate read.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Sequence

from vicw_retrieval.channels.graph.spread_context import SpreadContext
from vicw_retrieval.channels.graph.title_match import title_query
from vicw_retrieval.channels.graph.typed_spread import MIN_WEIGHT, name_queries
from vicw_retrieval.model.candidates import Candidate
from vicw_shared.ports import Direction, Spread
from vicw_shared.settings import RetrievalSettings

_ITEMS = 20
"""Items whose edges are prefetched."""
_PASSAGES = 30
"""Passages that are prefetched."""
_FANOUT = 20
AROUND: tuple[Spread, ...] = (
    ("NEXT", Direction.OUT),
    ("NEXT", Direction.IN),
    ("CAUSED", Direction.OUT),
    ("CAUSED", Direction.IN),
    ("INITIATED", Direction.IN),
    ("ABOUT", Direction.OUT),
    ("TAGGED", Direction.OUT),
)
"""Spreads that the lift, people, tags and the expansion read."""


async def prefetch(question: SpreadContext, candidates: Sequence[Candidate], settings: RetrievalSettings) -> None:
    """Prefetch the best items and passages, their edges, and the nodes that the question names. Raises graph errors."""
    graph, tenant, strengths = question.graph, question.scope.tenant, question.strengths
    names = [title_query(question)] if settings.title_match else []
    names += name_queries(question) if settings.graph_weight >= MIN_WEIGHT else []
    best = heapq.nsmallest(_PASSAGES, candidates, key=lambda one: (-strengths[one.key], one.key))
    items = list(dict.fromkeys(one.item.uid for one in best[:_ITEMS]))
    passages = list(dict.fromkeys(passage for one in best for passage, _ in one.passages[:1]))
    if items:
        await asyncio.gather(
            graph.find_names(tenant, names, contexts=question.scope.contexts),
            graph.nodes(tenant, [*items, *passages]),
            graph.expand(tenant, items, AROUND, _FANOUT),
        )
