"""Typed spreading along edges of the causal and the knowledge sub-graph.

Both sub-graphs are walked at the same time, from the entities that the question names and from its results. An edge
passes on weight × certainty, half of it at the second hop, divided by 1 + ln n where n edges of its type and direction
leave the node. Scores of reached nodes are carried to their items.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vicw_core.graph.edge_factory import DREAM
from vicw_retrieval.access.visibility import counted, known_by, spread_of
from vicw_retrieval.channels.graph.item_nodes import carry_to_items, nodes_of_items
from vicw_retrieval.channels.graph.spread import Anchor, ReachedItems, SpreadContext, SpreadPath
from vicw_retrieval.ranking.fusion import SubGraph
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.model.edges import Category
from vicw_shared.model.names import ATTRIBUTE, MAX_NAMESAKES
from vicw_shared.ports import Direction, NameMatch, NameQuery, Neighbour, Spread

HOPS = 2
BOOST = 1.5
"""Factor on the channel's weight."""
MAX_ITEMS = 20
"""Maximum items reached by both sub-graphs together."""
MIN_WEIGHT = 0.05
"""Channel weight below which nothing is walked."""
PART_OF_NAME = 0.5
"""Seed score of an entity if the question contains only a part of its name."""
_UNAMBIGUOUS = 1
"""Maximum entities that a part of a name may match to be unambiguous."""
_MAX_KNOWN_BY = 200
"""Maximum edges read per entity to find one by which the viewer knows it."""
_HIGH = 0.5
"""Score of the last place from which on the other sub-graph could hardly improve the list."""
_DAMPING = 0.5
_ANCHORS = 10
_FANOUT = 10
_FRONT = 60
_SPARE = 3
"""Factor on the items that are read for each place: some may be invisible or filtered out."""


_CATEGORIES = {
    SubGraph.CAUSAL: {Category.CAUSAL, Category.CONFLICT, Category.SUPPORT, Category.LINEAGE, Category.AGENCY},
    SubGraph.KNOWLEDGE: {Category.STRUCTURAL, Category.DEPENDENCY, Category.SEMANTIC, Category.BRIDGE},
}
_LOCATION_TYPES = frozenset({"BELONGS_TO", "EVIDENCED_BY"})
"""Structural edges of location: they lead to everything in the same place."""


@dataclass(frozen=True, slots=True)
class SpreadPlan:
    """Edge types, the channel's ``weight``, and the causal sub-graph's share of the places (``bias``).

    Edges created by dreams are not followed.
    """

    registry: EdgeRegistry
    weight: float
    bias: float

    def spreads(self, part: SubGraph) -> list[Spread]:
        """Return the spreads of a sub-graph."""
        names = [t.name for t in self.registry if t.category in _CATEGORIES[part] and t.name not in _LOCATION_TYPES]
        return [(name, direction) for name in names for direction in Direction]

    def places(self, part: SubGraph) -> int:
        """Return the maximum number of items that a sub-graph may reach."""
        causal = math.ceil(MAX_ITEMS * self.bias)
        return causal if part is SubGraph.CAUSAL else MAX_ITEMS - causal


async def walk(question: SpreadContext, anchors: Sequence[Anchor], plan: SpreadPlan, reached: ReachedItems) -> None:
    """Reach the items to which typed edges lead from ``anchors`` and from the question's entities, best first.

    The sub-graph with more places comes first, the causal one if equal. If it fills the whole list with high scores,
    the other is cancelled. On cancellation, the results of each finished sub-graph count.
    """
    seeds = await _seeds(question, anchors, plan.registry) if plan.weight >= MIN_WEIGHT else {}
    parts = sorted((part for part in SubGraph if plan.places(part) > 0 and seeds), key=lambda part: -plan.places(part))
    await _first_hop(question, seeds, plan, parts)
    running = {part: asyncio.create_task(_walk_part(question, seeds, plan, part)) for part in parts}
    places = {part: plan.places(part) for part in parts}
    try:
        for part, task in running.items():
            items = await task
            if part is parts[0] and len(items) >= MAX_ITEMS and items[MAX_ITEMS - 1][1].gain >= _HIGH:
                places = {part: MAX_ITEMS}
                break
    finally:
        for task in running.values():
            task.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)
        for part, limit in places.items():
            task = running[part]
            if not task.cancelled() and task.exception() is None:
                _add_items(question, task.result()[:limit], plan, reached)


async def _first_hop(
    question: SpreadContext, seeds: Mapping[str, float], plan: SpreadPlan, parts: Sequence[SubGraph]
) -> None:
    """Read the first hop of all sub-graphs at once, into the graph cache: they start from the same seeds."""
    spreads = [spread for part in parts for spread in plan.spreads(part)]
    if spreads:
        await question.graph.expand(question.scope.tenant, _front(seeds, seeds, 1), spreads, _FANOUT)


def _front(scores: Mapping[str, float], among: Iterable[str], depth: int) -> list[str]:
    """Return the nodes from which the walk continues: the best, fewer with each hop."""
    return sorted(among, key=lambda uid: (-scores[uid], uid))[: _FRONT * (3 - depth)]


async def _walk_part(
    question: SpreadContext, seeds: Mapping[str, float], plan: SpreadPlan, part: SubGraph
) -> list[tuple[Node, SpreadPath]]:
    """Walk one sub-graph; return the items that it reaches, best first."""
    ways = await _spread(question, seeds, plan, part)
    items = await carry_to_items(question, ways, _SPARE * plan.places(part))
    return sorted(items, key=lambda entry: (-entry[1].gain, entry[0].uid))


def _add_items(
    question: SpreadContext, items: Sequence[tuple[Node, SpreadPath]], plan: SpreadPlan, reached: ReachedItems
) -> None:
    for item, way in items:
        reached.add_nodes([item])
        gain = BOOST * plan.weight * question.best * way.gain
        reached.add(replace(way, uid=item.uid, gain=gain))


async def _seeds(question: SpreadContext, anchors: Sequence[Anchor], registry: EdgeRegistry) -> dict[str, float]:
    """Return the nodes from which the walk starts, each with a score in [0, 1].

    These are the entities that the question names, the items with its trigger phrases, the best anchors, and the
    further nodes of these items.
    """
    best = question.best or 1.0
    item_scores = {anchor.uid: min(1.0, anchor.strength / best) for anchor in anchors[:_ANCHORS]}
    item_scores |= dict.fromkeys(question.triggered, 1.0)
    passages = {passage: anchor.uid for anchor in anchors[:_ANCHORS] for passage in anchor.passages}
    passages |= {passage: uid for uid, passage in question.triggered.items()}
    within, named = await asyncio.gather(
        nodes_of_items(question, list(item_scores), passages), _named(question, registry)
    )
    seeds = {uid: item_scores[item] for uid, item in within.items() if item in item_scores} | item_scores
    return {uid: max(seeds.get(uid, 0.0), named.get(uid, 0.0)) for uid in [*named, *seeds]}


def name_queries(question: SpreadContext) -> list[NameQuery]:
    """Return the look-ups of the entities that the question may name: by whole name, by a word, by a beginning."""
    # Entities unknown to a viewer do not make a name ambiguous, so more must be read.
    limit = _UNAMBIGUOUS + 1 if question.scope.audience is None else MAX_NAMESAKES
    return [
        question.name_query,
        NameQuery(NameMatch.WORD, tuple(question.words), limit),
        NameQuery(NameMatch.BEGINNING, tuple(question.beginnings)),
    ]


async def _named(question: SpreadContext, registry: EdgeRegistry) -> dict[str, float]:
    """Return the entities that the question names by the whole name, a word of it, or the beginning of a word.

    Only entities known to the viewer count. Beginnings are used for words that match in no other way.
    """
    scope = question.scope
    by_name, by_word, by_beginning = await question.graph.find_names(
        scope.tenant, name_queries(question), contexts=scope.contexts
    )
    for word, same in by_beginning.items():
        if word not in by_name and word not in by_word:
            by_word[word] = [node for node in same if node.subtype != ATTRIBUTE]
    entities = {node.uid: node for same in (*by_name.values(), *by_word.values()) for node in same}
    known_uids = {
        node.uid
        for node in await question.visibility.known(list(entities.values()), known_by(registry), most=_MAX_KNOWN_BY)
    }
    known_by_word = [[node.uid for node in same if node.uid in known_uids] for same in by_word.values()]
    scores = {uid: PART_OF_NAME for same in known_by_word if len(same) <= _UNAMBIGUOUS for uid in same}
    return scores | {node.uid: 1.0 for same in by_name.values() for node in same if node.uid in known_uids}


async def _spread(
    question: SpreadContext, seeds: Mapping[str, float], plan: SpreadPlan, part: SubGraph
) -> list[tuple[Node, SpreadPath]]:
    """Return the nodes of a sub-graph within two hops, each by its best way; the score is its ``gain``."""
    spreads = plan.spreads(part)
    scores, front = dict(seeds), list(seeds)
    ways: dict[str, tuple[Node, SpreadPath]] = {}
    for depth in range(1, HOPS + 1):
        best = _front(scores, front, depth)
        neighbours = await question.visibility.expand(best, spreads, _FANOUT)
        neighbours = [one for one in neighbours if one.edge.created_by != DREAM]
        counts = counted(neighbours)
        passed_on = {uid: scores[uid] * (_DAMPING if depth > 1 else 1.0) for uid in best}
        front = []
        for one in neighbours:
            uid, score = one.node.uid, passed_on[one.origin] * _share(one, counts[spread_of(one)])
            if score > scores.get(uid, 0.0):
                scores[uid] = score
                ways[uid] = one.node, SpreadPath(uid, score, depth, one.edge.type, part)
                front.append(uid)
        front = list(dict.fromkeys(front))
    return list(ways.values())


def _share(neighbour: Neighbour, count: int) -> float:
    """Return what an edge passes on: weight × certainty ÷ (1 + ln of the number of its kind at the node)."""
    certainty = neighbour.edge.properties.get("certainty")
    return (
        neighbour.edge.weight
        * (float(certainty) if isinstance(certainty, int | float) else 1.0)
        / (1 + math.log(count))
    )
