"""Whether passages that a question could have found still wait for their vectors."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from vicw_retrieval.access.visibility import Visibility, filter_results
from vicw_shared.errors import RetryableError
from vicw_shared.ports import GraphStore, Outbox, Scope

PENDING = "pending"
"""Part of an answer that is degraded while passages that the caller may see wait for their vectors."""
_READ = 200
"""Waiting passages that are looked at for one in scope: all that wait together are usually of one request."""


async def is_waiting(outbox: Outbox | None, graph: GraphStore, scope: Scope) -> bool:
    """Return whether a passage waits that may be a result in ``scope``; False without an outbox or if it fails.

    A passage that the viewer may not see does not count, so that the answer does not tell of it.
    """
    if outbox is None:
        return False
    # Where the context decides alone, the first passage answers; the engine knows no other filter.
    decided = scope.audience is None and scope.domains is None and scope.condition is None
    decided = decided and not (scope.tags_any or scope.tags_all or scope.tags_none or scope.travels)
    with contextlib.suppress(RetryableError, TimeoutError):
        passages = await outbox.waiting(scope.tenant, contexts=scope.contexts, limit=1 if decided else _READ)
        return bool(passages) and (decided or await _any_in_scope(graph, scope, passages))
    return False


async def _any_in_scope(graph: GraphStore, scope: Scope, passages: list[str]) -> bool:
    owners = await graph.owners(scope.tenant, passages)
    items = await graph.nodes(scope.tenant, [item.uid for item in owners.values()])
    seen = await Visibility(graph, scope).nodes(list(items.values()))
    visible = {node.uid for node in seen}
    saying = [replace(items[i.uid], qdrant_id=passage) for passage, i in owners.items() if i.uid in visible]
    return bool(await filter_results(graph, scope, saying)) if saying else False
