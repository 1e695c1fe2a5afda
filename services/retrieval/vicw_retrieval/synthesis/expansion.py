"""One hop around the results: causes, effects, agents, what came before and after, and the proof."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence

from vicw_retrieval.access.canonical import show_canonical
from vicw_retrieval.access.visibility import Visibility, texts_of
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_shared.model import Label
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope, Spread

_FANOUT = 20
_MAX_EXTRACTED = 100
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
_REPLACED_BY = (("SUPERSEDES", Direction.IN),)
_OF_EXTRACTED = tuple(dict.fromkeys((*_SPREADS, *_OF_STATEMENTS, *_REPLACED, *_REPLACED_BY)))


async def expand(
    graph: GraphStore, scope: Scope, uids: Sequence[str], proofs: Sequence[str], known_by: Sequence[Spread]
) -> Neighbourhood:
    """Return the items ``uids`` and their neighbourhood; ``proofs`` are the uids of the found passages.

    All of it is visible to ``scope``. Every edge has both its ends in it.
    """
    if not uids:
        return Neighbourhood()
    visibility, with_past = Visibility(graph, scope), Visibility(graph, scope, ignore_validity=True)
    nodes, neighbours, evidence = await asyncio.gather(  # on connections of their own
        graph.nodes(scope.tenant, [*uids, *proofs]),
        visibility.expand(uids, _SPREADS, _FANOUT),
        graph.expand(scope.tenant, proofs, [("EVIDENCED_BY", Direction.IN)], _MAX_EXTRACTED),
    )
    around = Neighbourhood(nodes=dict(nodes))
    around.edges = {n.edge.id: n.edge for n in evidence if n.edge.source in nodes}
    owner = {e.target: e.source for e in around.edges.values() if e.type == "EVIDENCED_BY"}
    proving = [n for n in evidence if n.origin in owner and n.node.label is Label.EVENT and n.node.uid not in nodes]
    extracted = {n.node.uid: n for n in await visibility.visible(proving)}
    # A passage may contain outdated statements, too: what replaced them is shown beside it.
    past = {n.node.uid: n for n in await with_past.visible([n for n in proving if _is_past(n, extracted)])}
    statements = [uid for uid, proof in extracted.items() if proof.node.is_statement]
    await graph.expand(
        scope.tenant, [*extracted, *past], _OF_EXTRACTED, _FANOUT
    )  # one read; the cache has the next ones
    neighbours += await visibility.expand(
        [uid for uid, proof in extracted.items() if not proof.node.is_statement], _SPREADS, _FANOUT
    )
    neighbours += await visibility.expand(statements, _OF_STATEMENTS, _FANOUT)
    neighbours += await visibility.expand(list(past), _REPLACED_BY, _FANOUT)
    visible = [*neighbours, *await with_past.expand(statements, _REPLACED, _FANOUT)]
    visible = [neighbour for neighbour in visible if not neighbour.node.is_duplicate]  # it repeats another item
    extracted |= past
    # A statement is in its passage already; one with a cause or a replacement gets a line of its own.
    with_edges = {neighbour.origin for neighbour in visible}
    _add(around, [proof for uid, proof in extracted.items() if uid in with_edges or not proof.node.is_statement])
    _add(around, visible)
    for neighbour in visible:
        proof = extracted.get(neighbour.origin)
        result = owner[proof.origin] if proof is not None else neighbour.origin
        around.neighbours.setdefault(result, []).append(neighbour)
    await show_canonical(graph, visibility, known_by, around)
    around.texts = await texts_of(graph, scope, around.nodes.values())
    return around


def _is_past(proof: Neighbour, current: Collection[str]) -> bool:
    node = proof.node
    return node.is_statement and node.uid not in current and node.valid_to is not None and node.retired_at is None


def _add(around: Neighbourhood, neighbours: Iterable[Neighbour]) -> None:
    for neighbour in neighbours:
        around.nodes.setdefault(neighbour.node.uid, neighbour.node)
        around.edges[neighbour.edge.id] = neighbour.edge
