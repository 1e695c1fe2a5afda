"""``/admin``: undo, for commands beside a running server."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Id, Message


class UndoRequest(Message):
    """Undo a step of the sleep cycle."""

    step: Id = Field(description="Its id, as `vicw sleep log` shows it")


class Undone(Message):
    """Outcome of an undo, in a sentence."""

    message: str
