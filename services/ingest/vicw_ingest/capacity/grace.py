"""Whose grace is over, by a clock that may have leapt: what one run alone takes for over is not erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import batched
from typing import Protocol

from vicw_ingest.capacity.judging import by_context
from vicw_shared.ports import GraphStore, GraphTransaction, Outcome, SleepLog, Step

_AT_ONCE = 25
_SKEW = timedelta(hours=1)
"""How far the clocks of two workers are apart at most."""
_DUE = "due"
"""What the details of a step say: when a run has found its grace over."""


class Logs(GraphStore, SleepLog, Protocol):
    """Where steps are noted."""


def is_ahead(step: Step, now: datetime) -> bool:
    """Tell whether a step was logged by a clock that was ahead: its grace would last too long, and uses lie before."""
    return step.at > now + _SKEW


async def waited(graph: Logs, due: Sequence[Step], now: datetime, patience: timedelta) -> list[Step]:
    """Return those of these steps, whose grace is over ``now``, of which a run has noted that ``patience`` ago.

    Of the others it is noted now; what was noted by a clock that was ahead is noted anew.
    """
    if not patience:
        return list(due)
    noted = {step.id: _noted(step) for step in due}
    fresh = [step for step in due if (at := noted[step.id]) is None or at > now]
    for some in by_context(fresh).values():
        for batch in batched(some, _AT_ONCE):
            await _note(graph, batch, now)
    return [step for step in due if (at := noted[step.id]) is not None and at <= now - patience]


async def forget_steps(graph: Logs, steps: Sequence[Step]) -> None:
    """Remove steps from the log, unless somebody has undone or replaced them since."""
    for (tenant, context), some in by_context(steps).items():
        for batch in batched(some, _AT_ONCE):

            async def work(transaction: GraphTransaction, batch: Sequence[Step] = batch) -> None:
                await transaction.drop_steps([step.id for step in batch if await _stands(graph, step)])

            await graph.write(tenant, context, work)


async def _note(graph: Logs, steps: Sequence[Step], now: datetime) -> None:
    async def work(transaction: GraphTransaction) -> None:
        for step in steps:
            if await _stands(graph, step):
                await transaction.log_step(replace(step, details={**step.details, _DUE: now.isoformat()}))

    await graph.write(steps[0].tenant, steps[0].context, work)


async def _stands(graph: Logs, step: Step) -> bool:
    there = await graph.step(step.id)
    return there is not None and (there.outcome, there.at) == (Outcome.DONE, step.at)


def _noted(step: Step) -> datetime | None:
    told = step.details.get(_DUE)
    return datetime.fromisoformat(told) if isinstance(told, str) else None
