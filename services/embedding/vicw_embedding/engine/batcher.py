"""Asyncio interface of the engine's lanes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vicw_embedding.engine import windows
from vicw_embedding.engine.lane import Embedded
from vicw_shared.errors import FieldProblem, InvalidInputError, SettingsError, UnavailableError

if TYPE_CHECKING:
    from vicw_embedding.engine.engine import Engine
    from vicw_shared.ports.embedder import Lane


class Batcher:
    """Embeds texts of many concurrent callers; texts that wait in one lane share its batches.

    ``dimensions`` is the default size of vectors; None: the model's size.
    """

    def __init__(self, engine: Engine, dimensions: int | None = None) -> None:
        """Raises SettingsError if the model does not allow ``dimensions``."""
        self._engine = engine
        if problem := engine.file.card.size_problem(dimensions):
            raise SettingsError(f"VICW_EMBEDDING_DIMENSIONS: {problem}")
        self._dimensions = dimensions

    @property
    def size(self) -> int:
        """Default number of dimensions of a vector."""
        return self._dimensions or self._engine.file.card.size

    async def embed(self, texts: Sequence[str], lane: Lane, dimensions: int | None = None) -> Embedded:
        """Return vectors of shape (len(texts), dimensions), norm 1, and the tokens read.

        Cancelling removes the texts from the queue. Raises InvalidInputError if the model does not allow
        ``dimensions``, OverloadedError, LimitExceededError, UnavailableError.
        """
        if problem := self._engine.file.card.size_problem(dimensions):
            raise InvalidInputError(FieldProblem("dimensions", problem, "Leave it out for the model's own size"))
        embedded = await asyncio.wrap_future(self._engine.submit(texts, lane))
        return Embedded(windows.shorten(embedded.rows, dimensions or self._dimensions), embedded.tokens)

    async def check(self) -> None:
        """Raise UnavailableError if a lane has stopped."""
        if not self._engine.alive:
            raise UnavailableError("model", "a lane of the embedding engine has stopped")
