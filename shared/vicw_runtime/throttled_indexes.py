"""Throttled indexes for background work: they yield to foreground requests, even between the texts of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vicw_runtime.background_throttle import BackgroundThrottle, Throttled, throttled
from vicw_runtime.indexes import Index, Indexes
from vicw_shared.ports import Embedder, Lane, VectorStore

TEXTS_AT_ONCE = 8
"""Texts embedded in one step while no request runs: a new request waits for them for at most half a second."""


class BatchedVectors(Throttled[Embedder]):
    """Embeds in small batches: one text at a time while requests run."""

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        """Return what ``Embedder.embed`` returns, in several steps."""
        rows: list[NDArray[np.float32]] = []
        done = 0
        while not rows or done < len(texts):
            await self._throttle.yield_to_foreground()
            end = done + (TEXTS_AT_ONCE if self._throttle.is_quiet else 1)
            rows.append(await self._engine.embed(texts[done:end], lane))
            done = end
        return np.concatenate(rows)


class _ThrottledIndexes(Throttled[Indexes]):
    """Throttles the indexes that it opens, too."""

    async def open_vectors(self) -> VectorStore | None:
        vectors = await self._engine.open_vectors()
        return throttled(vectors, self._throttle) if vectors is not None else None

    async def write_index(self) -> Index:
        index = await self._engine.write_index()
        return replace(
            index,
            vectors=throttled(index.vectors, self._throttle),
            embedder=cast("Embedder", BatchedVectors(index.embedder, self._throttle)),
        )


def throttled_indexes(indexes: Indexes, throttle: BackgroundThrottle) -> Indexes:
    """Return a throttled proxy of the indexes for background work."""
    return cast("Indexes", _ThrottledIndexes(indexes, throttle))
