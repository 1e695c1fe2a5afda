"""Which items pass the filter of a question."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_shared.ports import GraphStore, Scope


async def passing_filter(graph: GraphStore, scope: Scope, items: Sequence[str]) -> set[str]:
    """Return which of these items (uids) pass the filter of a scope; all do without one."""
    if scope.condition is None or not items:
        return set(items)
    if scope.items is not None:
        return set(items).intersection(scope.items)
    return set(await graph.passing_items(scope.tenant, scope.condition, len(items), among=items))
