"""The graph channel, the second wave: what the hits of the first lead to (seed 002 §4; design section "Read path").

Each spread is for one kind of item: Events lift their neighbours, Entity items hand over to what they name.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace

from vicw_retrieval.candidates import Candidate, in_order
from vicw_retrieval.channels.graph.bridging import Bridges
from vicw_retrieval.channels.graph.lifting import lift
from vicw_retrieval.channels.graph.naming import named_pages
from vicw_retrieval.channels.graph.question import Question
from vicw_retrieval.channels.graph.reach import Anchor, Reach, Reached
from vicw_retrieval.wanted import wanted
from vicw_shared.model import Label, Node
from vicw_shared.ports import ItemRef
from vicw_shared.settings import RetrievalSettings

_ANCHORS = 30
"""Items of a kind that lead on, the best."""
MOST_NEW = 20
"""Items that the channel adds to what the others found (seed 002 §11.2)."""


async def spread(
    question: Question, candidates: Sequence[Candidate], settings: RetrievalSettings
) -> tuple[list[Candidate], dict[str, Reach]]:
    """Return all candidates in their new order, those that were come to among them, and how each was come to.

    What the question names stands first; then all that stands leads on, each kind of item in its way.
    """
    first = await named_pages(question) if settings.named else Reached()
    standings = dict(question.standings)
    for uid, reach in first.ways.items():
        standings[uid] = standings.get(uid, 0.0) + reach.gain
    question = replace(question, standings=standings)
    anchors = _anchors(candidates, first, standings)
    found = [first, *await asyncio.gather(*_spreads(question, anchors, settings))]
    gains: dict[str, float] = {}
    ways: dict[str, Reach] = {}
    for reached in found:
        for uid, reach in reached.ways.items():
            gains[uid] = gains.get(uid, 0.0) + reach.gain
            ways[uid] = max(ways.get(uid, reach), reach, key=lambda way: way.gain)
    for candidate in candidates:
        if gain := gains.pop(candidate.item.uid, 0.0):
            candidate.score = candidate.standing + gain
    nodes = {uid: node for reached in found for uid, node in reached.nodes.items()}
    return in_order([*candidates, *await _new(question, gains, nodes)]), ways


def _spreads(
    question: Question, anchors: Mapping[Label, Sequence[Anchor]], settings: RetrievalSettings
) -> list[Awaitable[Reached]]:
    spreads: list[Awaitable[Reached]] = []
    if settings.lift and anchors[Label.EVENT]:
        spreads.append(lift(question, anchors[Label.EVENT]))
    if settings.bridge_hops and anchors[Label.ENTITY] and question.vector is not None:
        spreads.append(Bridges(question, settings.bridge_hops).reach(anchors[Label.ENTITY]))
    return spreads


def _anchors(
    candidates: Sequence[Candidate], named: Reached, standings: Mapping[str, float]
) -> dict[Label, list[Anchor]]:
    """Return what leads on, by label: the best of what stands."""
    anchors: dict[Label, list[Anchor]] = {Label.EVENT: [], Label.ENTITY: []}
    for candidate in candidates:
        uid = candidate.item.uid
        if standings[uid] > 0 and candidate.item.label in anchors:
            passages = tuple(passage for passage, _ in candidate.passages)
            anchors[candidate.item.label].append(Anchor(uid, standings[uid], passages))
    found = {candidate.item.uid for candidate in candidates}
    for uid, node in named.nodes.items():
        if uid not in found and node.qdrant_id is not None:
            anchors[Label.ENTITY].append(Anchor(uid, standings[uid], (node.qdrant_id,)))
    return {
        label: heapq.nsmallest(_ANCHORS, of_label, key=lambda anchor: (-anchor.standing, anchor.uid))
        for label, of_label in anchors.items()
    }


async def _new(question: Question, gains: Mapping[str, float], nodes: Mapping[str, Node]) -> list[Candidate]:
    """Return candidates for what no other channel found, as far as the caller wants it."""
    best = sorted((uid for uid in gains if uid in nodes), key=lambda uid: (-gains[uid], uid))
    kept = await wanted(question.graph, question.scope, [nodes[uid] for uid in best[: 2 * MOST_NEW]])
    return [
        Candidate(ItemRef.of(node), gains[node.uid], [(node.qdrant_id, gains[node.uid])])
        for node in kept[:MOST_NEW]
        if node.qdrant_id is not None
    ]
