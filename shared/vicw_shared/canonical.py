"""Who is who: MERGED_INTO followed from a thing that was merged to the one that stands for it (seed 004).

A merge adds one edge and rewrites nothing, so that its undoing is exact. Whoever reads follows the edges. A thing has
at most one such edge out, and merges make no cycle; if a store has either all the same, every reader still takes the
same way and comes to an end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from vicw_shared.edge_factory import RESOLVE
from vicw_shared.model import Edge, Node
from vicw_shared.ports import Direction, GraphStore, Lookups

MERGED_INTO = "MERGED_INTO"
DISTINCT_FROM = "DISTINCT_FROM"
"""Two things that a person has told apart: they are not proposed as duplicates."""
MOST_HOPS = 1000
"""Merges that are followed one after the other: one look-up each, so that a chain longer than sense has an end."""
_FEW = 10
"""Edges out of one node that are looked at, which has one."""

Step = Callable[[Sequence[str]], Awaitable[Iterable[tuple[str, str]]]]
"""Returns the MERGED_INTO edges out of some nodes, as (source, target)."""


def is_guess(edge: Edge) -> bool:
    """Tell whether nobody has said that two things are one: the sleep cycle takes it to be so, from what is told.

    Answers follow it. What is written, who sees a memory, and what is erased with somebody never depends on it.
    """
    return edge.type == MERGED_INTO and edge.created_by == RESOLVE


async def canonical(store: GraphStore, tenant: str, uids: Iterable[str]) -> dict[str, str]:
    """Return, for each of these nodes, the one that stands for it: itself unless it was merged."""

    async def step(frontier: Sequence[str]) -> list[tuple[str, str]]:
        found = await store.expand(tenant, frontier, [(MERGED_INTO, Direction.OUT)], _FEW)
        return [(neighbour.origin, neighbour.node.uid) for neighbour in found]

    return await _follow(uids, step)


async def canonical_in(lookups: Lookups, uids: Iterable[str], *, decided: bool = False) -> dict[str, str]:
    """Return what ``canonical`` does, inside a transaction; ``decided``: guesses are not followed."""

    async def step(frontier: Sequence[str]) -> list[tuple[str, str]]:
        edges = await lookups.edges(frontier, [MERGED_INTO], Direction.OUT)
        return [(edge.source, edge.target) for edge in edges if not (decided and is_guess(edge))]

    return await _follow(uids, step)


async def canonical_nodes(lookups: Lookups, nodes: Iterable[Node], *, within: str | None = None) -> dict[str, Node]:
    """Return, by the uid of each of these nodes, the node that new tellings of it go to, inside a transaction.

    A guess moves none: what is told stays with the name that it was told of, so that its undoing is exact.
    ``within`` a context: the node itself where that one is of another, whose own edges stay there.
    """
    known = {node.uid: node for node in nodes}
    stands = await canonical_in(lookups, known, decided=True)
    found = known | await lookups.nodes([uid for uid in set(stands.values()) if uid not in known])
    return {
        uid: found[other] if other in found and within in {None, found[other].context} else known[uid]
        for uid, other in stands.items()
    }


async def circles(uids: Iterable[str], step: Step) -> tuple[set[str], set[str]]:
    """Return which of these nodes are merged in a circle, and which into several things. There should be none."""
    wanted = list(dict.fromkeys(uids))
    into, several = await _read(wanted, step)
    return {uid for uid in wanted if _returns(uid, into)}, several & set(wanted)


async def _follow(uids: Iterable[str], step: Step) -> dict[str, str]:
    wanted = list(dict.fromkeys(uids))
    into, _ = await _read(wanted, step)
    return _ends(wanted, into)


async def _read(uids: Sequence[str], step: Step) -> tuple[dict[str, str], set[str]]:
    """Return what is merged into what, from these nodes on, and what is merged into several things."""
    into: dict[str, str] = {}
    several: set[str] = set()
    frontier, seen = list(uids), set(uids)
    for _ in range(MOST_HOPS):
        if not frontier:
            break
        edges = list(await step(frontier))
        for source, target in edges:
            if into.setdefault(source, target) != target:
                several.add(source)
                into[source] = min(target, into[source])
        frontier = list({target for _, target in edges} - seen)
        seen.update(frontier)
    return into, several


def _returns(uid: str, into: Mapping[str, str]) -> bool:
    at, seen = into.get(uid), set[str]()
    while at is not None and at != uid and at not in seen:
        seen.add(at)
        at = into.get(at)
    return at == uid


def _ends(uids: Iterable[str], into: Mapping[str, str]) -> dict[str, str]:
    """Return where each way ends; for a circle, in which none does, that is the least uid of it."""
    ends: dict[str, str] = {}
    for uid in uids:
        way: dict[str, None] = {}
        at = uid
        while at in into and at not in way and at not in ends:
            way[at] = None
            at = into[at]
        if at in way:
            passed = list(way)
            at = min(passed[passed.index(at) :])
        end = ends.get(at, at)
        ends |= dict.fromkeys([*way, uid], end)
    return {uid: ends[uid] for uid in uids}
