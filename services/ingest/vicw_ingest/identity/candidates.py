"""Things that may be one, proposed to a person: alike by name, not merged, not told apart before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vicw_ingest.identity.likeness import Called, Pair, pairs_of
from vicw_ingest.identity.things import reference
from vicw_shared.merging import DISTINCT_FROM, canonical
from vicw_shared.model import Node
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.ports import Direction, GraphStore
from vicw_shared.text import fold
from vicw_shared.wire.entities import Candidate, CandidatePage

_PAGE = 1000
_MOST_APART = 1000


@dataclass(frozen=True, slots=True)
class Compared:
    """Which names are compared, and how: at most ``names`` things, and of spelling those of ``threshold`` and more."""

    contexts: tuple[str, ...]
    subtype: str | None
    threshold: float
    names: int


async def candidates(graph: GraphStore, tenant: str, compared: Compared, limit: int) -> CandidatePage:
    """Return the pairs of things most alike. The names of what was merged count as those of what stands for it."""
    nodes, complete = await _read(graph, tenant, compared)
    stands = await canonical(graph, tenant, [node.uid for node in nodes])
    order = list(dict.fromkeys(stands.values()))
    known = {node.uid: node for node in nodes}
    known |= await graph.nodes(tenant, [uid for uid in order if uid not in known])
    called = list(_called(nodes, stands, known, {uid: number for number, uid in enumerate(order)}))
    pairs = await asyncio.to_thread(pairs_of, called, compared.threshold)
    apart = await _told_apart(graph, tenant, pairs, order, stands)
    kept = [pair for pair in pairs if frozenset(order[thing] for thing in pair.things) not in apart]
    return CandidatePage(
        candidates=tuple(_shown(pair, [known[order[thing]] for thing in pair.things]) for pair in kept[:limit]),
        examined=len(nodes),
        complete=complete,
    )


async def _read(graph: GraphStore, tenant: str, compared: Compared) -> tuple[list[Node], bool]:
    found: list[Node] = []
    subtype = fold(compared.subtype) if compared.subtype is not None else None
    for context in dict.fromkeys(compared.contexts):
        after: tuple[str, str] | None = None
        while True:
            room = compared.names - len(found)
            size = min(_PAGE, room + 1)
            page = await graph.list_named(tenant, context, subtype=subtype, after=after, limit=size)
            found += page[:room]
            if len(page) > room:
                return found, False
            if len(page) < size:
                break
            after = (fold(page[-1].name), page[-1].uid)
    return found, True


def _called(
    nodes: Iterable[Node], stands: Mapping[str, str], known: Mapping[str, Node], numbers: Mapping[str, int]
) -> Iterable[Called]:
    for node in nodes:
        stand = known.get(stands[node.uid], node)
        for name in (node.name, *node.aliases):
            yield Called(numbers[stands[node.uid]], stand.label, fold(stand.subtype), name)


async def _told_apart(
    graph: GraphStore, tenant: str, pairs: Sequence[Pair], order: Sequence[str], stands: Mapping[str, str]
) -> set[frozenset[str]]:
    """Return the pairs of what stands for two things that a person told apart, or for what was merged into them.

    So is a user from the person that he is: these are two things, and known to belong together.
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


def _shown(pair: Pair, nodes: Sequence[Node]) -> Candidate:
    one, other = sorted(nodes, key=lambda node: (node.created_at, node.uid), reverse=True)
    return Candidate(entity=reference(one), other=reference(other), score=pair.score, reason=pair.reason)
