"""The full-text channel: the graph's own index over texts, and over names, titles and tags, which count double."""

from __future__ import annotations

from vicw_shared.ports import GraphStore, Scope, VectorHit


async def search_fulltext(graph: GraphStore, query: str, scope: Scope, limit: int) -> list[VectorHit]:
    """Return passages by full-text score (> 0), best first; scores compare within one answer only.

    ``query`` is searched as plain words; nothing in it is query syntax.
    """
    return [VectorHit(hit.uid, hit.score) for hit in await graph.find(scope, query, limit)]
