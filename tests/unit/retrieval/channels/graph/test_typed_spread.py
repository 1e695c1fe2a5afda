"""Typed edges lead on, two steps at most, through the causal and the knowledge sub-graph (seed 002 §5 and §8.2)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from support.stores.graph_records import AT, edge, node
from support.stores.memory import Memory
from vicw_retrieval.channels.graph import typed_spread
from vicw_retrieval.channels.graph.spread import ReachedItems, SpreadContext
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.ranking.fusion import SubGraph
from vicw_retrieval.request.hop_limit import HopLimit
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.ports import Neighbour, Scope, Spread, WeightedNeighbour
from vicw_shared.settings import RetrievalSettings
from vicw_shared.uids import make_uid
from vicw_shared.wire.retrieve import Result, RetrieveRequest, RetrieveResponse

OFF = {
    "title_match": False,
    "neighbour_lift": False,
    "entity_hops": 0,
    "people_match": False,
    "speaker_boost": False,
    "spread_ms": 20_000,
}
FILLER = tuple({"id": f"f{n}", "text": f"The pantry list, line {n}: rain, bread, socks {n}."} for n in range(60))
PASSAGE = make_uid("passage")
SEEDS = {make_uid(f"seed {number}"): "none" for number in range(25)}
QUERY = "The server throws an error"


def item_with_relations(uid: str, text: str, *relations: tuple[str, str, str]) -> dict[str, Any]:
    edges = [{"source": source, "type": kind, "target": target} for source, kind, target in relations]
    return {"id": uid, "text": text, "timestamp": "2026-01-01T00:00:00Z", "extraction": {"relations": edges}}


CHAIN = (
    item_with_relations("root", "Somebody moved boxes over a cable."),
    item_with_relations("middle", "Room two went dark.", ("root", "CAUSED", "middle")),
    item_with_relations("effect", "The server throws an error today.", ("middle", "CAUSED", "effect")),
)


async def ask(memory: Memory, query: str = QUERY, **settings: Any) -> RetrieveResponse:
    fields = settings.pop("fields", {})
    read = RetrievalSettings.model_validate(OFF | {"graph_weight": 0.3} | settings)
    request = RetrieveRequest.model_validate({"query": query, "limit": 30, "explain": True, **fields})
    return await retrieve(request, memory.tenant, replace(memory.standalone.retrieval_ports(), settings=read))


def by_id(answer: RetrieveResponse) -> dict[str | None, Result]:
    return {result.id: result for result in answer.results}


def way(result: Result) -> tuple[int | None, str | None, str | None] | None:
    return next(((h.depth, h.edge_type, h.sub_graph) for h in result.channels if h.channel == "graph"), None)


async def test_causes_are_reached_and_report_their_depth_and_edge_type(memory: Memory) -> None:
    await memory.ingest(*CHAIN, *FILLER)
    flat, walked = by_id(await ask(memory, graph_weight=0.0)), by_id(await ask(memory))
    assert way(walked["middle"]) == (1, "CAUSED", "causal")
    assert way(walked["root"]) == (2, "CAUSED", "causal")
    assert walked["effect"].rank == 1
    for uid in ("middle", "root"):
        assert walked[uid].rank < (flat[uid].rank if uid in flat else 99)
    scores = {uid: next(h.score for h in walked[uid].channels if h.channel == "graph") for uid in ("middle", "root")}
    assert 1 >= scores["middle"] > scores["root"] > 0
    answer = await ask(memory)
    assert answer.explain is not None
    assert answer.explain.boosts[walked["middle"].uid].keys() == {"walk"}


@pytest.mark.parametrize(
    ("settings", "found"), [({"causal_bias": 0.0}, False), ({"graph_weight": 0.04}, False), ({}, True)]
)
async def test_causal_bias_and_graph_weight_decide_if_causes_are_reached(
    memory: Memory, settings: dict[str, Any], found: bool
) -> None:
    await memory.ingest(*CHAIN, *FILLER)
    results = by_id(await ask(memory, **settings))
    assert ("root" in results and way(results["root"]) is not None) is found


async def test_a_page_link_leads_to_the_linked_page(memory: Memory) -> None:
    def page(name: str, text: str) -> dict[str, Any]:
        return {"id": name, "text": f"# {name}\n\n{text}", "page": {"folder": "docs", "path": f"{name.lower()}.md"}}

    pages = (page("Runbook", "The server throws an error: see [[Cabling]]."), page("Cabling", "Boxes are kept away."))
    await memory.ingest(*pages, *FILLER)
    results = by_id(await ask(memory, causal_bias=0.0))
    depth, edge_type, sub_graph = way(results["Cabling"]) or (None, None, None)
    assert (depth, edge_type, sub_graph) == (1, "LINKS_TO", "knowledge")


async def test_a_typed_spread_starts_at_an_entity_named_in_the_question(memory: Memory) -> None:
    extraction = {
        "entities": [{"id": "g", "name": "Quibblegate", "subtype": "service"}],
        "relations": [{"source": "g", "type": "INITIATED", "target": "act"}],
    }
    act = {"id": "act", "text": "Twelve rows went away.", "timestamp": "2026-01-01T00:00:00Z", "extraction": extraction}
    await memory.ingest(act, *FILLER)
    results = by_id(await ask(memory, "what about Quibblegate then"))
    assert way(results["act"]) == (1, "INITIATED", "causal")


async def test_typed_spread_does_not_pass_through_hidden_items(memory: Memory) -> None:
    chain = [dict(item) for item in CHAIN]
    chain[1] |= {"sensitivity": "sensitive", "about": ["Mara"]}
    await memory.ingest(*chain, *FILLER)
    viewer = {"viewer": {"user": "Ben"}}
    hidden, flat = [by_id(await ask(memory, graph_weight=w, fields=viewer)) for w in (0.3, 0.0)]
    assert "middle" not in hidden
    assert {uid: r.rank for uid, r in hidden.items()} == {uid: r.rank for uid, r in flat.items()}
    assert all(way(result) is None for result in hidden.values())


async def test_a_crowded_node_spreads_weakly_to_at_most_twenty_items(memory: Memory) -> None:
    many = [item_with_relations(f"m{n}", f"Room {n} went dark.") for n in range(40)]
    edges = [(f"m{n}", "CAUSED", "effect") for n in range(40)]
    await memory.ingest(*many, item_with_relations("effect", "The server throws an error today.", *edges), *FILLER)
    answer = await ask(memory, fields={"limit": 100})
    ways = [h.score for r in answer.results for h in r.channels if h.channel == "graph" and h.depth]
    assert 0 < len(ways) <= 20
    assert max(ways) < 0.3


PLAN = typed_spread.SpreadPlan(EdgeRegistry.with_core_types(), weight=0.3, bias=0.5)
TYPES = {SubGraph.CAUSAL: "CAUSED", SubGraph.KNOWLEDGE: "LINKS_TO"}


class StarGraph:
    """A graph where one edge of each sub-graph leads on from each of the first seeds, with a gain; None: no answer."""

    def __init__(self, found: dict[SubGraph, tuple[int, float] | None]) -> None:
        self._found = found
        self._nodes = {PASSAGE: node("passage", Label.CHUNK)}

    async def nodes(self, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        return {uid: self._nodes[uid] for uid in uids if uid in self._nodes}

    async def find_names(self, *_: object, **__: object) -> tuple[dict[str, list[Node]], ...]:
        return {}, {}, {}

    async def weighted_neighbours(self, *_: object) -> list[WeightedNeighbour]:
        return []

    async def expand(self, tenant: str, uids: Sequence[str], spreads: list[Spread], limit: int) -> list[Neighbour]:
        part = next((part for part in SubGraph if PLAN.spreads(part) == spreads), None)
        if part is None or make_uid("seed 0") not in uids:
            return []  # both at once, or the second hop
        if (found := self._found[part]) is None:
            await asyncio.Event().wait()
        assert found is not None
        count, gain = found
        neighbours = []
        for number in range(count):
            one = node(f"{part} {number}", content_hash="h", qdrant_id=PASSAGE)
            way = replace(edge(TYPES[part], f"seed {number}", one.name), weight=gain, properties={})
            neighbours.append(Neighbour(way.source, way, one))
            self._nodes[one.uid] = one
        return neighbours


@pytest.mark.parametrize(
    ("causal", "knowledge", "come_to"),
    [
        ((25, 0.6), None, {SubGraph.CAUSAL: 20}),  # the list is full of high scores: nobody waits for the other
        ((25, 0.4), (5, 0.4), {SubGraph.CAUSAL: 10, SubGraph.KNOWLEDGE: 5}),
        ((19, 0.9), (25, 0.9), {SubGraph.CAUSAL: 10, SubGraph.KNOWLEDGE: 10}),
        (None, (5, 0.4), {SubGraph.KNOWLEDGE: 5}),  # what one has found counts when time is over
    ],
)
async def test_typed_spread_ends_early_when_the_first_sub_graph_fills_up(
    causal: tuple[int, float] | None,
    knowledge: tuple[int, float] | None,
    come_to: dict[SubGraph, int],
) -> None:
    graph: Any = StarGraph({SubGraph.CAUSAL: causal, SubGraph.KNOWLEDGE: knowledge})
    likeness: Any = None
    question = SpreadContext(
        graph, likeness, Scope(tenant="t", now=AT), "", {"x": 1.0}, HopLimit(6400), triggered=SEEDS
    )
    reached = ReachedItems()
    waited = asyncio.wait_for(typed_spread.walk(question, (), PLAN, reached), 0.5)
    if causal is None:
        with pytest.raises(TimeoutError):
            await waited
    else:
        await waited
    assert Counter(way.sub_graph for way in reached.paths.values()) == come_to
