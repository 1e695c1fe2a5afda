"""The lexical channels: BM25 on the passages' sparse vectors, and the graph's own full-text index."""

from __future__ import annotations

from vicw_shared.ports import GraphStore, Scope, SparseVector, VectorHit, VectorQuery, VectorStore


async def search_bm25(
    vectors: VectorStore,
    terms: SparseVector,
    scope: Scope,
    limit: int,
    without: tuple[str, ...] = (),
) -> list[VectorHit]:
    """Return passages by BM25 in [0, ceiling], best first; no terms find nothing."""
    return await vectors.search(VectorQuery(scope=scope, limit=limit, sparse=terms, without=without))


async def search_fulltext(graph: GraphStore, query: str, scope: Scope, limit: int) -> list[VectorHit]:
    """Return passages by full-text score (> 0), best first; scores compare within one answer only.

    ``query`` is searched as plain words; nothing in it is query syntax.
    """
    return [VectorHit(hit.uid, hit.score) for hit in await graph.find(scope, query, limit)]
