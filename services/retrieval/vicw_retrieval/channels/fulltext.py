"""The full-text channel: the graph's own index over texts, and over names, titles and tags, which count double."""

from __future__ import annotations

from vicw_shared.ports import GraphStore, Scope, VectorHit


async def search_fulltext(graph: GraphStore, query: str, scope: Scope, limit: int) -> list[VectorHit]:
    """Return passages by their words, best first; scores > 0 compare inside one answer only.

    Nothing in ``query`` is syntax: the store looks for its words.
    """
    return [VectorHit(hit.uid, hit.score) for hit in await graph.find(scope, query, limit)]
