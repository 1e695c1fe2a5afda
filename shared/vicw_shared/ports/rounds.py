"""The port to how far the sleep cycle is: the last round of each of its tasks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Round:
    """A ``task`` gone through, turn by turn: when it ``began``, and when it was last heard of (``at``).

    ``over``: nothing is left to do. ``error`` says why it ended before that; the next round begins anew.
    """

    task: str
    began: datetime
    at: datetime
    turns: int = 0
    over: bool = False
    error: str = ""


class Rounds(Protocol):
    """The rounds of a store. No export has them."""

    async def note_round(self, note: Round) -> None:
        """Note a round in place of the one before of its task."""
        ...

    async def rounds(self) -> list[Round]:
        """Return the last round of each task, by its name."""
        ...
