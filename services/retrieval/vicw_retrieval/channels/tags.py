"""Tag-Walker: items that share a tag with a hit but no word with the question.

Anchors are the hits; their tags and buckets lead to related items. Tags with many items are skipped, and a rarer tag
passes on more than a frequent one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from vicw_retrieval.access.visibility import filter_results
from vicw_retrieval.channels.graph.spread import Anchor, SpreadContext
from vicw_retrieval.ranking.fusion import Candidate
from vicw_retrieval.synthesis.text import ANCHOR_SHARE
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.ports import Direction, ItemRef, Neighbour

TAGS = "tags"
_ANCHORS = 10
_TAGS = 20
"""Tags of one anchor that are followed, the heaviest."""
_MAX_ITEMS = 50
"""Maximum items of one tag; a tag with more says nothing. So does one of which the limit of a hop leaves items out."""
_MAX_READ = 200
_AUTO_WEIGHT = 0.6
"""Factor on auto-tags, compared with tags that callers gave."""


@dataclass(frozen=True, slots=True)
class Associate:
    """An item reached over a tag; ``way`` is the edge from the anchor to the tag and that from the item to the tag.

    ``score`` in (0, 1]; the best associate has 1.
    """

    node: Node
    score: float
    anchor: str
    way: tuple[Neighbour, Neighbour]


async def walk_tags(
    question: SpreadContext, anchors: Sequence[Anchor], limit: int, *, auto_tags: bool = False
) -> list[Associate]:
    """Return items that share a tag with ``anchors`` and no word with the question, best first.

    ``auto_tags``: auto-tags are followed, too, with less weight the less certain they are.
    """
    types = ("TAGGED", AUTO_TAGGED) if auto_tags else ("TAGGED",)
    best = anchors[:_ANCHORS]
    strengths = {anchor.uid: anchor.strength for anchor in best}
    if not best or limit <= 0:
        return []
    out = [(name, Direction.OUT) for name in types]
    tag_edges = await question.graph.expand(question.scope.tenant, list(strengths), out, _TAGS)
    hits = {anchor.uid for anchor in anchors}
    items_by_tag = await _items_by_tag(question, {tag.node.uid for tag in tag_edges}, hits, types)
    scores: dict[str, float] = {}
    ways: dict[str, tuple[float, Neighbour, Neighbour]] = {}
    for tag in tag_edges:
        items = items_by_tag.get(tag.node.uid, ())
        for item in items:
            certainty = _certainty(tag.edge) * _certainty(item.edge)
            gain = certainty * strengths[tag.origin] / math.log(1 + len(items) + 1)
            uid = item.node.uid
            scores[uid] = scores.get(uid, 0.0) + gain
            ways[uid] = max(ways.get(uid, (gain, tag, item)), (gain, tag, item), key=lambda way: way[0])
    nodes = {item.node.uid: item.node for items in items_by_tag.values() for item in items}
    unmatched = await _without_words(question, [nodes[uid] for uid in scores])
    chosen = sorted(unmatched, key=lambda node: (-scores[node.uid], node.uid))[:limit]
    best_score = scores[chosen[0].uid] if chosen else 0.0
    return [
        Associate(node, scores[node.uid] / best_score, ways[node.uid][1].origin, ways[node.uid][1:])
        for node in chosen
        if best_score > 0
    ]


async def _items_by_tag(
    question: SpreadContext, tags: Collection[str], hits: Collection[str], types: Sequence[str]
) -> dict[str, list[Neighbour]]:
    """Return the items of each tag, without the hits; generic tags have none."""
    graph, scope = question.graph, question.scope
    spreads = [(name, Direction.IN) for name in types]

    async def read(tags: Sequence[str], limit: int) -> list[Neighbour]:
        return await question.visibility.expand(tags, spreads, limit)

    neighbours, generic = await question.hop_limit.whole(TAGS, sorted(tags), len(spreads), _MAX_ITEMS + 1, read)
    counts: dict[str, int] = {}
    items = [one for one in neighbours if one.node.content_hash is not None]
    for one in items:
        counts[one.origin] = counts.get(one.origin, 0) + 1
    generic |= {tag for tag, count in counts.items() if count > _MAX_ITEMS}
    others = [one for one in items if one.node.uid not in hits and one.origin not in generic]
    allowed = {node.uid for node in await filter_results(graph, scope, [one.node for one in others])}
    by_tag: dict[str, list[Neighbour]] = {}
    for one in others:
        if one.node.uid in allowed:
            by_tag.setdefault(one.origin, []).append(one)
    return by_tag


def _certainty(edge: Edge) -> float:
    """Return the share that an edge to a tag passes on: 1 for a tag that a caller gave."""
    certainty = edge.properties.get("certainty")
    return _AUTO_WEIGHT * certainty if edge.type == AUTO_TAGGED and isinstance(certainty, int | float) else 1.0


async def _without_words(question: SpreadContext, nodes: Sequence[Node]) -> list[Node]:
    """Keep the items without a query term in their first passage: the channels search for the others."""
    by_passage = {node.qdrant_id: node for node in nodes[:_MAX_READ] if node.qdrant_id is not None}
    matching = await question.similarity.matching(list(by_passage))
    return [node for proof, node in by_passage.items() if proof not in matching]


def add_associates(top: Sequence[Candidate], associates: Sequence[Associate], limit: int) -> list[Candidate]:
    """Return the results: associates take free places, and those of anchors no better than an average candidate.

    Associates get at most three in ten of all places.
    """
    room = int(limit * (1 - ANCHOR_SHARE))
    weak = sum(candidate.strength <= 0 for candidate in top[limit - room :]) if len(top) > limit - room else 0
    taken = associates[: max(0, min(room, limit - len(top) + weak))]
    anchors = list(top[: limit - len(taken)])
    lowest = anchors[-1].score if anchors else 0.0
    for rank, one in enumerate(taken, start=1):
        score = lowest * one.score if lowest > 0 else lowest - (1 - one.score)
        passages = [(one.node.qdrant_id, score)] if one.node.qdrant_id is not None else []
        anchors.append(Candidate(ItemRef.of(one.node), score, passages, "associative", tagged=(rank, one.score)))
    return anchors
