"""Task that undoes a step of the sleep cycle for a request."""

from __future__ import annotations

from functools import partial

import structlog
from celery import Task, shared_task

from vicw_core.undo import UNDOABLE
from vicw_runtime.queue.celery_queue import UNDO
from vicw_runtime.queue.celery_runtime import worker_of
from vicw_runtime.upkeep.remote_undo import log_reason
from vicw_shared.errors import MissingRecordError, RetryableError
from vicw_shared.ports import Outcome
from vicw_sleep.history.service import undo_step
from vicw_sleep.wiring import SleepWiring

_log = structlog.get_logger()


@shared_task(name=UNDO, bind=True)
def undo(self: Task[..., None], step: str, key: str | None = None) -> None:
    """Undo a step, for the key with this id. A step that cannot be undone gets the reason in the log."""
    try:
        worker_of(self).runtime.run(self.request, partial(_undo, step=step, key=key))
    except RetryableError as error:
        _log.warning("undoing a step failed; the request may be sent again", error=error.detail)


async def _undo(wiring: SleepWiring, *, step: str, key: str | None) -> None:
    memory = wiring.memory
    try:
        await undo_step(memory, step, key=key)
    except MissingRecordError as error:
        found = await memory.graph.log.step(step)
        if found is not None and found.outcome is Outcome.DONE and found.task in UNDOABLE:
            await log_reason(memory.graph, found, error.detail)
