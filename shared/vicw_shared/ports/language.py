"""The port to a language model: one answer, held to a JSON schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Role(StrEnum):
    """Whose turn it is."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Something that was said to the model, or by it."""

    role: Role
    text: str


class Finish(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model has answered, and what that cost in tokens (0: the server does not tell).

    ``text`` is meant to be JSON of the schema that was asked for; whether it is, is for the caller to find out: not
    every server keeps its promise, and an answer that ended by LENGTH is cut off.
    """

    text: str
    finish: Finish
    model: str
    tokens_in: int = 0
    tokens_out: int = 0


class LanguageModel(Protocol):
    """A model that answers in JSON of a given schema. Answers change nothing, so a call may be repeated."""

    async def complete(self, turns: Sequence[Prompt], schema: Mapping[str, object], *, max_tokens: int) -> Completion:
        """Return the answer to ``turns``, of ``max_tokens`` at most.

        Raises UnavailableError when the model cannot be reached (TooSlowError: it did not answer in time),
        OverloadedError when its queue is full, TooLargeError and InvalidInputError when it refuses what it is sent,
        SettingsError when the address, the key or the model is wrong.
        """
        ...

    async def close(self) -> None:
        """Release the model. Safe to call twice."""
        ...
