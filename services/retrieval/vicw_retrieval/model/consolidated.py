"""Consolidated items in an answer: each remains a result of its own, as before consolidation (decision 0025).

The Macro-Event takes their place in the graph; their first passages keep their fields.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from vicw_core.consolidation.ledger import entries_of
from vicw_retrieval.access.scope import holds_in_scope
from vicw_retrieval.access.visibility import spread_of
from vicw_retrieval.channels.graph.flow_traversal import NEXT, adjacent, as_source_item
from vicw_retrieval.model.candidates import Candidate
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_shared.model import Node
from vicw_shared.ports import Direction, GraphStore, Scope
from vicw_shared.uids import chunk_uid

_MAX_PASSAGES = 100
"""Passages of one Macro-Event."""


async def read_parts(graph: GraphStore, tenant: str, candidates: Sequence[Candidate]) -> dict[str, Node]:
    """Return the consolidated items among the candidates as they were before, by uid."""
    parts = [one.item.part for one in candidates if one.item.part is not None]
    passages = await graph.nodes(tenant, [chunk_uid(part, 0) for part in parts]) if parts else {}
    return {uid: entry.item for uid, entry in entries_of(list(passages.values())).items()}


async def add_adjacent(graph: GraphStore, scope: Scope, candidates: Sequence[Candidate], around: Neighbourhood) -> None:
    """Add the items before and after each result to ``around`` where a consolidated item is involved.

    The text then shows the turn next to a result, not its Macro-Event.
    """
    along = [one for of_one in around.neighbours.values() for one in of_one if spread_of(one)[1:] in NEXT]
    nodes = {
        one.key: as_source_item(around.nodes[one.item.uid], one.key)
        for one in candidates
        if one.item.is_macro and one.item.uid in around.nodes
    }
    touched = {one.origin for one in along if one.node.is_macro} | nodes.keys()
    adjacents = adjacent([one.key for one in candidates if one.key in touched], nodes, along)
    passages = [one.node.qdrant_id for one in adjacents if one.node.is_macro and one.node.qdrant_id is not None]
    chunks = await graph.nodes(scope.tenant, passages) if passages else {}
    around.texts |= {uid: chunk.text for uid, chunk in chunks.items() if chunk.text}
    for one in adjacents:
        node = chunks.get(one.node.qdrant_id or "") if one.node.is_macro else one.node
        entries = around.adjacent.setdefault(one.origin, [])
        if node is not None and holds_in_scope(scope, node):
            entries.append((one.direction, node))


async def proofs_of(graph: GraphStore, tenant: str, summaries: Sequence[str], known: Set[str]) -> list[str]:
    """Return the source passages of Macro-Events, except those ``known``."""
    neighbours = (
        await graph.weighted_neighbours(tenant, summaries, ("EVIDENCED_BY", Direction.OUT), _MAX_PASSAGES)
        if summaries
        else []
    )
    return sorted({lead.uid for lead in neighbours} - known)


def without_summaries(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Leave out Macro-Events whose items were found: originals precede their summary."""
    macros = {one.item.uid for one in candidates if one.item.part is not None}
    return [one for one in candidates if one.item.part is not None or one.item.uid not in macros]
