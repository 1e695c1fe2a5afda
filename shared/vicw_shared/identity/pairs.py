"""Find pairs of entities that may be the same: similar names, not merged, not marked as distinct."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vicw_shared.canonical import DISTINCT_FROM, canonical
from vicw_shared.identity.name_similarity import NamedThing, Pair, pairs_of
from vicw_shared.model import Node
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.model.knowledge import is_knowledge
from vicw_shared.ports import Direction, GraphStore, NamedThings
from vicw_shared.text import fold_case

_PAGE = 1000
_MOST_APART = 1000
type Place = tuple[str, str]
"""End of a page of names: a case-folded name and a uid."""


@dataclass(frozen=True, slots=True)
class Names:
    """Named nodes of a context up to ``last``, without knowledge nodes; ``complete``: no more follow."""

    things: list[Node]
    complete: bool
    last: Place | None


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two canonical entities that may be the same; other fields as in ``name_similarity.Pair``."""

    things: tuple[Node, Node]
    score: float
    reason: str
    spelt: bool


async def names_of(
    graph: GraphStore, tenant: str, context: str, *, subtype: str | None = None, after: Place | None = None, most: int
) -> Names:
    """Return up to ``most`` named nodes of a context, by name, behind ``after``: of a case-folded subtype or all."""
    found: list[Node] = []
    things = NamedThings(tenant=tenant, context=context, subtype=subtype)
    while True:
        room = most - len(found)
        size = min(_PAGE, room + 1)
        page = await graph.scan(things, after=after, limit=size)
        found += [node for node in page[:room] if not is_knowledge(node)]
        if kept := page[:room]:
            after = things.place(kept[-1])
        if len(page) > room or len(page) < size:
            return Names(found, len(page) <= room, after)


async def pairs_among(
    graph: GraphStore, tenant: str, things: Sequence[Node], threshold: float | None
) -> list[SimilarPair]:
    """Return the similar pairs, the most similar first; pairs by spelling only from ``threshold`` on (None: none).

    Names of merged entities count as names of their canonical entity.
    """
    if len(things) < 2:
        return []
    stands = await canonical(graph, tenant, [node.uid for node in things])
    order = list(dict.fromkeys(stands.values()))
    known = {node.uid: node for node in things}
    known |= await graph.nodes(tenant, [uid for uid in order if uid not in known])
    called = list(_called(things, stands, known, {uid: number for number, uid in enumerate(order)}))
    pairs = await asyncio.to_thread(pairs_of, called, threshold)
    apart = await _pairs_kept_apart(graph, tenant, pairs, order, stands)
    found = [(pair, [order[thing] for thing in pair.things]) for pair in pairs]
    return [
        SimilarPair((known[one], known[other]), pair.score, pair.reason, pair.spelt)
        for pair, (one, other) in found
        if frozenset((one, other)) not in apart
    ]


def _called(
    nodes: Iterable[Node], stands: Mapping[str, str], known: Mapping[str, Node], numbers: Mapping[str, int]
) -> Iterable[NamedThing]:
    for node in nodes:
        stand = known.get(stands[node.uid], node)
        for name in (node.name, *node.aliases):
            yield NamedThing(numbers[stands[node.uid]], stand.label, fold_case(stand.subtype), name)


async def _pairs_kept_apart(
    graph: GraphStore, tenant: str, pairs: Sequence[Pair], order: Sequence[str], stands: Mapping[str, str]
) -> set[frozenset[str]]:
    """Return the pairs of canonical entities that are, or have merged entities that are, marked as distinct.

    A user and the person linked to it by IS_PERSON are included: two nodes by design.
    """
    named = {order[thing] for pair in pairs for thing in pair.things}
    members = [uid for uid, stand in stands.items() if stand in named]
    found = await graph.expand(
        tenant,
        list({*members, *named}),
        [(name, way) for name in (DISTINCT_FROM, IS_PERSON) for way in Direction],
        _MOST_APART,
    )
    ends = await canonical(graph, tenant, {uid for n in found for uid in (n.edge.source, n.edge.target)})
    return {frozenset((ends[n.edge.source], ends[n.edge.target])) for n in found}
