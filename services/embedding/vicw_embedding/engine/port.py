"""What a lane needs of an engine: a model in memory, and contexts that compute batches on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from vicw_embedding.engine.windows import SpecialTokens
    from vicw_shared.embedding_models import Pooling


class EngineError(RuntimeError):
    """An engine refused a call; the process and its contexts are still usable."""


class Model(Protocol):
    """A model in memory. Its methods may be called from any thread."""

    size: int
    """Dimensions of a vector."""
    context_length: int
    """Tokens of the longest window that the model can read."""
    frame: SpecialTokens
    max_sequences: int
    """Windows of the largest batch."""
    pads: bool
    """Whether each window of a batch costs as much as its longest one."""

    def tokenize(self, text: str) -> list[int]:
        """Return the text's token ids without special tokens; text that looks like one is plain text."""
        ...

    def workers(self, threads: int) -> int:
        """Return how many contexts of a lane share ``threads`` cores; each gets an equal part."""
        ...

    def open_context(self, pooling: Pooling, *, threads: int, batch_tokens: int) -> Context:
        """Allocate a context for batches of ``batch_tokens`` at most, on the thread that will use it.

        Raises EngineError.
        """
        ...

    def close(self) -> None:
        """Free the model. Its contexts must be closed before. Safe to call twice."""
        ...


class Context(Protocol):
    """Computes one batch at a time. Every call must come from the thread that opened it."""

    def embed(self, sequences: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return an array of shape (len(sequences), size), float32, not normalised.

        Raises ValueError for no sequence, an empty one, or more than one batch holds; EngineError if the engine
        refuses the batch.
        """
        ...

    def close(self) -> None:
        """Free the buffers. Safe to call twice."""
        ...
