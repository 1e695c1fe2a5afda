"""The port to the log of the sleep cycle: what it did, what it refused to do and why (design: "Sleep cycle").

A step that changes the graph is logged by the transaction that does it: so none is done without a trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Outcome(StrEnum):
    """What became of a step."""

    DONE = "done"
    REFUSED = "refused"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceStep:
    """Something that a ``task`` of the sleep cycle did, or would not do, in a context.

    ``subject`` is the uid of what it made, or retired; of what it refused, of what it was about. ``reason`` says why it
    refused, ``details`` what a person may want to know: they are JSON.
    """

    id: str
    tenant: str
    context: str
    task: str
    outcome: Outcome
    at: datetime
    subject: str
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ArrivalCount:
    """How many items had arrived in a context, at one moment."""

    tenant: str
    context: str
    arrivals: int


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


class SleepLog(Protocol):
    """The steps of all tenants, and how far the sleep cycle is: no export has that."""

    async def step(self, step_id: str) -> MaintenanceStep | None:
        """Return the step of this id, or None."""
        ...

    async def grown(self, by: int, *, limit: int) -> list[ArrivalCount]:
        """Return up to ``limit`` contexts of all tenants that ``by`` items, 1 or more, arrived in since it was noted.

        Where nothing is noted, since the context began. So many, and as many as a 20th of all that ever arrived in it:
        who goes through all of it each time has then not more to do for an item than in a small one. Those that come
        first are the engine's choice.
        """
        ...

    async def note_growth(self, growth: ArrivalCount) -> None:
        """Note that a context has been through with so many items; fewer than noted before are ignored."""
        ...

    async def note_round(self, note: Round) -> None:
        """Note a round in place of the one before of its task."""
        ...

    async def rounds(self) -> list[Round]:
        """Return the last round of each task, by its name."""
        ...
