"""Engines of one request: deadline, circuit breaker, bounded calls, and a cache of graph reads.

The cache lives as long as the question, so it needs no invalidation by writes. It answers as the store would: edges
read up to one limit serve another limit only if these were all edges.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, cast

from vicw_retrieval.access.visibility import spread_of
from vicw_shared.errors import UnavailableError
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, ItemRef, NameQuery, Neighbour, Spread, WeightedNeighbour
from vicw_shared.ports.item_filter import ItemCondition

_OF_EXTRAS = 0.75


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the monotonic clock, in seconds; by default never."""

    at: float = float("inf")
    extras_at: float = float("inf")
    """When optional work has to end: the rest of the time is for the answer itself."""

    @classmethod
    def in_ms(cls, milliseconds: int) -> Deadline:
        """Return the deadline so many milliseconds from now."""
        now, seconds = time.monotonic(), milliseconds / 1000
        return cls(now + seconds, now + _OF_EXTRAS * seconds)

    def seconds(self, most_ms: float) -> float:
        """Return the time in seconds (≥ 0) for an operation with a time limit of ``most_ms``."""
        return max(0.0, min(most_ms / 1000, self.at - time.monotonic()))

    def extra_seconds(self, most_ms: float) -> float:
        """Return the same for optional work."""
        return max(0.0, min(most_ms / 1000, self.extras_at - time.monotonic()))


class _Bounded:
    """Proxy of an engine with time limits, which waits for a hanging engine once.

    A call over its time raises UnavailableError, and so do all later calls. ``together``: if callers gave up earlier
    calls, and nothing came since, the time since the first of these counts.
    """

    def __init__(self, engine: object, name: str, deadline: Deadline, most_ms: int, *, together: bool) -> None:
        self._engine = engine
        self._name = name
        self._deadline = deadline
        self._most_ms = most_ms
        self._together = together
        self._hangs = False
        self._silent_since: float | None = None

    def __getattr__(self, operation: str) -> Any:
        method = getattr(self._engine, operation)

        async def call(*args: Any, **kwargs: Any) -> Any:
            if self._hangs:
                raise UnavailableError(self._name, "does not answer: a call before was over its time")
            began = time.monotonic()
            silent_ms = (began - self._silent_since) * 1000 if self._silent_since is not None else 0.0
            try:
                async with asyncio.timeout(self._deadline.seconds(max(0.0, self._most_ms - silent_ms))) as timer:
                    answer = await method(*args, **kwargs)
            except asyncio.CancelledError:
                if self._together and self._silent_since is None:
                    self._silent_since = began
                raise
            except TimeoutError:
                if not timer.expired():
                    raise
                self._hangs = True
                raise UnavailableError(self._name, f"does not answer: {operation} is over its time") from None
            self._silent_since = None
            return answer

        return call


def bounded[T](engine: T, name: str, deadline: Deadline, most_ms: int, *, together: bool = False) -> T:
    """Return an engine whose operations end within ``most_ms`` and by the deadline. Only operations can be called.

    ``name`` is the dependency that the UnavailableError of a slow call names. ``together``: calls that were given up
    in a row without an answer count as one.
    """
    return cast("T", _Bounded(engine, name, deadline, most_ms, together=together))


_LASTS_SECONDS = 3.0


@dataclass(slots=True)
class CircuitBreaker:
    """Circuit breaker: after two failures in a row, requests do not wait for the graph for a few seconds.

    One request without an answer may have asked for too much; two in a row have not.
    """

    seconds: float = _LASTS_SECONDS
    _until: float = float("-inf")
    _failed: bool = False

    def record_failure(self) -> None:
        """Record that the graph did not answer."""
        if self._failed:
            self._until = time.monotonic() + self.seconds
        self._failed = True

    def record_success(self) -> None:
        """Record that the graph answered."""
        self._failed = False

    def is_open(self) -> bool:
        """Return whether it is too early to ask again."""
        return time.monotonic() < self._until


def cached_graph(graph: GraphStore, among: int | None = None) -> GraphStore:
    """Return a graph for one question, which reads nothing from ``graph`` twice. Only operations can be called.

    ``among`` applies to all edge reads (``GraphStore.expand``): no single read can set another.
    """
    return cast("GraphStore", _CachedGraph(graph, among))


@dataclass(slots=True)
class _CacheSlot[T]:
    """Edges read of one node: ``known`` are the spreads read, ``found`` the edges of those that have any.

    Each spread has the limit of its read and its edges, heaviest first.
    """

    known: Set[Spread]
    found: dict[Spread, tuple[int, list[T]]] = field(default_factory=dict)

    def serves(self, spreads: Set[Spread], limit: int) -> bool:
        """Return whether the store would answer no more, and no less, along these spreads up to a limit."""
        return spreads <= self.known and all(
            limit == read_limit or (len(edges) < read_limit and len(edges) <= limit)
            for spread, (read_limit, edges) in self.found.items()
            if spread in spreads
        )


@dataclass(slots=True)
class _Hops[T]:
    """Edges read, by tenant and node; ``order`` is their sort key.

    It has more than the weight, which many edges share, so that two stores with the same data answer alike.
    """

    order: Callable[[T], tuple[object, ...]]
    _places: dict[tuple[str, str], _CacheSlot[T]] = field(default_factory=dict)

    def lacking(self, tenant: str, uids: Iterable[str], spreads: Set[Spread], limit: int) -> list[str]:
        """Return the nodes with a spread that was not read, or not up to this limit."""
        places = self._places
        return [uid for uid in uids if not ((place := places.get((tenant, uid))) and place.serves(spreads, limit))]

    def keep(
        self,
        tenant: str,
        uids: Iterable[str],
        spreads: Set[Spread],
        limit: int,
        edges: Iterable[tuple[str, Spread, T]],
    ) -> None:
        """Store the edges read of each spread of these nodes, empty results too."""
        for uid in uids:
            place = self._places.get((tenant, uid))
            if place is None:
                self._places[tenant, uid] = _CacheSlot(spreads)
                continue
            place.known |= spreads
            for spread in spreads & place.found.keys():
                del place.found[spread]
        for uid, spread, one in edges:
            self._places[tenant, uid].found.setdefault(spread, (limit, []))[1].append(one)

    def recall(self, tenant: str, uids: Iterable[str], spreads: Sequence[Spread]) -> list[T]:
        """Return the stored edges, spread by spread, heaviest first in each."""
        by_spread: dict[Spread, list[T]] = {spread: [] for spread in spreads}
        for uid in uids:
            for spread, (_, edges) in self._places[tenant, uid].found.items():
                if spread in by_spread:
                    by_spread[spread] += edges
        return [one for of_spread in by_spread.values() for one in sorted(of_spread, key=self.order)]


class _CachedGraph:
    """All operations of a graph; repeated reads are answered from memory."""

    def __init__(self, graph: GraphStore, among: int | None) -> None:
        self._graph = graph
        self._among = among
        self._nodes: dict[tuple[str, str], Node] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self._owners: dict[tuple[str, str], ItemRef] = {}
        self._passing: dict[tuple[str, ItemCondition], dict[str, bool]] = {}
        self._names: dict[tuple[str, tuple[str, ...] | None, NameQuery], dict[str, list[Node]]] = {}
        self._hops = _Hops[Neighbour](lambda one: (-one.edge.weight, one.edge.created_at, one.edge.id))
        self._leads = _Hops[WeightedNeighbour](lambda one: (-one.weight, one.uid))

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._graph, operation)

    async def nodes(self, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        unique = list(dict.fromkeys(uids))
        if lacking := [uid for uid in unique if (tenant, uid) not in self._nodes]:
            self._know(tenant, (await self._graph.nodes(tenant, lacking)).values())
        return _select(self._nodes, tenant, unique)

    async def texts(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        unique = list(dict.fromkeys(uids))
        if lacking := [uid for uid in unique if (tenant, uid) not in self._texts and (tenant, uid) not in self._nodes]:
            read = await self._graph.texts(tenant, lacking)
            self._texts |= {(tenant, uid): text for uid, text in read.items()}
        return _select(self._texts, tenant, unique)

    async def owners(self, tenant: str, chunk_uids: Sequence[str]) -> dict[str, ItemRef]:
        unique = list(dict.fromkeys(chunk_uids))
        if lacking := [uid for uid in unique if (tenant, uid) not in self._owners]:
            read = await self._graph.owners(tenant, lacking)
            self._owners |= {(tenant, uid): item for uid, item in read.items()}
        return _select(self._owners, tenant, unique)

    async def passing_items(
        self,
        tenant: str,
        condition: ItemCondition,
        limit: int,
        *,
        among: Sequence[str] | None = None,
        live: bool = False,
    ) -> list[str]:
        if among is None or live:
            return await self._graph.passing_items(tenant, condition, limit, among=among, live=live)
        known = self._passing.setdefault((tenant, condition), {})
        if lacking := [uid for uid in dict.fromkeys(among) if uid not in known]:
            passing = set(await self._graph.passing_items(tenant, condition, len(lacking), among=lacking))
            known |= {uid: uid in passing for uid in lacking}
        return [uid for uid in dict.fromkeys(among) if known[uid]][:limit]

    async def expand(self, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int) -> list[Neighbour]:
        unique, spreads = list(dict.fromkeys(uids)), list(dict.fromkeys(spreads))
        along = frozenset(spreads)
        if lacking := self._hops.lacking(tenant, unique, along, limit):
            read = await self._graph.expand(tenant, lacking, spreads, limit, among=self._among)
            self._know(tenant, (one.node for one in read))
            if any(one.edge.source == one.edge.target for one in read):
                # A loop does not show its direction.
                if lacking == unique:
                    return read
                return await self._graph.expand(tenant, unique, spreads, limit, among=self._among)
            self._hops.keep(tenant, lacking, along, limit, _with_spreads(read))
        return self._hops.recall(tenant, unique, spreads)

    async def weighted_neighbours(
        self, tenant: str, uids: Sequence[str], spread: Spread, limit: int
    ) -> list[WeightedNeighbour]:
        unique, along = list(dict.fromkeys(uids)), frozenset({spread})
        if not self._hops.lacking(tenant, unique, along, limit):
            return [_as_weighted(one) for one in self._hops.recall(tenant, unique, [spread])]
        if lacking := self._leads.lacking(tenant, unique, along, limit):
            read = await self._graph.weighted_neighbours(tenant, lacking, spread, limit, among=self._among)
            self._leads.keep(tenant, lacking, along, limit, ((one.origin, spread, one) for one in read))
        return self._leads.recall(tenant, unique, [spread])

    async def find_names(
        self, tenant: str, queries: Sequence[NameQuery], *, contexts: Sequence[str] | None = None
    ) -> list[dict[str, list[Node]]]:
        contexts_key = tuple(contexts) if contexts is not None else None
        if lacking := [one for one in dict.fromkeys(queries) if (tenant, contexts_key, one) not in self._names]:
            answers = await self._graph.find_names(tenant, lacking, contexts=contexts)
            self._names |= {(tenant, contexts_key, query): of for query, of in zip(lacking, answers, strict=True)}
        return [self._names[tenant, contexts_key, query] for query in queries]

    def _know(self, tenant: str, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._nodes[tenant, node.uid] = node
            if node.text is not None:
                self._texts[tenant, node.uid] = node.text


def _select[T](known: dict[tuple[str, str], T], tenant: str, uids: Iterable[str]) -> dict[str, T]:
    return {uid: known[tenant, uid] for uid in uids if (tenant, uid) in known}


def _with_spreads(neighbours: Iterable[Neighbour]) -> Iterable[tuple[str, Spread, Neighbour]]:
    """Return each neighbour with its origin and the spread that led to it."""
    for one in neighbours:
        origin, kind, direction = spread_of(one)
        yield origin, (kind, direction), one


def _as_weighted(one: Neighbour) -> WeightedNeighbour:
    node = one.node
    return WeightedNeighbour(
        one.origin,
        node.uid,
        node.label,
        node.name,
        node.content_hash is not None,
        one.edge.weight,
        node.retired_at is None,
    )
