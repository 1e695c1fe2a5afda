"""Trigger phrases: entry into the graph by the phrases that callers gave their items."""

from __future__ import annotations

from vicw_retrieval.access.result_filter import filter_results
from vicw_retrieval.access.visibility import MAX_READ, Visibility
from vicw_shared.model import Node
from vicw_shared.model.triggers import phrases_in
from vicw_shared.ports import GraphStore, Scope
from vicw_shared.settings import RetrievalSettings

_FIRST_LOOK = 20
_WIDER = 8


async def seeds_of(question: str, scope: Scope, graph: GraphStore, settings: RetrievalSettings) -> list[Node]:
    """Return the items with a trigger phrase in ``question``, visible and in ``scope``.

    Protected items come first, then the most important; ``settings.trigger_seeds`` at most. Per phrase at most
    ``MAX_READ`` items are read to find visible ones.
    """
    phrases = phrases_in(question) if settings.trigger_seeds else []
    visibility, limit = Visibility(graph, scope), _FIRST_LOOK
    while phrases:
        items = await graph.triggered(scope.tenant, phrases, contexts=scope.contexts, limit=limit)
        results = await filter_results(graph, scope, await visibility.nodes(items))
        if len(results) >= settings.trigger_seeds or len(items) < limit or limit >= MAX_READ:
            return results[: settings.trigger_seeds]
        limit = min(limit * _WIDER, MAX_READ)
    return []
