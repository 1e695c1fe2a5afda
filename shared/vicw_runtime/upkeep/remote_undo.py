"""Undo of a step by the sleep worker, for a service that has no sleep cycle of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import GraphTransaction, MaintenanceStep, Outcome, Store

_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class RemoteUndo:
    """Sends a step to the worker (``send``: its id and the caller's key), and waits for the outcome in the log.

    A step that the worker cannot undo stays done, with the reason. ``seconds`` is the longest time to wait.
    """

    graph: Store
    send: Callable[[str, str | None], Awaitable[None]]
    seconds: float

    async def undo(self, step: MaintenanceStep, key: str | None) -> MaintenanceStep:
        """Return the step as it is then. Raises MissingRecordError if it cannot be undone; UnavailableError if the
        worker could not be told."""
        if step.reason:  # of an earlier try
            step = await log_reason(self.graph, step, "")
        await self.send(step.id, key)
        until = time.monotonic() + self.seconds
        while step.outcome is Outcome.DONE and time.monotonic() < until:
            await asyncio.sleep(_POLL_SECONDS)
            step = await self.graph.log.step(step.id) or step
            if step.outcome is Outcome.DONE and step.reason:
                raise MissingRecordError(step.reason)
        return step


async def log_reason(graph: Store, step: MaintenanceStep, reason: str) -> MaintenanceStep:
    """Log why a step could not be undone; return it as it is stored then.

    One that was undone meanwhile stays undone, and one that was erased stays away.
    """

    async def work(transaction: GraphTransaction) -> MaintenanceStep:
        stored = await graph.log.step(step.id)
        if stored is None or stored.outcome is not Outcome.DONE:
            return stored or step
        logged = replace(stored, reason=reason)
        await transaction.log_step(logged)
        return logged

    return await graph.write(step.tenant, step.context, work)
