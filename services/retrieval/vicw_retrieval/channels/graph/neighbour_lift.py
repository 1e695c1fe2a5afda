"""Lift along NEXT: the neighbours of a hit gain, since they are its context.

An Event gains by its best neighbour, not by their sum: a long thread must not outweigh a short one. A short turn of a
chat needs its neighbours to be understood, a long message does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vicw_retrieval.channels.graph.spread import Anchor, ReachedItems, SpreadContext, SpreadPath
from vicw_retrieval.model.consolidated import Adjacent, FlowTraversal
from vicw_retrieval.ranking.fusion import SubGraph
from vicw_shared.model import Node

SHARES = (0.5, 0.25)
"""Share of an Event's strength that its neighbours gain at a distance of one and two."""
_SHORT_CHARS = 400
"""Characters of a turn that is understood by itself: longer turns gain less from their neighbours."""


async def lift(question: SpreadContext, anchors: Sequence[Anchor], reached: ReachedItems) -> None:
    """Reach the visible neighbours of ``anchors``; an anchor may itself be a neighbour."""
    threads = FlowTraversal(question.graph, question.visibility)
    await threads.begin({anchor.part: anchor.uid for anchor in anchors if anchor.part is not None})
    sources = {anchor.key: {anchor.key: anchor.strength} for anchor in anchors}
    for depth, share in enumerate(SHARES, start=1):
        adjacents = await threads.adjacent(list(sources))  # invisible items pass nothing on
        nodes = {adjacent.key: adjacent.node for adjacent in adjacents}
        reached.nodes |= nodes
        lift_shares = await _lift_shares(question, nodes)
        sources = _anchor_strengths(sources, adjacents)
        best = {
            uid: max((strength for source, strength in strengths.items() if source != uid), default=0.0)
            for uid, strengths in sources.items()
        }
        for uid, strength in best.items():
            reached.add(SpreadPath(uid, lift_shares[uid] * share * strength, depth, "NEXT", SubGraph.CAUSAL))


async def _lift_shares(question: SpreadContext, nodes: Mapping[str, Node]) -> dict[str, float]:
    """Return the share in (0, 1] of its neighbours' scores that each item takes: below 1 only for long turns."""
    graph, tenant = question.graph, question.scope.tenant
    passages = {node.qdrant_id: uid for uid, node in nodes.items() if node.qdrant_id}
    consolidated = [passage for passage, uid in passages.items() if nodes[uid].uid != uid]
    owners = await graph.owners(tenant, consolidated) if consolidated else {}  # a Macro-Event may have several speakers
    speakers = {passage: (owners.get(passage) or nodes[uid]).speaker for passage, uid in passages.items()}
    turns = {passage: uid for passage, uid in passages.items() if speakers[passage] is not None}
    # Read as nodes, not as texts: the validity check reads the same passages next.
    chunks = await graph.nodes(tenant, list(turns)) if turns else {}
    lengths = {turns[uid]: len(chunk.text) for uid, chunk in chunks.items() if chunk.text is not None}
    return {uid: min(1.0, _SHORT_CHARS / max(1, lengths.get(uid, 0))) for uid in nodes}


def _anchor_strengths(
    sources: Mapping[str, Mapping[str, float]], adjacents: Sequence[Adjacent]
) -> dict[str, dict[str, float]]:
    """Return, for each neighbour, the anchors from which it was reached and their strengths."""
    strengths: dict[str, dict[str, float]] = {}
    for adjacent in adjacents:
        strengths.setdefault(adjacent.key, {}).update(sources[adjacent.origin])
    return strengths
