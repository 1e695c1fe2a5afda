"""Undo a step of the sleep cycle, of any task."""

from __future__ import annotations

from typing import Protocol

from vicw_core.graph.edge_factory import DREAM, RESOLVE
from vicw_ingest.eviction.service import EVICT
from vicw_ingest.expiry.service import EXPIRE
from vicw_runtime.indexes import Indexes
from vicw_shared.clock import now
from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import Store
from vicw_shared.text import counted
from vicw_sleep.consolidation.service import Consolidation, OnBatch
from vicw_sleep.dream.service import Dreamer
from vicw_sleep.resolve.service import EntityResolver
from vicw_standalone.settings import StandaloneSettings


class SleepCycle(Protocol):
    """The open stores of this process or the platform."""

    @property
    def graph(self) -> Store:
        """The graph."""
        ...

    @property
    def indexes(self) -> Indexes:
        """The vector indexes that are written and read."""
        ...

    def consolidation(self, on_batch: OnBatch | None = None) -> Consolidation:
        """Return the consolidation; it calls ``on_batch`` for each batch."""
        ...

    def dream(self) -> Dreamer:
        """Return the dream job."""
        ...

    def resolve(self) -> EntityResolver:
        """Return the entity resolution."""
        ...


async def undo_step(sleep_cycle: SleepCycle, step_id: str, settings: StandaloneSettings) -> str:
    """Undo a step; return a message for the user.

    Raises MissingRecordError with the reason if the step cannot be undone.
    """
    graph = sleep_cycle.graph
    step = await graph.log.step(step_id)
    task = step.task if step is not None else None
    if task == DREAM:
        removed = await sleep_cycle.dream().undo(step_id, now=now(), grace=settings.sleep.grace)
        return f"{counted(removed, 'auto-tag')} removed; dreams skip this item from now on"
    if task == EVICT:
        raise MissingRecordError(f"Step {step_id!r} cannot be undone: evicted items are erased")
    if task == EXPIRE:
        # Its facts about entities that live on were deleted with it: only half of the item could be restored.
        raise MissingRecordError(
            f"Step {step_id!r} cannot be undone: the item expired at its `expires_at`. Send it again without "
            f"`expires_at`, or with a later one. A question whose `as_of` and `query_time` both lie before that time "
            f"still finds it"
        )
    if task == RESOLVE:
        split = await sleep_cycle.resolve().undo(step_id, now=now(), grace=settings.sleep.grace)
        return (
            f"{'the two entities are separate again' if split else 'the two were already separate'}; they stay unmerged"
        )
    restored = await sleep_cycle.consolidation().undo(step_id, now=now(), grace=settings.sleep.grace)
    return f"{counted(len(restored.items), 'Event')} restored"
