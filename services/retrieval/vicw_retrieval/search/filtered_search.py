"""The filter of a question, inside every search.

Where few items pass, all searches are restricted to them by their uids. Where many do, the graph's searches have the
conditions themselves. The vectors know only some of an item's fields, so more and more of their hits are read, and
checked against the graph, until enough pass.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import batched
from typing import Any, cast

from vicw_retrieval.access.item_filter import passing_filter
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.ports import GraphStore, Scope, VectorHit, VectorQuery, VectorStore
from vicw_shared.ports.item_filter import AllOf, ItemCondition, OneOf

_WIDER, _SPARE = 10, 1.2
"""How much more is read at most at a time, and than the share that has passed so far calls for."""
_FIRST = 3
"""How many times as much is read first, if the share is not known: what more than a few thousand items pass, often a
large share of all does."""
MOST = 10_000
"""Hits of one search, and uids in one, at most: a server accepts no more."""
_NO_LIMIT = 2**53


async def filtered(scope: Scope, ports: RetrievalPorts) -> tuple[Scope, RetrievalPorts]:
    """Return the scope with the items that pass its condition, if they are few, else vectors that check each hit.

    Raises the graph's errors.
    """
    most = ports.settings.filter_items
    estimate = await ports.graph.passing_estimate(scope.tenant, _inside(scope), live=_is_live(scope))
    if estimate is not None and estimate.items > most:  # to name that many takes longer than to check each hit
        return _checked(scope, ports, _SPARE / estimate.share)
    passing = await ports.graph.passing_items(scope.tenant, _inside(scope), most + 1, live=_is_live(scope))
    if len(passing) <= most:
        return replace(scope, items=tuple(passing)), ports
    return _checked(scope, ports, _FIRST)


def _checked(scope: Scope, ports: RetrievalPorts, first: float) -> tuple[Scope, RetrievalPorts]:
    vectors = cast("VectorStore", _CheckedVectors(ports.vectors, ports.graph, min(first, _WIDER)))
    return scope, replace(ports, vectors=vectors)


def _inside(scope: Scope) -> ItemCondition:
    assert scope.condition is not None
    contexts = (OneOf("context", scope.contexts),) if scope.contexts is not None else ()
    return AllOf((*contexts, scope.condition))


def _is_live(scope: Scope) -> bool:
    """Return whether only live items are visible: a question about the past finds retired ones, too."""
    return scope.as_of is None and scope.known_at is None


class _CheckedVectors:
    """Vectors whose searches return hits of items that pass the condition of their scope; all else is unchanged."""

    def __init__(self, vectors: VectorStore, graph: GraphStore, first: float) -> None:
        """``first``: how many times as many hits as are wanted are read first."""
        self._vectors = vectors
        self._graph = graph
        self._first = first
        self._items: dict[str, str] = {}

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._vectors, operation)

    async def search(self, query: VectorQuery) -> list[VectorHit]:
        if query.scope.condition is None:
            return await self._vectors.search(query)
        read = min(math.ceil(self._first * query.limit), MOST)
        while read <= MOST:
            hits = await self._vectors.search(replace(query, limit=read))
            passing = await self._passing(query.scope, hits)
            if len(passing) >= query.limit or len(hits) < read:
                return passing[: query.limit]
            enough = math.ceil(_SPARE * query.limit * read / max(1, len(passing)))
            read = min(max(2 * read, enough), _WIDER * read)
        return await self._search_all(query)

    async def _search_all(self, query: VectorQuery) -> list[VectorHit]:
        """Search the items that pass, however many, by their uids: the hits that pass are far down."""
        live = _is_live(query.scope)
        passing = await self._graph.passing_items(query.scope.tenant, _inside(query.scope), _NO_LIMIT, live=live)
        parts = [replace(query, scope=replace(query.scope, items=part)) for part in batched(passing, MOST)]
        found = [hit for hits in await asyncio.gather(*map(self._vectors.search, parts)) for hit in hits]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[: query.limit]

    async def _passing(self, scope: Scope, hits: Sequence[VectorHit]) -> list[VectorHit]:
        new = [hit.id for hit in hits if hit.id not in self._items]
        # The graph knows passages, and is asked for their items later all the same; statements know theirs.
        owners = await self._graph.owners(scope.tenant, new) if new else {}
        self._items |= {passage: item.uid for passage, item in owners.items()}
        others = [point for point in new if point not in owners]
        payloads = await self._vectors.payloads(others) if others else {}
        self._items |= {
            point: item for point, fields in payloads.items() if isinstance(item := fields.get("item"), str)
        }
        items = {self._items[hit.id] for hit in hits if hit.id in self._items}
        passing = await passing_filter(self._graph, scope, sorted(items))
        return [hit for hit in hits if self._items.get(hit.id) in passing]
