"""Undo a step of the sleep cycle, of any task."""

from __future__ import annotations

from vicw_runtime.operations import Memory
from vicw_shared.clock import now
from vicw_shared.errors import MissingRecordError
from vicw_shared.text import counted
from vicw_sleep.consolidation.job import consolidation_of
from vicw_sleep.dream.job import dreamer_of
from vicw_sleep.history.model import LoggedTask
from vicw_sleep.resolve.job import resolver_of


async def undo_step(memory: Memory, step_id: str, *, key: str | None = None) -> str:
    """Undo a step; return a message for the user. ``key``: the id of the caller's key, for the record of changes.

    Raises MissingRecordError with the reason if the step cannot be undone.
    """
    grace = memory.settings.sleep.grace
    step = await memory.graph.log.step(step_id)
    task = step.task if step is not None else None
    if task == LoggedTask.DREAM:
        removed = await dreamer_of(memory).undo(step_id, now=now(), grace=grace, key=key)
        return f"{counted(removed, 'auto-tag')} removed; dreams skip this item from now on"
    if task == LoggedTask.EVICT:
        raise MissingRecordError(f"Step {step_id!r} cannot be undone: evicted items are erased")
    if task == LoggedTask.EXPIRE:
        # Its facts about entities that live on were deleted with it: only half of the item could be restored.
        raise MissingRecordError(
            f"Step {step_id!r} cannot be undone: the item expired at its `expires_at`. Send it again without "
            f"`expires_at`, or with a later one. A question whose `as_of` and `query_time` both lie before that time "
            f"still finds it"
        )
    if task == LoggedTask.RESOLVE:
        split = await resolver_of(memory).undo(step_id, now=now(), grace=grace, key=key)
        return (
            f"{'the two entities are separate again' if split else 'the two were already separate'}; they stay unmerged"
        )
    restored = await consolidation_of(memory).undo(step_id, now=now(), grace=grace, key=key)
    return f"{counted(len(restored.items), 'Event')} restored"
