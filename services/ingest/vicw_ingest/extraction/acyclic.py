"""Find new CAUSED and SUPERSEDES edges that would close a cycle, and causes later than their effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vicw_shared.model import Edge, Node
from vicw_shared.ports import Direction, GraphTransaction

ORDERED = frozenset({"CAUSED", "SUPERSEDES"})
"""Edge types that must stay acyclic."""
_MAX_HOPS = 100
_MAX_NODES = 10_000


async def rejected_edges(
    transaction: GraphTransaction, edges: Sequence[Edge], nodes: Mapping[str, Node]
) -> dict[str, str]:
    """Return the reason for each of the new ``edges`` that must be rejected, by edge id.

    If several new edges close a cycle together, the last one is rejected. ``nodes`` are the known ends of the edges.
    """
    reasons: dict[str, str] = {}
    for edge_type in sorted(ORDERED):
        new = [edge for edge in edges if edge.type == edge_type]
        if not new:
            continue
        onward = await _stored(transaction, edge_type, [edge.target for edge in new])
        for edge in new:
            if _is_later(nodes.get(edge.source), nodes.get(edge.target)) and edge_type == "CAUSED":
                reasons[edge.id] = "is later than its effect"
            elif edge.source in _reached(onward, edge.target):
                reasons[edge.id] = f"closes a cycle of {edge_type}"
            else:
                onward.setdefault(edge.source, set()).add(edge.target)
    return reasons


async def _stored(transaction: GraphTransaction, edge_type: str, starts: Sequence[str]) -> dict[str, set[str]]:
    """Return the stored edges of a type reachable from some nodes, up to the limits of hops and nodes."""
    onward: dict[str, set[str]] = {}
    frontier, seen = set(starts), set(starts)
    for _ in range(_MAX_HOPS):
        edges = await transaction.edges(sorted(frontier), [edge_type], Direction.OUT) if frontier else []
        for edge in edges:
            onward.setdefault(edge.source, set()).add(edge.target)
        frontier = {edge.target for edge in edges} - seen
        seen |= frontier
        if not frontier or len(seen) > _MAX_NODES:
            break
    return onward


def _reached(onward: Mapping[str, set[str]], start: str) -> set[str]:
    seen, open_ = {start}, [start]
    while open_:
        for uid in onward.get(open_.pop(), ()):
            if uid not in seen:
                seen.add(uid)
                open_.append(uid)
    return seen


def _is_later(cause: Node | None, effect: Node | None) -> bool:
    """Return whether a cause is known to be later than its effect; inferred times do not count."""
    if cause is None or effect is None or cause.timestamp is None or effect.timestamp is None:
        return False
    is_stated = not cause.timestamp_inferred and not effect.timestamp_inferred
    return is_stated and cause.timestamp > effect.timestamp
