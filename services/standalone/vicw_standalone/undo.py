"""Taking back a step of the sleep cycle, whichever task did it."""

from __future__ import annotations

from typing import Protocol

from vicw_ingest.eviction.service import FORGET
from vicw_ingest.versions.expiry import EXPIRE
from vicw_shared.clock import now
from vicw_shared.edge_factory import DREAM, RESOLVE
from vicw_shared.errors import MissingRecordError
from vicw_shared.indexes import Indexes
from vicw_shared.ports import Store
from vicw_sleep.consolidation.service import Consolidation, OnBatch
from vicw_sleep.dream.service import Dream
from vicw_sleep.resolve.service import Resolve
from vicw_standalone.counts import counted
from vicw_standalone.settings import StandaloneSettings


class Sleeper(Protocol):
    """The open stores, here or of the platform."""

    @property
    def graph(self) -> Store:
        """The graph."""
        ...

    @property
    def indexes(self) -> Indexes:
        """The vector indexes that are written and read."""
        ...

    def consolidation(self, told: OnBatch | None = None) -> Consolidation:
        """Return what consolidates old Events; ``told`` hears of each batch."""
        ...

    def dream(self) -> Dream:
        """Return what dreams of items."""
        ...

    def resolve(self) -> Resolve:
        """Return what merges duplicates."""
        ...


async def take_back(sleeper: Sleeper, step_id: str, settings: StandaloneSettings) -> str:
    """Take a step back; return what became of it, for a person.

    Raises NotFoundError for a step that cannot be undone, with the reason.
    """
    graph = sleeper.graph
    step = await graph.log.step(step_id)
    task = step.task if step is not None else None
    if task == DREAM:
        gone = await sleeper.dream().undo(step_id, now=now(), grace=settings.sleep.grace)
        return f"{counted(gone, 'auto-tag')} removed; dreams skip this item from now on"
    if task == FORGET:
        raise MissingRecordError(f"Step {step_id!r} cannot be undone: evicted items are erased")
    if task == EXPIRE:
        # What the item said of things that live on was dropped with it, and no node has it: half of it would come back.
        raise MissingRecordError(
            f"Step {step_id!r} cannot be undone: the item expired at its `expires_at`. Send it again without "
            f"`expires_at`, or with a later one. A question whose `as_of` and `query_time` both lie before that time "
            f"still finds it"
        )
    if task == RESOLVE:
        split = await sleeper.resolve().undo(step_id, now=now(), grace=settings.sleep.grace)
        return (
            f"{'the two entities are separate again' if split else 'the two were already separate'}; they stay unmerged"
        )
    back = await sleeper.consolidation().undo(step_id, now=now(), grace=settings.sleep.grace)
    return f"{counted(len(back.items), 'Event')} restored"
