"""Find pairs of entities that may be the same: similar names, not merged, not marked as distinct."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vicw_core.graph.canonical import DISTINCT_FROM, canonical
from vicw_core.identity.name_similarity import STATED, EntityName, Pair, pairs_of
from vicw_shared.model import Label, Node
from vicw_shared.model.edges import ALIAS_OF, IS_PERSON
from vicw_shared.model.knowledge import is_knowledge
from vicw_shared.ports import Direction, GraphStore, NamedNodes
from vicw_shared.text import fold_case

_PAGE = 1000
_MAX_EDGES = 1000
_MAX_ALIASES = 20
type Place = tuple[str, str]
"""End of a page of names: a case-folded name and a uid."""


@dataclass(frozen=True, slots=True)
class Names:
    """Named nodes of a context up to ``last``, without knowledge nodes; ``complete``: no more follow."""

    nodes: list[Node]
    complete: bool
    last: Place | None


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two canonical entities that may be the same; other fields as in ``name_similarity.Pair``."""

    entities: tuple[Node, Node]
    score: float
    reason: str
    spelt: bool


async def read_names(
    graph: GraphStore, tenant: str, context: str, *, subtype: str | None = None, after: Place | None = None, limit: int
) -> Names:
    """Return up to ``limit`` named nodes of a context, by name, behind ``after``: of a case-folded subtype or all."""
    nodes: list[Node] = []
    scan = NamedNodes(tenant=tenant, context=context, subtype=subtype)
    while True:
        room = limit - len(nodes)
        size = min(_PAGE, room + 1)
        page = await graph.scan(scan, after=after, limit=size)
        nodes += [node for node in page[:room] if not is_knowledge(node)]
        if included := page[:room]:
            after = scan.place(included[-1])
        if len(page) > room or len(page) < size:
            return Names(nodes, len(page) <= room, after)


async def pairs_among(
    graph: GraphStore, tenant: str, nodes: Sequence[Node], threshold: float | None
) -> list[SimilarPair]:
    """Return the similar pairs, the most similar first; pairs by spelling only from ``threshold`` on (None: none).

    Names of merged entities count as names of their canonical entity.
    """
    if len(nodes) < 2:
        return []
    canonical_uids = await canonical(graph, tenant, [node.uid for node in nodes])
    order = list(dict.fromkeys(canonical_uids.values()))
    by_uid = {node.uid: node for node in nodes}
    by_uid |= await graph.nodes(tenant, [uid for uid in order if uid not in by_uid])
    numbers = {uid: number for number, uid in enumerate(order)}
    names = list(_entity_names(nodes, canonical_uids, by_uid, numbers))
    stated = await _stated_pairs(graph, tenant, nodes, canonical_uids, numbers)
    pairs = await asyncio.to_thread(pairs_of, names, threshold, stated)
    distinct = await _distinct_pairs(graph, tenant, pairs, order, canonical_uids)
    numbered = [(pair, [order[index] for index in pair.entities]) for pair in pairs]
    return [
        SimilarPair((by_uid[one], by_uid[other]), pair.score, pair.reason, pair.spelt)
        for pair, (one, other) in numbered
        if frozenset((one, other)) not in distinct
    ]


def _entity_names(
    nodes: Iterable[Node],
    canonical_uids: Mapping[str, str],
    canonical_nodes: Mapping[str, Node],
    numbers: Mapping[str, int],
) -> Iterable[EntityName]:
    for node in nodes:
        entity = canonical_nodes.get(canonical_uids[node.uid], node)
        for name in (node.name, *node.aliases):
            yield EntityName(numbers[canonical_uids[node.uid]], entity.label, fold_case(entity.subtype), name)


async def _stated_pairs(
    graph: GraphStore,
    tenant: str,
    nodes: Sequence[Node],
    canonical_uids: Mapping[str, str],
    numbers: Mapping[str, int],
) -> list[Pair]:
    """Return the pairs of which a text says that one is another name of the other."""
    uids = [node.uid for node in nodes if node.label is Label.ENTITY]
    aliases = await graph.expand(tenant, uids, [(ALIAS_OF, Direction.OUT)], _MAX_ALIASES) if uids else []
    stated = set[tuple[int, int]]()
    for edge in (one.edge for one in aliases if one.edge.target in canonical_uids):
        first, second = sorted(numbers[canonical_uids[uid]] for uid in (edge.source, edge.target))
        stated.add((first, second))
    return [Pair(pair, STATED, "a text says that both are one") for pair in sorted(stated) if pair[0] != pair[1]]


async def _distinct_pairs(
    graph: GraphStore, tenant: str, pairs: Sequence[Pair], order: Sequence[str], canonical_uids: Mapping[str, str]
) -> set[frozenset[str]]:
    """Return the pairs of canonical entities that are, or have merged entities that are, marked as distinct.

    A user and the person linked to it by IS_PERSON are included: two nodes by design.
    """
    named = {order[number] for pair in pairs for number in pair.entities}
    members = [uid for uid, canonical_uid in canonical_uids.items() if canonical_uid in named]
    neighbours = await graph.expand(
        tenant,
        list({*members, *named}),
        [(name, direction) for name in (DISTINCT_FROM, IS_PERSON) for direction in Direction],
        _MAX_EDGES,
    )
    ends = await canonical(graph, tenant, {uid for n in neighbours for uid in (n.edge.source, n.edge.target)})
    return {frozenset((ends[n.edge.source], ends[n.edge.target])) for n in neighbours}
