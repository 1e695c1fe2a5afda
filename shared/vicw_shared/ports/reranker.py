"""A model that reads a question and a text together, and says how well the text answers it (a cross-encoder)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Judges texts by a question. Judging changes nothing, so a call may be repeated."""

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in order: finite, higher is better, comparable within one call alone.

        Raises UnavailableError when the model cannot be reached or answers nonsense (TooSlowError: not in time),
        OverloadedError when its queue is full, TooLargeError and InvalidInputError when it refuses what it is sent,
        SettingsError when the address, the key or the model is wrong.
        """
        ...

    async def close(self) -> None:
        """Release the model. Safe to call twice."""
        ...
