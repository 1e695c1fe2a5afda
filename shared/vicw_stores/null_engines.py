"""NullEmbedder and NullVectorStore: the engines of a deployment without vectors (VICW_EMBEDDER=none). NullQueue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vicw_shared.ports import NO_MODEL, Lane, ModelIdentity, Point, ScoreQuery, SparseVector, VectorHit, VectorQuery


class NullVectorStore:
    """A VectorStore that is always empty: the graph answers all searches."""

    async def upsert(self, points: Sequence[Point]) -> None:
        """Do nothing."""

    async def set_payload(self, payloads: Mapping[str, Mapping[str, object]]) -> None:
        """Do nothing."""

    async def set_sparse(self, vectors: Mapping[str, SparseVector]) -> None:
        """Do nothing."""

    async def delete(self, ids: Sequence[str]) -> None:
        """Do nothing."""

    async def search(self, query: VectorQuery) -> list[VectorHit]:
        """Return nothing."""
        return []

    async def score(self, queries: Sequence[ScoreQuery]) -> list[dict[str, float]]:
        """Return an empty mapping for each query."""
        return [{} for _ in queries]

    async def dense(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return nothing."""
        return {}

    async def terms(self, ids: Sequence[str]) -> dict[str, frozenset[int]]:
        """Return nothing."""
        return {}

    async def domains(self, tenant: str, *, public: bool = False) -> dict[str, int]:
        """Return nothing."""
        return {}

    async def payloads(self, ids: Sequence[str]) -> dict[str, Mapping[str, object]]:
        """Return nothing."""
        return {}

    async def present(self, ids: Sequence[str]) -> set[str]:
        """Return nothing."""
        return set()

    async def ids(self, *, after: str | None, limit: int) -> list[str]:
        """Return nothing."""
        return []

    async def close(self) -> None:
        """Do nothing."""


class NullQueue:
    """A WorkQueue that no process takes work from: it begins when one starts."""

    async def wake(self) -> None:
        """Do nothing."""


class NullEmbedder:
    """An Embedder with vectors of size 0. It loads no model."""

    async def identity(self) -> ModelIdentity:
        """Return ``NO_MODEL``."""
        return NO_MODEL

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        """Return an array of shape (len(texts), 0), float32."""
        return np.zeros((len(texts), 0), np.float32)

    async def close(self) -> None:
        """Do nothing."""
