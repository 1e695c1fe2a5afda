"""The indexes as work sees them that nobody waits for: it lets questions go first, also between two texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vicw_shared.courtesy import Courtesy, polite
from vicw_shared.indexes import Index, Indexes
from vicw_shared.ports import Embedder, Lane


class _Piecemeal:
    """Has everything that an embedder has. While questions come it embeds one text at a time."""

    def __init__(self, embedder: Embedder, courtesy: Courtesy) -> None:
        self._embedder = embedder
        self._courtesy = courtesy

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if self._courtesy.is_lull:
            await self._courtesy.give_way()
            return await self._embedder.embed(texts, lane)
        rows = []
        for text in texts:
            await self._courtesy.give_way()
            rows.append(await self._embedder.embed([text], lane))
        return np.concatenate(rows) if rows else await self._embedder.embed(texts, lane)


class _Background:
    """Has everything that ``Indexes`` has; what it opens gives way."""

    def __init__(self, indexes: Indexes, courtesy: Courtesy) -> None:
        self._indexes = indexes
        self._courtesy = courtesy

    def __getattr__(self, name: str) -> Any:
        return getattr(self._indexes, name)

    async def writing(self) -> Sequence[Index]:
        courtesy = self._courtesy
        return [
            replace(
                index,
                vectors=polite(index.vectors, courtesy),
                embedder=cast("Embedder", _Piecemeal(index.embedder, courtesy)),
            )
            for index in await self._indexes.writing()
        ]


def background(indexes: Indexes, courtesy: Courtesy) -> Indexes:
    """Return the indexes for work in the background."""
    return cast("Indexes", _Background(indexes, courtesy))
