"""Bounds of one question's work in counts, which are the same on every machine, in every store, however busy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from vicw_retrieval.access.visibility import Visibility, spread_of
from vicw_shared.ports import GraphStore, Neighbour, Spread, WeightedNeighbour

WHOLE_NODE = 4
"""Edges with few fields that take as long to read as one edge with its whole node."""


@dataclass(frozen=True, slots=True)
class HopLimit:
    """Maximum edges that one hop of a stage reads; a quarter of it where whole nodes are read.

    All nodes get an even share first, so that a hub takes no place of the others; what these leave goes to the hubs in
    a second read. Nodes come best first: if there are more of them than edges, the last are left out. ``reached`` are
    the stages that left something out.
    """

    edges: int
    reached: set[str] = field(default_factory=set)

    def share(self, places: int, fanout: int, *, whole: bool = False) -> int:
        """Return how many edges to read at each of so many places (nodes × spreads): 1 to ``fanout``.

        >>> HopLimit(6400).share(50, 64), HopLimit(6400).share(200, 64), HopLimit(6400).share(50, 64, whole=True)
        (64, 32, 32)
        """
        return max(1, min(fanout, self._most(whole=whole) // max(1, places)))

    async def leads(
        self, stage: str, graph: GraphStore, tenant: str, uids: Sequence[str], spread: Spread, fanout: int
    ) -> list[WeightedNeighbour]:
        """Return the heaviest edges of each node along one spread, with few of the neighbours' fields."""

        async def read(uids: Sequence[str], limit: int) -> list[WeightedNeighbour]:
            return await graph.weighted_neighbours(tenant, uids, spread, limit)

        return (await self._read(stage, uids, 1, fanout, read, whole=False))[0]

    async def visible(
        self, stage: str, visibility: Visibility, uids: Sequence[str], spreads: Sequence[Spread], fanout: int
    ) -> list[Neighbour]:
        """Return the heaviest visible edges of each node and spread."""

        async def read(uids: Sequence[str], limit: int) -> list[Neighbour]:
            return await visibility.expand(uids, spreads, limit)

        return (await self.whole(stage, uids, len(spreads), fanout, read))[0]

    async def whole(
        self,
        stage: str,
        uids: Sequence[str],
        spreads: int,
        fanout: int,
        read: Callable[[Sequence[str], int], Awaitable[list[Neighbour]]],
    ) -> tuple[list[Neighbour], set[str]]:
        """Return what ``read`` finds at these nodes along so many spreads, and the nodes at which edges were left out.

        ``read`` takes nodes, and how many edges of each spread to read.
        """
        return await self._read(stage, uids, spreads, fanout, read, whole=True)

    async def _read[T: (Neighbour, WeightedNeighbour)](
        self,
        stage: str,
        uids: Sequence[str],
        spreads: int,
        fanout: int,
        read: Callable[[Sequence[str], int], Awaitable[list[T]]],
        *,
        whole: bool,
    ) -> tuple[list[T], set[str]]:
        most = self._most(whole=whole)
        best = uids[: max(1, most // spreads)]
        if not best:
            return [], set()
        limit = self.share(len(best) * spreads, fanout, whole=whole)
        found = await read(best, limit)
        full = _full(found, limit) if limit < fanout else set()
        wider = min(fanout, limit + (most - len(found)) // (spreads * len(full))) if full else limit
        if wider > limit:
            again = await read([uid for uid in best if uid in full], wider)
            found = [one for one in found if one.origin not in full] + again
            full = _full(again, wider) if wider < fanout else set()
        if full or len(best) < len(uids):
            self.reached.add(stage)
        return found, full

    def _most(self, *, whole: bool) -> int:
        return max(1, self.edges // WHOLE_NODE) if whole else self.edges


def _full(found: Sequence[Neighbour] | Sequence[WeightedNeighbour], limit: int) -> set[str]:
    """Return the nodes with a spread of which as many edges were read as the limit allows."""
    places = Counter(spread_of(one) if isinstance(one, Neighbour) else (one.origin,) for one in found)
    return {place[0] for place, count in places.items() if count >= limit}
