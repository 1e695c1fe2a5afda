"""Graph channel, the second wave: items reached from the hits of the first.

Events lift their neighbours, and Entity items pass scores to the pages that they name. The people stage and typed
spreading start from both.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vicw_retrieval.access.result_filter import filter_results
from vicw_retrieval.channels.graph.entity_spread import EntitySpread
from vicw_retrieval.channels.graph.neighbour_lift import lift
from vicw_retrieval.channels.graph.people import reach_memories
from vicw_retrieval.channels.graph.prefetch import prefetch
from vicw_retrieval.channels.graph.spread_context import SpreadContext
from vicw_retrieval.channels.graph.title_match import reach_named_pages
from vicw_retrieval.channels.graph.typed_spread import SpreadPlan, walk
from vicw_retrieval.model.candidates import Candidate, GraphHit, in_order
from vicw_retrieval.model.spread_paths import Anchor, ReachedItems, SpreadPath, SubGraph, by_item
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.ports import ItemRef
from vicw_shared.settings import RetrievalSettings

_ANCHORS = 20
"""Maximum anchors of each label, the best."""
MAX_NEW = 20
"""Maximum items that the channel adds to the other channels' hits."""


@dataclass(slots=True)
class SpreadResults:
    """Results of the spreads of one question; ``seen`` are the reached candidates that the caller may see.

    Partial results count when time runs out.
    """

    named: ReachedItems = field(default_factory=ReachedItems)
    lift: ReachedItems = field(default_factory=ReachedItems)
    bridges: ReachedItems = field(default_factory=ReachedItems)
    people: ReachedItems = field(default_factory=ReachedItems)
    walk: ReachedItems = field(default_factory=ReachedItems)
    in_time: bool = False
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def all(self) -> dict[str, ReachedItems]:
        """The result of each spread by its name."""
        return {name: getattr(self, name) for name in ("named", "lift", "bridges", "people", "walk")}

    async def run(
        self,
        question: SpreadContext,
        candidates: Sequence[Candidate],
        settings: RetrievalSettings,
        registry: EdgeRegistry,
    ) -> None:
        """Reach the pages that the question names, then spread from the best items of each label."""
        await prefetch(question, candidates, settings)
        if settings.title_match:
            await reach_named_pages(question, self.named)
        strengths = dict(question.strengths)
        for uid, reach in self.named.paths.items():
            strengths[uid] = strengths.get(uid, 0.0) + reach.gain
        question = replace(question, strengths=strengths)
        anchors = _anchors(candidates, self.named, strengths)
        spreads: list[Awaitable[None]] = []
        if settings.neighbour_lift and anchors[Label.EVENT]:
            spreads.append(lift(question, anchors[Label.EVENT], self.lift))
        if settings.entity_hops and anchors[Label.ENTITY] and question.similarity.is_known:
            bridges = EntitySpread(question, settings.entity_hops, self.named.paths)
            spreads.append(bridges.reach(anchors[Label.ENTITY], self.bridges))
        starts = by_item(sorted(itertools.chain(*anchors.values()), key=lambda one: (-one.strength, one.key)))
        if settings.people_match:
            spreads.append(reach_memories(question, question.people, starts, self.people))
        if settings.graph_weight:
            plan = SpreadPlan(registry, settings.graph_weight, settings.causal_bias)
            spreads.append(walk(question, starts, plan, self.walk))
        await asyncio.gather(*spreads)

    def boosts(self) -> dict[str, dict[str, float]]:
        """Return the gain of each item from each spread."""
        boosts: dict[str, dict[str, float]] = {}
        for name, reached in self.all.items():
            for uid, reach in reached.paths.items():
                boosts.setdefault(uid, {})[name] = reach.gain
        return boosts

    def gained(self) -> dict[str, list[tuple[str, float]]]:
        """Return the items that each spread raised, by key, with their gains, the largest first."""
        gained: dict[str, list[tuple[str, float]]] = {}
        for name in self.all:
            raised = [(one.key, one.boosts[name]) for one in self.candidates if name in one.boosts]
            if raised:
                gained[name] = sorted(raised, key=lambda one: (-one[1], one[0]))
        return gained

    def move_to_parts(self, candidates: Sequence[Candidate]) -> None:
        """Move what a Macro-Event was reached for to the best of its items among ``candidates``, if any."""
        best: dict[str, str] = {}
        for candidate in candidates:
            if candidate.item.part is not None:
                best.setdefault(candidate.item.uid, candidate.item.part)
        for reached in self.all.values():
            for uid in reached.paths.keys() & best.keys():
                reached.add(replace(reached.paths.pop(uid), uid=best[uid]))

    def way(self, uid: str) -> SpreadPath:
        """Return the best way to a reached item."""
        return max((one.paths[uid] for one in self.all.values() if uid in one.paths), key=lambda way: way.gain)

    def reached(self) -> dict[SubGraph, int]:
        """Return the number of items reached by each sub-graph."""
        ways = [self.way(uid) for uid in self.boosts()]
        return {part: sum(way.sub_graph is part for way in ways) for part in SubGraph}

    def nodes(self) -> dict[str, Node]:
        """Return the nodes read by the spreads."""
        return {uid: node for reached in self.all.values() for uid, node in reached.nodes.items()}


async def run_spreads(
    question: SpreadContext,
    candidates: Sequence[Candidate],
    settings: RetrievalSettings,
    registry: EdgeRegistry,
    seconds: float,
) -> tuple[list[Candidate], SpreadResults]:
    """Return all candidates in their new order, the reached items among them, and the results of the spreads.

    Spreading stops after ``seconds``; what it has reached by then counts.
    """
    spreads = SpreadResults()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await spreads.run(question, candidates, settings, registry)
            spreads.in_time = True
    spreads.move_to_parts(candidates)
    boosts = spreads.boosts()
    known_keys = {candidate.key for candidate in candidates}
    gains = {uid: sum(gained.values()) for uid, gained in boosts.items() if uid not in known_keys}
    all_candidates = [*candidates, *await _new_candidates(question, gains, spreads.nodes())]
    reached = [candidate for candidate in all_candidates if candidate.key in boosts]
    for candidate in reached:
        candidate.score = candidate.strength  # a reached item starts from 0 at least
        for name, gain in boosts[candidate.key].items():
            candidate.boost(name, gain)
    _rank(reached, spreads, question.best)
    spreads.candidates = reached
    return in_order(all_candidates), spreads


def _rank(reached: Sequence[Candidate], spreads: SpreadResults, best: float) -> None:
    """Set ``reached`` of each candidate: rank by gain, best way, and gain as a share of ``best``, at most 1."""
    gains = {
        candidate.key: sum(candidate.boosts[name] for name in spreads.all if name in candidate.boosts)
        for candidate in reached
    }
    for rank, candidate in enumerate(sorted(reached, key=lambda one: (-gains[one.key], one.key)), start=1):
        way = spreads.way(candidate.key)
        score = min(1.0, gains[candidate.key] / best) if best > 0 else 0.0
        candidate.reached = GraphHit(rank, score, way.depth, way.edge_type, way.sub_graph)


def _anchors(
    candidates: Sequence[Candidate], named: ReachedItems, strengths: Mapping[str, float]
) -> dict[Label, list[Anchor]]:
    """Return the anchors by label: the best items with a strength above 0."""
    best: dict[Label, list[Anchor]] = {}
    by_key = {candidate.key: candidate for candidate in candidates}
    for label in (Label.EVENT, Label.ENTITY):
        # Sorted before they are built: few of many candidates become anchors.
        places = [(-strengths[key], key) for key, one in by_key.items() if one.item.label is label]
        best[label] = [_anchor(by_key[key], -less) for less, key in heapq.nsmallest(_ANCHORS, places) if less < 0]
    pages = [
        Anchor(uid, strengths[uid], (node.qdrant_id,))
        for uid, node in named.nodes.items()
        if uid not in by_key and node.qdrant_id is not None
    ]
    best[Label.ENTITY] = heapq.nsmallest(_ANCHORS, best[Label.ENTITY] + pages, key=lambda one: (-one.strength, one.key))
    return best


def _anchor(candidate: Candidate, strength: float) -> Anchor:
    passages = tuple(passage for passage, _ in candidate.passages)
    return Anchor(candidate.item.uid, strength, passages, candidate.item.part)


async def _new_candidates(
    question: SpreadContext, gains: Mapping[str, float], nodes: Mapping[str, Node]
) -> list[Candidate]:
    """Return candidates for reached items that no other channel found, filtered by the scope."""
    best = sorted((uid for uid in gains if uid in nodes), key=lambda uid: (-gains[uid], uid))
    results = await filter_results(question.graph, question.scope, [nodes[uid] for uid in best[: 2 * MAX_NEW]])
    keys = {nodes[uid].qdrant_id: uid for uid in best}
    consolidated = [
        node.qdrant_id for node in results if node.qdrant_id is not None and keys[node.qdrant_id] != node.uid
    ]
    items = await question.graph.owners(question.scope.tenant, consolidated) if consolidated else {}
    return [
        Candidate(items.get(node.qdrant_id) or ItemRef.of(node), 0.0, [(node.qdrant_id, gains[keys[node.qdrant_id]])])
        for node in results[:MAX_NEW]
        if node.qdrant_id is not None
    ]
