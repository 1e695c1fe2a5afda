"""The BM25 channel: the query's terms against the passages' sparse vectors."""

from __future__ import annotations

from vicw_shared.ports import Scope, SparseVector, VectorHit, VectorQuery, VectorStore


async def search_bm25(
    vectors: VectorStore,
    terms: SparseVector,
    scope: Scope,
    limit: int,
    without: tuple[str, ...] = (),
) -> list[VectorHit]:
    """Return passages by BM25 in [0, ceiling], best first; no terms find nothing."""
    return await vectors.search(VectorQuery(scope=scope, limit=limit, sparse=terms, without=without))
