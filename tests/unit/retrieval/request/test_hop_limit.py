"""What one hop reads is bounded by counts: an even share of each node first, and what is left for the hubs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from support.stores.graph_records import AT, edge, node
from vicw_retrieval.access.visibility import Visibility
from vicw_retrieval.request.hop_limit import WHOLE_NODE, HopLimit
from vicw_shared.model import Label
from vicw_shared.ports import Direction, Neighbour, Scope, Spread, WeightedNeighbour
from vicw_shared.uids import make_uid

MENTIONED = ("MENTIONS", Direction.IN)


class Stars:
    """A graph in which each node has so many edges; it counts the edges that it returns, and its reads."""

    def __init__(self, **edges: int) -> None:
        self._edges = edges
        self.returned = 0
        self.reads: list[tuple[tuple[str, ...], int]] = []

    async def weighted_neighbours(
        self, _: str, uids: Sequence[str], spread: Spread, limit: int
    ) -> list[WeightedNeighbour]:
        assert spread == MENTIONED
        self.reads.append((tuple(uids), limit))
        counts = {uid: min(limit, self._edges[uid]) for uid in uids}
        self.returned += sum(counts.values())
        return [
            WeightedNeighbour(uid, make_uid(f"{uid} {n}"), Label.ENTITY, f"{uid} {n}", True, 1.0)
            for uid, count in counts.items()
            for n in range(count)
        ]


async def leads(graph: Any, limit: HopLimit, *uids: str, fanout: int = 64) -> dict[str, int]:
    found = await limit.leads("bridges", graph, "t", uids, MENTIONED, fanout)
    return {uid: sum(lead.origin == uid for lead in found) for uid in uids}


async def test_a_hop_within_its_limit_takes_one_read() -> None:
    graph, limit = Stars(a=3, hub=500), HopLimit(200)
    assert await leads(graph, limit, "a", "hub") == {"a": 3, "hub": 64}
    assert graph.reads == [(("a", "hub"), 64)]
    assert limit.reached == set(), "64 edges of a node are all that is wanted"


async def test_hubs_get_what_other_nodes_leave() -> None:
    few = {f"n{n}": 1 for n in range(9)}
    graph, limit = Stars(**few, hub=40), HopLimit(100)
    assert await leads(graph, limit, *few, "hub") == {**few, "hub": 40}
    assert graph.reads == [((*few, "hub"), 10), (("hub",), 64)]
    assert limit.reached == set(), "nothing was left out"


async def test_hubs_of_any_size_cost_no_more_than_the_limit() -> None:
    hubs = {f"hub{n}": 100_000 for n in range(50)}
    graph, limit = Stars(**hubs), HopLimit(1000)
    assert set((await leads(graph, limit, *hubs)).values()) == {20}
    assert graph.returned == 1000
    assert limit.reached == {"bridges"}


async def test_more_nodes_than_edges_leave_out_the_last() -> None:
    nodes = {f"n{n:03}": 100_000 for n in range(300)}
    graph, limit = Stars(**nodes), HopLimit(100)
    found = await leads(graph, limit, *nodes)
    assert [uid for uid, count in found.items() if count] == list(nodes)[:100]
    assert graph.returned == 100
    assert limit.reached == {"bridges"}


async def test_whole_nodes_count_for_more() -> None:
    read: list[int] = []
    origin = node("origin")

    async def expand(uids: Sequence[str], limit: int) -> list[Neighbour]:
        read.append(limit * len(uids))
        return [
            Neighbour(uid, edge("CAUSED", "origin", f"other {n}"), node(f"other {n}"))
            for uid in uids
            for n in range(limit)
        ]

    limit = HopLimit(400)
    found, cut = await limit.whole("causal_chains", [origin.uid], 1, 1000, expand)
    assert read == [400 // WHOLE_NODE]
    assert (len(found), cut, limit.reached) == (400 // WHOLE_NODE, {origin.uid}, {"causal_chains"})


@pytest.mark.parametrize(("most", "wanted"), [(None, [2, 16, 128, 1000]), (300, [2, 16, 128, 300]), (1, [2])])
async def test_the_search_for_visible_edges_among_hidden_ones_is_bounded(most: int | None, wanted: list[int]) -> None:
    limits: list[int] = []
    hub, hidden = node("hub"), node("hidden", Label.EVENT, retired_at=AT)

    class Hidden:
        async def expand(self, _: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int) -> list[Neighbour]:
            limits.append(limit)
            return [Neighbour(uid, edge("CAUSED", "hidden", "hub"), hidden) for uid in uids for _ in range(limit)]

        async def nodes(self, *_: Any) -> dict[str, Any]:
            return {}

    graph: Any = Hidden()
    visibility = Visibility(graph, Scope(tenant="t", now=AT), most_edges=most)
    assert await visibility.expand([hub.uid], [("CAUSED", Direction.IN)], 2) == []
    assert limits == wanted
