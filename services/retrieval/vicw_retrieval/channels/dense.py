"""The dense channel: the wrapped query against the passages' vectors (seed 003 §3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vicw_shared.ports import Embedder, Lane, Scope, VectorHit, VectorQuery, VectorStore


async def embed_query(embedder: Embedder, wrapped: str) -> NDArray[np.float32]:
    """Return the unit vector of a query that has its wrapper and the model's prefix already."""
    rows = await embedder.embed([wrapped], Lane.QUERY)
    vector: NDArray[np.float32] = rows[0]
    return vector


async def search_dense(
    vectors: VectorStore,
    vector: NDArray[np.float32],
    scope: Scope,
    limit: int,
    without: tuple[str, ...] = (),
) -> list[VectorHit]:
    """Return passages by cosine in [-1, 1], best first."""
    return await vectors.search(VectorQuery(scope=scope, limit=limit, dense=vector, without=without))
