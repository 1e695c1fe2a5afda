"""Which candidates are joined by causes, and their new order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from vicw_retrieval.access.visibility import Visibility
from vicw_retrieval.causal_chains.model import certainty_of
from vicw_retrieval.model.candidates import Candidate, in_order
from vicw_retrieval.ranking.causal import boost
from vicw_shared.model import Label
from vicw_shared.model.edges import Category, EdgeRegistry
from vicw_shared.ports import Direction, GraphStore, Scope

_CANDIDATES = 20
"""Candidates that are compared, the best."""
_TOLD = 100
_EFFECTS = 20
"""Of one node, the effects that are looked at."""
_PROVEN = ("EVIDENCED_BY", Direction.IN)


async def boosted(
    graph: GraphStore, scope: Scope, registry: EdgeRegistry, candidates: Sequence[Candidate], factor: float
) -> list[Candidate]:
    """Return the candidates in their new order: as it was where none of the best brought about another.

    Raises what the graph raises; then nothing has changed.
    """
    first = {candidate.key: candidate for candidate in candidates[:_CANDIDATES]}
    links = await _links(graph, scope, registry, list(first.values()))
    gains = boost({uid: candidate.standing for uid, candidate in first.items()}, links, factor)
    for uid, gain in gains.items():
        first[uid].boost("causes", gain)
    return in_order(candidates) if gains else list(candidates)


async def _links(
    graph: GraphStore, scope: Scope, registry: EdgeRegistry, candidates: Sequence[Candidate]
) -> list[tuple[str, str, float]]:
    """Return which candidates, or what their best passages tell of, are cause and effect, as far as may be seen."""
    visibility = Visibility(graph, scope)
    owners = {candidate.passages[0][0]: candidate.key for candidate in candidates if candidate.passages}
    items: dict[str, set[str]] = defaultdict(set)
    for candidate in candidates:
        items[candidate.item.uid].add(candidate.key)
    for neighbour in await visibility.expand(list(owners), [_PROVEN], _TOLD):
        if neighbour.node.label is Label.EVENT and neighbour.node.content_hash is None:
            items[neighbour.node.uid].add(owners[neighbour.origin])
    effects = [(edge_type.name, Direction.OUT) for edge_type in registry if edge_type.category is Category.CAUSAL]
    found = await visibility.expand(sorted(items), effects, _EFFECTS)
    return [
        (cause, effect, certainty_of(neighbour.edge))
        for neighbour in found
        if neighbour.node.uid in items
        for cause in items[neighbour.origin]
        for effect in items[neighbour.node.uid]
        if cause != effect
    ]
