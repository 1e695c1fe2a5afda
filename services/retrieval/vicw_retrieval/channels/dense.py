"""The dense channel: the wrapped query against the passages' vectors (seed 003 §3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vicw_shared.ports import Embedder, Lane, Scope, VectorHit, VectorQuery, VectorStore
from vicw_shared.wrapper import wrap


async def embed_query(embedder: Embedder, query: str, *, prefix: str, domain: str | None) -> NDArray[np.float32]:
    """Return the query's unit vector: the model's prefix, then the same wrapper that documents have."""
    rows = await embedder.embed([prefix + wrap(query, domain=domain)], Lane.QUERY)
    vector: NDArray[np.float32] = rows[0]
    return vector


async def search_dense(
    vectors: VectorStore,
    vector: NDArray[np.float32],
    scope: Scope,
    limit: int,
    among: Sequence[str] | None = None,
) -> list[VectorHit]:
    """Return passages by cosine in [-1, 1], best first."""
    return await vectors.search(VectorQuery(scope=scope, limit=limit, dense=vector, among=among))
