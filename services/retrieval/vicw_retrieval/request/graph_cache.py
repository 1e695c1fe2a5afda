"""Request-scoped cache of graph reads: the stages of a question read the same nodes and edges repeatedly.

The cache lives as long as the question, so it needs no invalidation by writes. It answers as the store would: edges
read up to one limit serve another limit only if these were all edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, cast

from vicw_retrieval.access.visibility import spread_of
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, ItemRef, NameQuery, Neighbour, Spread, WeightedNeighbour


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
        if lacking := [query for query in queries if (tenant, contexts_key, query) not in self._names]:
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
        one.origin, node.uid, node.label, node.name, node.content_hash is not None, one.edge.weight
    )
