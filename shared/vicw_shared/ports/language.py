"""Language model port (completions constrained to a JSON schema) and reranker port (scores of texts for a question)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Role(StrEnum):
    """Author of a message, as in chat completion APIs."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One message to or from the model."""

    role: Role
    text: str


class Finish(StrEnum):
    """Reason why generation ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer of a model with its token counts (0: the server does not report them).

    ``text`` should be JSON of the requested schema. The caller has to validate it: not every server enforces the
    schema, and an answer with finish LENGTH is truncated.
    """

    text: str
    finish: Finish
    model: str
    tokens_in: int = 0
    tokens_out: int = 0


class LanguageModel(Protocol):
    """Language model that answers in JSON of a given schema. Calls have no side effects and may be repeated."""

    async def complete(
        self, messages: Sequence[Prompt], schema: Mapping[str, object], *, max_tokens: int
    ) -> Completion:
        """Return the answer to ``messages``, at most ``max_tokens`` long.

        Raises UnavailableError when the model cannot be reached (TooSlowError: it did not answer in time),
        OverloadedError when its queue is full, LimitExceededError and InvalidInputError when it refuses the request,
        SettingsError when the address, the key or the model is wrong.
        """
        ...

    async def close(self) -> None:
        """Release the model. Safe to call twice."""
        ...


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
