"""Canonical entities: follow MERGED_INTO edges from a merged entity to the entity that replaces it.

A merge adds one edge and rewrites no data, so that a split restores the earlier state exactly. Readers follow the
edges. An entity has at most one such edge out, and merges form no cycle; if a store violates either, every reader still
takes the same path and terminates.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from vicw_core.graph.edge_factory import RESOLVE
from vicw_shared.model import Edge, Node
from vicw_shared.ports import Direction, GraphStore, Lookups

MERGED_INTO = "MERGED_INTO"
DISTINCT_FROM = "DISTINCT_FROM"
"""Marks two entities that a caller declared distinct: they are not proposed as duplicates."""
MAX_HOPS = 1000
"""Maximum length of a chain of merges, one look-up per hop, so that following a malformed chain ends."""
_EDGES_PER_NODE = 10
"""Maximum number of edges read per node; a valid node has one."""

Step = Callable[[Sequence[str]], Awaitable[Iterable[tuple[str, str]]]]
"""Returns the MERGED_INTO edges out of some nodes, as (source, target)."""


def is_inferred(edge: Edge) -> bool:
    """Return whether the sleep cycle inferred this merge: no caller stated it.

    Answers follow such merges. Writes, visibility and the scope of an erasure never depend on them.
    """
    return edge.type == MERGED_INTO and edge.created_by == RESOLVE


async def canonical(store: GraphStore, tenant: str, uids: Iterable[str]) -> dict[str, str]:
    """Return the canonical node of each of these nodes: the node itself unless it was merged."""

    async def step(frontier: Sequence[str]) -> list[tuple[str, str]]:
        neighbours = await store.expand(tenant, frontier, [(MERGED_INTO, Direction.OUT)], _EDGES_PER_NODE)
        return [(neighbour.origin, neighbour.node.uid) for neighbour in neighbours]

    return await _follow(uids, step)


async def canonical_in(lookups: Lookups, uids: Iterable[str], *, decided: bool = False) -> dict[str, str]:
    """Return the canonical nodes inside a transaction; ``decided``: ignore inferred merges."""

    async def step(frontier: Sequence[str]) -> list[tuple[str, str]]:
        edges = await lookups.edges(frontier, [MERGED_INTO], Direction.OUT)
        return [(edge.source, edge.target) for edge in edges if not (decided and is_inferred(edge))]

    return await _follow(uids, step)


async def canonical_nodes(lookups: Lookups, nodes: Iterable[Node], *, within: str | None = None) -> dict[str, Node]:
    """Return, by the uid of each of these nodes, the node that gets its new edges, inside a transaction.

    Inferred merges are ignored: new data stays with the node that it names, so that a split is exact. With a context
    ``within``, a node gets its own edges if its canonical node is in another context.
    """
    by_uid = {node.uid: node for node in nodes}
    canonical_uids = await canonical_in(lookups, by_uid, decided=True)
    resolved = by_uid | await lookups.nodes([uid for uid in set(canonical_uids.values()) if uid not in by_uid])
    return {
        uid: resolved[canonical_uid]
        if canonical_uid in resolved and within in {None, resolved[canonical_uid].context}
        else by_uid[uid]
        for uid, canonical_uid in canonical_uids.items()
    }


async def find_cycles(uids: Iterable[str], step: Step) -> tuple[set[str], set[str]]:
    """Return the nodes merged in a cycle, and the nodes merged into several others. Both should be empty."""
    starts = list(dict.fromkeys(uids))
    into, several = await _read(starts, step)
    return {uid for uid in starts if _is_in_cycle(uid, into)}, several & set(starts)


async def _follow(uids: Iterable[str], step: Step) -> dict[str, str]:
    starts = list(dict.fromkeys(uids))
    into, _ = await _read(starts, step)
    return _ends(starts, into)


async def _read(uids: Sequence[str], step: Step) -> tuple[dict[str, str], set[str]]:
    """Return the merges reachable from these nodes, as source to target, and the nodes merged into several others."""
    into: dict[str, str] = {}
    several: set[str] = set()
    frontier, seen = list(uids), set(uids)
    for _ in range(MAX_HOPS):
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


def _is_in_cycle(uid: str, into: Mapping[str, str]) -> bool:
    at, seen = into.get(uid), set[str]()
    while at is not None and at != uid and at not in seen:
        seen.add(at)
        at = into.get(at)
    return at == uid


def _ends(uids: Iterable[str], into: Mapping[str, str]) -> dict[str, str]:
    """Return the end of each node's path; for a path into a cycle, the smallest uid of the cycle."""
    ends: dict[str, str] = {}
    for uid in uids:
        path: dict[str, None] = {}
        at = uid
        while at in into and at not in path and at not in ends:
            path[at] = None
            at = into[at]
        if at in path:
            passed = list(path)
            at = min(passed[passed.index(at) :])
        end = ends.get(at, at)
        ends |= dict.fromkeys([*path, uid], end)
    return {uid: ends[uid] for uid in uids}
