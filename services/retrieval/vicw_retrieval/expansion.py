"""One hop around the results: consequences, agents, what came before and after, and the proof (seed 003 §3.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from vicw_retrieval.sight import Sight, say
from vicw_retrieval.standing import Known, settle_identities
from vicw_retrieval.surroundings import Surroundings
from vicw_shared.model import Label
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope

_FANOUT = 20
_TOLD_EVENTS = 100
_SPREADS = (
    ("CAUSED", Direction.OUT),
    ("CAUSED", Direction.IN),
    ("INITIATED", Direction.IN),
    ("NEXT", Direction.OUT),
    ("NEXT", Direction.IN),
)
_OF_STATEMENTS = (
    ("CAUSED", Direction.OUT),
    ("CAUSED", Direction.IN),
    ("CONTRADICTS", Direction.OUT),
    ("CONTRADICTS", Direction.IN),
)
_REPLACED = (("SUPERSEDES", Direction.OUT),)


async def expand(
    graph: GraphStore, scope: Scope, uids: Sequence[str], proofs: Sequence[str], known: Known
) -> Surroundings:
    """Return the items ``uids`` and what surrounds them; ``proofs`` are the uids of the passages that were found.

    Only what ``scope`` may see is in it. An edge is in it only with both its ends.
    """
    if not uids:
        return Surroundings()
    nodes, found, back = await asyncio.gather(  # on connections of their own
        graph.nodes(scope.tenant, [*uids, *proofs]),
        graph.expand(scope.tenant, uids, _SPREADS, _FANOUT),
        graph.expand(scope.tenant, proofs, [("EVIDENCED_BY", Direction.IN)], _TOLD_EVENTS),
    )
    around = Surroundings(nodes=dict(nodes))
    around.edges = {n.edge.id: n.edge for n in back if n.edge.source in nodes}
    owner = {e.target: e.source for e in around.edges.values() if e.type == "EVIDENCED_BY"}
    sight = Sight(graph, scope)
    told = await _told_events(sight, [n for n in back if n.origin in owner], around)
    statements = [uid for uid, proof in told.items() if proof.node.is_statement]
    events = [uid for uid in told if uid not in set(statements)]
    found += await graph.expand(scope.tenant, events, _SPREADS, _FANOUT) if events else []
    found += await graph.expand(scope.tenant, statements, _OF_STATEMENTS, _FANOUT) if statements else []
    replaced = await graph.expand(scope.tenant, statements, _REPLACED, _FANOUT) if statements else []
    visible = [*await sight.visible(found), *await Sight(graph, scope, ever=True).visible(replaced)]
    # A sentence is in its passage already; one that says why, or instead of what, is worth a line of its own.
    telling = {neighbour.origin for neighbour in visible}
    _add(around, [proof for uid, proof in told.items() if uid in telling or not proof.node.is_statement])
    _add(around, visible)
    for neighbour in visible:
        proof = told.get(neighbour.origin)
        result = owner[proof.origin] if proof is not None else neighbour.origin
        around.neighbours.setdefault(result, []).append(neighbour)
    await settle_identities(graph, sight, known, around)
    around.texts = await say(graph, scope, around.nodes.values())
    return around


async def _told_events(sight: Sight, proving: Sequence[Neighbour], around: Surroundings) -> dict[str, Neighbour]:
    """Return the events that the found passages prove, each with its passage."""
    events = [n for n in proving if n.node.label is Label.EVENT and n.node.uid not in around.nodes]
    return {n.node.uid: n for n in await sight.visible(events)}


def _add(around: Surroundings, neighbours: Iterable[Neighbour]) -> None:
    for neighbour in neighbours:
        around.nodes.setdefault(neighbour.node.uid, neighbour.node)
        around.edges[neighbour.edge.id] = neighbour.edge
