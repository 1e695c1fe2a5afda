"""The texts that a model was trained to see before a question and before a passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vicw_shared.embedding_models import MODELS
from vicw_shared.ports import Embedder, Lane, ModelIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vicw_shared.settings import EmbeddingSettings


def query_prefix(settings: EmbeddingSettings, model: ModelIdentity) -> str:
    """Return the query prefix of the settings, else that of the registered model, else none."""
    if settings.query_prefix is not None:
        return settings.query_prefix
    card = MODELS.get(model.name)
    return card.query_prefix if card is not None else ""


def with_passage_prefix(embedder: Embedder, model: ModelIdentity) -> Embedder:
    """Return the embedder, which puts the passage prefix of a registered model before passages.

    No setting changes it: all vectors of one identity are made with the same prefix.
    """
    card = MODELS.get(model.name)
    return _PassagePrefixer(embedder, card.passage_prefix) if card is not None and card.passage_prefix else embedder


@dataclass(frozen=True, slots=True)
class _PassagePrefixer:
    embedder: Embedder
    prefix: str

    async def identity(self) -> ModelIdentity:
        return await self.embedder.identity()

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        # What joins the bulk lane is stored; what joins the query lane has its own prefix already.
        return await self.embedder.embed([self.prefix + text for text in texts] if lane is Lane.BULK else texts, lane)

    async def close(self) -> None:
        await self.embedder.close()
