"""One hop around the results: consequences, agents, what came before and after, and the proof (seed 003 §3.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vicw_retrieval.scope import is_named, sees
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope
from vicw_shared.text import fold

_FANOUT = 20
_TOLD_EVENTS = 100
_ABOUT = 1000
_SPREADS = (
    ("CAUSED", Direction.OUT),
    ("CAUSED", Direction.IN),
    ("INITIATED", Direction.IN),
    ("NEXT", Direction.OUT),
    ("NEXT", Direction.IN),
)


@dataclass(slots=True)
class Surroundings:
    """The sub-graph around the results: nodes by uid, edges by id, the neighbours of each result, what nodes say."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    neighbours: dict[str, list[Neighbour]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


async def expand(graph: GraphStore, scope: Scope, uids: Sequence[str], proofs: Sequence[str]) -> Surroundings:
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
    told = await _told_events(graph, back, scope, around)
    if told:
        found += await graph.expand(scope.tenant, list(told), _SPREADS, _FANOUT)
    visible = await _visible(graph, scope, found)
    _add(around, visible)
    for neighbour in visible:
        owner = told.get(neighbour.origin, neighbour.origin)
        around.neighbours.setdefault(owner, []).append(neighbour)
    around.texts = await _load_texts(graph, scope, around)
    return around


async def _told_events(
    graph: GraphStore, proving: Sequence[Neighbour], scope: Scope, around: Surroundings
) -> dict[str, str]:
    """Return the events that the found passages prove, each with the result it was told in."""
    owner = {e.target: e.source for e in around.edges.values() if e.type == "EVIDENCED_BY"}
    events = [n for n in proving if n.node.label is Label.EVENT and n.node.uid not in around.nodes]
    kept = await _visible(graph, scope, [n for n in events if n.origin in owner])
    _add(around, kept)
    return {n.node.uid: owner[n.origin] for n in kept}


async def _visible(graph: GraphStore, scope: Scope, found: Sequence[Neighbour]) -> list[Neighbour]:
    """Keep what the scope may see: the node, and the item whose extraction told of the edge."""
    told_by = {n.edge.id: str(n.edge.properties[TOLD_BY]) for n in found if TOLD_BY in n.edge.properties}
    tellers = await graph.nodes(scope.tenant, sorted(set(told_by.values()))) if told_by else {}
    about = await _subjects(graph, scope, [*(n.node for n in found), *tellers.values()])

    def seen(node: Node | None) -> bool:
        return node is not None and sees(scope, node, about.get(node.uid, ()))

    return [n for n in found if seen(n.node) and (n.edge.id not in told_by or seen(tellers.get(told_by[n.edge.id])))]


async def _subjects(graph: GraphStore, scope: Scope, nodes: Iterable[Node]) -> dict[str, set[str]]:
    """Return whom private nodes are about, as names and uids: read from edges, and only where it decides."""
    private = {node.uid for node in nodes if scope.audience is not None and node.sensitivity != "public"}
    about: dict[str, set[str]] = {uid: set() for uid in private}
    if private:
        for edge in await graph.expand(scope.tenant, sorted(private), [("ABOUT", Direction.OUT)], _ABOUT):
            about[edge.origin] |= {fold(edge.node.name), edge.node.uid}
    return about


async def _load_texts(graph: GraphStore, scope: Scope, around: Surroundings) -> dict[str, str]:
    """Return what each node says: its own text, or its first passage.

    A viewer gets no description of a named thing: whoever told of it may have done so in confidence.
    """
    first = {n.qdrant_id: uid for uid, n in around.nodes.items() if n.qdrant_id and n.label is not Label.CHUNK}
    passages = await graph.texts(scope.tenant, [point for point in first if point])
    own = {u: n.text for u, n in around.nodes.items() if n.text and (scope.audience is None or not is_named(n))}
    return own | {first[point]: text for point, text in passages.items()}


def _add(around: Surroundings, neighbours: Iterable[Neighbour]) -> None:
    for neighbour in neighbours:
        around.nodes.setdefault(neighbour.node.uid, neighbour.node)
        around.edges[neighbour.edge.id] = neighbour.edge
