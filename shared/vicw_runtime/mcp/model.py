"""Structured answers of the tools, for applications: the text for the model is among them."""

from __future__ import annotations

from pydantic import BaseModel, Field


class RecalledMemory(BaseModel):
    """A memory that an answer shows; ``address`` is what the tools call it by."""

    address: str
    uid: str
    context: str
    speaker: str | None = None
    source: str | None = None
    at: str | None = None
    relevance: float | None = None


class ScopedAnswer(BaseModel):
    """An answer: its ``scope`` (missing: all contexts) and the ``text`` that the model reads."""

    scope: str | None = None
    text: str


class Recollection(ScopedAnswer):
    """The answer of ``recall`` and ``trace``; ``answered``: whether it holds what was asked."""

    memories: list[RecalledMemory]
    answered: str | None = None


class WrittenMemories(ScopedAnswer):
    """The answer of ``remember`` and ``retract``: what became of each address."""

    statuses: dict[str, str]


class MemoryStatus(ScopedAnswer):
    """The answer of ``memory_status``: contexts with their number of items, and the rights of the key."""

    contexts: dict[str, int]
    rights: list[str] = Field(default_factory=list)
