"""An embedder for filling a store that is only timed: random directions instead of a model's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vicw_shared.ports import Lane, ModelIdentity


class SeededEmbedder:
    """Embedder of random unit vectors, the same for the same text, under the identity of another model.

    A store filled with it opens with that model: its search costs the same, its results mean nothing.
    """

    def __init__(self, identity: ModelIdentity) -> None:
        self._identity = identity

    async def identity(self) -> ModelIdentity:
        """Return the identity that was given."""
        return self._identity

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        """Return shape (len(texts), size), float32, norm 1."""
        rows = np.empty((len(texts), self._identity.size), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
            row[:] = np.random.default_rng(seed).standard_normal(self._identity.size, dtype=np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    async def close(self) -> None:
        """Nothing to release."""
