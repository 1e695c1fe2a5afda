"""An embedder that needs no model: vectors seeded from a hash of each word, so that shared words are near."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vicw_core.index.wrapper import WRAPPER_VERSION
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Lane, ModelIdentity

SIZE = 64


class HashEmbedder:
    """Embedder over hashed words. ``down`` makes it unreachable; ``seen`` lists what it was asked."""

    def __init__(self, name: str = "hash", digest: str = "0" * 64) -> None:
        self.name = name
        self.digest = digest
        self.down = False
        self.seen: list[tuple[Lane, str]] = []

    async def identity(self) -> ModelIdentity:
        return ModelIdentity(self.name, SIZE, self.digest, WRAPPER_VERSION)

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if self.down:
            raise UnavailableError("embedding", "the double is down")
        self.seen += [(lane, text) for text in texts]
        rows = np.zeros((len(texts), SIZE), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in [text, *text.lower().split()]:
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
                row += np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)
        norms = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return (rows / norms).astype(np.float32)

    def questions(self) -> list[str]:
        """What was asked in the lane of queries."""
        return [text for lane, text in self.seen if lane is Lane.QUERY]

    async def close(self) -> None:
        pass
