"""Paths by which the nodes of an answer were reached, along its edges (seed 004, "TraversalResult")."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from vicw_shared.model import Edge


def paths_of(
    starts: Iterable[str], edges: Sequence[Edge], source_items: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return, for each node connected to a start, the edge ids of a shortest path, the start's first.

    Edges are followed either way. Between an item and the events of its text (``source_items``: event to item) there is
    no edge to count. A start has no edges; nodes that no edge of the answer reaches are left out.
    """
    near: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for event, item in source_items.items():
        near.setdefault(item, []).append((event, ()))
        near.setdefault(event, []).append((item, ()))
    for edge in edges:
        near.setdefault(edge.source, []).append((edge.target, (edge.id,)))
        near.setdefault(edge.target, []).append((edge.source, (edge.id,)))
    paths: dict[str, tuple[str, ...]] = dict.fromkeys(starts, ())
    frontier = deque(paths)
    while frontier:
        node = frontier.popleft()
        for neighbour, along in near.get(node, ()):
            path = paths[node] + along
            if neighbour not in paths or len(path) < len(paths[neighbour]):
                paths[neighbour] = path
                # The events of an item are as near as the item itself.
                (frontier.append if along else frontier.appendleft)(neighbour)
    return paths
