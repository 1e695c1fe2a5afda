"""Lift along NEXT: what is said next to a hit is understood with it (design: "What was tried", NEXT lift).

The best of an Event's neighbours counts, not their sum: a long thread must not outweigh a short one. A short turn of a
chat needs its neighbours to be understood, a long message does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vicw_retrieval.channels.graph.question import Question
from vicw_retrieval.reach import Anchor, Reach, Reached, SubGraph
from vicw_shared.model import Node
from vicw_shared.ports import Direction, Neighbour, Spread

SHARES = (0.5, 0.25)
"""What of an Event's standing its neighbours have, at a distance of one and two."""
_NEXT: tuple[Spread, ...] = (("NEXT", Direction.OUT), ("NEXT", Direction.IN))
_ENOUGH = 400
"""Characters of a turn that is understood by itself: of a longer one, what it has of its neighbours counts less."""
_FANOUT = 3
"""Neighbours of an Event one way: one a thread, and few threads share an Event."""


async def lift(question: Question, anchors: Sequence[Anchor], reached: Reached) -> None:
    """Come to the neighbours of Events, those of ``anchors`` among them too, as far as they may be seen."""
    sources = {anchor.uid: {anchor.uid: anchor.standing} for anchor in anchors}
    for depth, share in enumerate(SHARES, start=1):
        found = await _neighbours(question, list(sources))
        reached.know(neighbour.node for neighbour in found)
        need = await _need(question, {neighbour.node.uid: neighbour.node for neighbour in found})
        sources = _handed_on(sources, found)
        for uid, standings in sources.items():
            best = max((standing for source, standing in standings.items() if source != uid), default=0.0)
            reached.add(Reach(uid, need[uid] * share * best, depth, "NEXT", SubGraph.CAUSAL))


async def _neighbours(question: Question, uids: Sequence[str]) -> list[Neighbour]:
    return await question.sight.expand(uids, _NEXT, _FANOUT)  # nothing passes through what the asker may not see


async def _need(question: Question, nodes: Mapping[str, Node]) -> dict[str, float]:
    """Return the share of what its neighbours say that each of these takes, in (0, 1]; only turns say who speaks."""
    turns = {node.qdrant_id: uid for uid, node in nodes.items() if node.speaker is not None and node.qdrant_id}
    # As nodes, not as texts: whoever comes to a turn asks next whether its passage still holds.
    passages = await question.graph.nodes(question.scope.tenant, list(turns)) if turns else {}
    said = {turns[uid]: len(passage.text) for uid, passage in passages.items() if passage.text is not None}
    return {uid: min(1.0, _ENOUGH / max(1, said.get(uid, 0))) for uid in nodes}


def _handed_on(sources: Mapping[str, Mapping[str, float]], found: Sequence[Neighbour]) -> dict[str, dict[str, float]]:
    """Return, for each neighbour, the anchors that it is come to from, and their standings."""
    handed: dict[str, dict[str, float]] = {}
    for neighbour in found:
        handed.setdefault(neighbour.node.uid, {}).update(sources[neighbour.origin])
    return handed
