"""The default model as an embedder inside the test's process, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import vicw_minilm
from support.fakes.hash_embedder import HashEmbedder
from vicw_core.index.wrapper import WRAPPER_VERSION
from vicw_embedding.engine import windows
from vicw_embedding.engine.onnx import OnnxModel
from vicw_shared.embedding_models import DEFAULT_MODEL, MODELS, Pooling
from vicw_shared.ports import Lane, ModelIdentity


class MiniLmEmbedder(HashEmbedder):
    """Computes one text at a time, in windows as the server cuts them."""

    def __init__(self) -> None:
        super().__init__("minilm")
        folder = vicw_minilm.FOLDER
        self.model = OnnxModel(folder / "model.onnx", folder / "tokenizer.json", MODELS[DEFAULT_MODEL].max_tokens)

    async def identity(self) -> ModelIdentity:
        return ModelIdentity(self.name, self.model.size, self.digest, WRAPPER_VERSION)

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        self.seen += [(lane, text) for text in texts]
        return await asyncio.to_thread(lambda: np.stack([self.vector(text) for text in texts]))

    def vector(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a text."""
        parts = windows.cut(self.model.tokenize(text), self.model.frame, self.model.context_length)
        return windows.join(np.concatenate([self.model.run([part], Pooling.MEAN) for part in parts]))
