"""The graph channel, the second wave: what the hits of the first lead to (seed 002 §4; design section "Read path").

Each spread is for one kind of item: Events lift their neighbours, Entity items hand over to what they name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicw_retrieval.candidates import Candidate, in_order
from vicw_retrieval.channels.graph.bridging import Bridges
from vicw_retrieval.channels.graph.lifting import lift
from vicw_retrieval.channels.graph.reach import Anchor, Reach, Reached
from vicw_retrieval.sight import Sight
from vicw_retrieval.wanted import wanted
from vicw_shared.model import Label
from vicw_shared.ports import GraphStore, ItemRef, Scope, VectorStore
from vicw_shared.settings import RetrievalSettings

_ANCHORS = 30
"""Items of a kind that lead on, the best."""
MOST_NEW = 20
"""Items that the channel adds to what the others found (seed 002 §11.2)."""


@dataclass(frozen=True, slots=True)
class GraphChannel:
    """The spreads of one question. ``vector`` None: no model answered, so what needs one is left out."""

    graph: GraphStore
    vectors: VectorStore
    scope: Scope
    settings: RetrievalSettings
    query: str
    vector: NDArray[np.float32] | None

    async def spread(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], dict[str, Reach]]:
        """Return all candidates in their new order, those that were come to among them, and how each was come to."""
        spreads = self._spreads(candidates)
        found = await asyncio.gather(*spreads)
        gains: dict[str, float] = {}
        ways: dict[str, Reach] = {}
        for reached in found:
            for uid, reach in reached.ways.items():
                gains[uid] = gains.get(uid, 0.0) + reach.gain
                ways[uid] = max(ways.get(uid, reach), reach, key=lambda way: way.gain)
        known = {candidate.item.uid: candidate for candidate in candidates}
        for uid, candidate in known.items():
            if uid in gains:
                candidate.score = candidate.standing + gains[uid]
        new = await self._new(gains, known, found)
        return in_order([*candidates, *new]), ways

    def _spreads(self, candidates: Sequence[Candidate]) -> list[Awaitable[Reached]]:
        sight = Sight(self.graph, self.scope)
        events, knowledge = (_anchors(candidates, label) for label in (Label.EVENT, Label.ENTITY))
        spreads: list[Awaitable[Reached]] = []
        if self.settings.lift and events:
            spreads.append(lift(self.graph, sight, events))
        if self.settings.bridge_hops and knowledge and self.vector is not None:
            hops = self.settings.bridge_hops
            bridges = Bridges(self.graph, self.vectors, sight, self.query, self.vector, hops)
            spreads.append(bridges.reach(knowledge))
        return spreads

    async def _new(
        self, gains: dict[str, float], known: dict[str, Candidate], found: Sequence[Reached]
    ) -> list[Candidate]:
        """Return candidates for what no other channel found, as far as the caller wants it."""
        nodes = {uid: node for reached in found for uid, node in reached.nodes.items()}
        best = sorted((uid for uid in gains if uid not in known and uid in nodes), key=lambda uid: (-gains[uid], uid))
        kept = await wanted(self.graph, self.scope, [nodes[uid] for uid in best[: 2 * MOST_NEW]])
        return [
            Candidate(ItemRef.of(node), gains[node.uid], [(node.qdrant_id, gains[node.uid])])
            for node in kept[:MOST_NEW]
            if node.qdrant_id is not None
        ]


def _anchors(candidates: Sequence[Candidate], label: Label) -> list[Anchor]:
    """Return the best candidates of a label that have anything to hand on."""
    of_label = [candidate for candidate in candidates if candidate.item.label is label and candidate.standing > 0]
    return [
        Anchor(candidate.item.uid, candidate.standing, tuple(passage for passage, _ in candidate.passages))
        for candidate in of_label[:_ANCHORS]
    ]
