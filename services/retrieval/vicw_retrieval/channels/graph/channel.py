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

from vicw_retrieval.access.visibility import filter_results
from vicw_retrieval.channels.graph.entity_spread import EntitySpread
from vicw_retrieval.channels.graph.neighbour_lift import lift
from vicw_retrieval.channels.graph.people import reach_memories
from vicw_retrieval.channels.graph.spread import Anchor, ReachedItems, SpreadContext, SpreadPath, by_item
from vicw_retrieval.channels.graph.typed_spread import MIN_WEIGHT, SpreadPlan, name_queries, walk
from vicw_retrieval.ranking.fusion import Candidate, GraphHit, SubGraph, in_order
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.ports import Direction, ItemRef, Spread
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
    names = [question.title_query] if settings.title_match else []
    names += name_queries(question) if settings.graph_weight >= MIN_WEIGHT else []
    names += [question.name_query] if settings.people_match else []
    best = heapq.nsmallest(_PASSAGES, candidates, key=lambda one: (-strengths[one.key], one.key))
    items = list(dict.fromkeys(one.item.uid for one in best[:_ITEMS]))
    passages = list(dict.fromkeys(passage for one in best for passage, _ in one.passages[:1]))
    if items:
        await asyncio.gather(
            graph.find_names(tenant, names, contexts=question.scope.contexts),
            graph.nodes(tenant, [*items, *passages]),
            graph.expand(tenant, items, AROUND, _FANOUT),
        )


TITLE_GAIN = 0.3
"""Gain of a page that the question names, as a share of the best strength."""


async def reach_named_pages(question: SpreadContext, reached: ReachedItems) -> None:
    """Reach the Entity items whose title is in the question."""
    pages = await question.titled(sorted(question.phrases))
    nodes = {node.uid: node for same in pages.values() for node in same if _is_name(node.title or node.name)}
    reached.add_nodes(await filter_results(question.graph, question.scope, list(nodes.values())))
    for uid in reached.nodes:
        reached.paths[uid] = SpreadPath(uid, TITLE_GAIN * question.best, 0, "TITLE", SubGraph.KNOWLEDGE)


def _is_name(title: str) -> bool:
    """Return whether a title is a name, not a common word as functions have (``sort``): questions contain many such."""
    return not (title.isalpha() and title.islower())


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
    spreads.candidates = _ranked(reached, boosts, spreads, question.best)
    raised = {candidate.key: candidate for candidate in spreads.candidates}
    return in_order(raised.get(candidate.key, candidate) for candidate in all_candidates), spreads


def _ranked(
    reached: Sequence[Candidate], boosts: Mapping[str, Mapping[str, float]], spreads: SpreadResults, best: float
) -> list[Candidate]:
    """Return the candidates raised by their ``boosts``, with ``reached``: how they were reached, and with which gain.

    That is their rank by gain, their best way, and the gain as a share of ``best``, at most 1.
    """
    gains = {candidate.key: sum(boosts[candidate.key].values()) for candidate in reached}
    ranks = {one.key: rank for rank, one in enumerate(sorted(reached, key=lambda one: (-gains[one.key], one.key)), 1)}
    return [_raised(one, boosts[one.key], ranks[one.key], gains[one.key], spreads, best) for one in reached]


def _raised(
    candidate: Candidate, boosts: Mapping[str, float], rank: int, gain: float, spreads: SpreadResults, best: float
) -> Candidate:
    score = candidate.strength  # a reached item starts from 0 at least
    for one in boosts.values():
        score += one
    way = spreads.way(candidate.key)
    share = min(1.0, gain / best) if best > 0 else 0.0
    hit = GraphHit(rank, share, way.depth, way.edge_type, way.sub_graph)
    return replace(candidate, score=score, boosts={**candidate.boosts, **boosts}, reached=hit)


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
