"""NullEmbedder: the embedder of a deployment without vectors (VICW_EMBEDDER=none)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vicw_shared.ports import NO_MODEL, Lane, ModelIdentity


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
