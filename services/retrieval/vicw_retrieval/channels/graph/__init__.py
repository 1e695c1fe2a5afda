"""The graph channel, the second wave: what the hits of the first lead to (seed 002 §4; design section "Read path").

Each spread is for one kind of item: Events lift their neighbours, Entity items hand over to what they name.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vicw_retrieval.candidates import Candidate, in_order
from vicw_retrieval.channels.graph.bridging import Bridges
from vicw_retrieval.channels.graph.lifting import lift
from vicw_retrieval.channels.graph.naming import named_pages
from vicw_retrieval.channels.graph.question import Question
from vicw_retrieval.channels.graph.reach import Anchor, Reach, Reached
from vicw_retrieval.channels.people import known_of_people
from vicw_retrieval.wanted import wanted
from vicw_shared.model import Label, Node
from vicw_shared.ports import ItemRef
from vicw_shared.settings import RetrievalSettings

_ANCHORS = 30
"""Items of a kind that lead on, the best."""
MOST_NEW = 20
"""Items that the channel adds to what the others found (seed 002 §11.2)."""


@dataclass(slots=True)
class Spread:
    """What the spreads of one question came to. It stands as far as it goes when time runs out."""

    named: Reached = field(default_factory=Reached)
    lifted: Reached = field(default_factory=Reached)
    bridged: Reached = field(default_factory=Reached)
    people: Reached = field(default_factory=Reached)

    @property
    def all(self) -> tuple[Reached, ...]:
        """Each spread's own."""
        return self.named, self.lifted, self.bridged, self.people

    async def run(self, question: Question, candidates: Sequence[Candidate], settings: RetrievalSettings) -> None:
        """Let what the question names stand first; then all that stands leads on, each kind of item in its way."""
        if settings.named:
            await named_pages(question, self.named)
        standings = dict(question.standings)
        for uid, reach in self.named.ways.items():
            standings[uid] = standings.get(uid, 0.0) + reach.gain
        question = replace(question, standings=standings)
        anchors = _anchors(candidates, self.named, standings)
        spreads: list[Awaitable[None]] = []
        if settings.lift and anchors[Label.EVENT]:
            spreads.append(lift(question, anchors[Label.EVENT], self.lifted))
        if settings.bridge_hops and anchors[Label.ENTITY] and question.likeness.tells:
            spreads.append(Bridges(question, settings.bridge_hops).reach(anchors[Label.ENTITY], self.bridged))
        if settings.people and question.people:
            spreads.append(known_of_people(question, question.people, self.people))
        await asyncio.gather(*spreads)

    def gains(self) -> tuple[dict[str, float], dict[str, Reach]]:
        """Return what each item gets of all spreads, and its best way."""
        gains: dict[str, float] = {}
        ways: dict[str, Reach] = {}
        for uid, reach in ((uid, reach) for reached in self.all for uid, reach in reached.ways.items()):
            gains[uid] = gains.get(uid, 0.0) + reach.gain
            ways[uid] = max(ways.get(uid, reach), reach, key=lambda way: way.gain)
        return gains, ways

    def nodes(self) -> dict[str, Node]:
        """Return the nodes that were read."""
        return {uid: node for reached in self.all for uid, node in reached.nodes.items()}


async def spread(
    question: Question, candidates: Sequence[Candidate], settings: RetrievalSettings
) -> tuple[list[Candidate], bool]:
    """Return all candidates in their new order, those that were come to among them, and whether the time sufficed.

    What is found within ``settings.spread_ms`` counts.
    """
    found, in_time = Spread(), True
    try:
        async with asyncio.timeout(settings.spread_ms / 1000):
            await found.run(question, candidates, settings)
    except TimeoutError:
        in_time = False
    gains, _ = found.gains()
    for candidate in candidates:
        if gain := gains.pop(candidate.item.uid, 0.0):
            candidate.score = candidate.standing + gain
    return in_order([*candidates, *await _new(question, gains, found.nodes())]), in_time


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
