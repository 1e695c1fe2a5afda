"""Reranker port: a cross-encoder that scores how well a text answers a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Scores texts against a question. Calls have no side effects and may be repeated."""

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in order: finite, higher is better, comparable within one call only.

        Raises UnavailableError when the model cannot be reached or returns an invalid answer (TooSlowError: not in
        time), OverloadedError when its queue is full, LimitExceededError and InvalidInputError when it refuses the
        request, SettingsError when the address, the key or the model is wrong.
        """
        ...

    async def close(self) -> None:
        """Release the model. Safe to call twice."""
        ...
