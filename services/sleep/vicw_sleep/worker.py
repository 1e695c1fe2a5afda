"""The sleep worker: Celery's doors to the sleep cycle. ``celery -A vicw_sleep.worker worker -Q sleep``.

Every task may be lost, or run twice, or twice at once.
"""

from __future__ import annotations

from vicw_shared.telemetry.sharing import share_metrics

share_metrics()  # before any other import brings Prometheus' client along

from typing import Any

import structlog
from celery import Task

from vicw_shared.adapters.celery_queue import RECONCILE, make_celery
from vicw_shared.adapters.celery_runtime import Runtime, prepare_worker
from vicw_shared.errors import RetryableError, UnavailableError
from vicw_sleep.reconcile import Place, Reconciled, Side
from vicw_sleep.reconcile import reconcile as bring_to_agreement
from vicw_sleep.settings import Settings
from vicw_sleep.wiring import Wiring

_settings = Settings.read()
app = make_celery("vicw_sleep", _settings.redis)
_runtime = Runtime(lambda: Wiring(_settings))
_log = structlog.get_logger()
prepare_worker(
    app,
    _runtime,
    service="vicw-sleep-worker",
    worker=_settings.worker,
    log=_settings.log,
    metrics=_settings.metrics,
    traces=_settings.traces,
)


@app.task(name=RECONCILE, bind=True)
def reconcile(self: Task[Any, Any], side: str = Side.PASSAGES, after: str | None = None) -> None:
    """Compare so many pages of the two stores, and leave the rest to a task of its own."""

    async def work(wiring: Wiring) -> Reconciled:
        graph, indexes = wiring.engines.graph, wiring.engines.indexes
        await indexes.look()
        if indexes.reading.model != indexes.models.used:
            raise UnavailableError("embedding", indexes.behind or "the model in use has just changed")
        vectors = indexes.reading.vectors
        start = Place(Side(side), after)
        return await bring_to_agreement(graph, graph, vectors, start=start, pages=_settings.sleep.reconcile_pages)

    try:
        done = _runtime.run(self.request, work)
    except RetryableError as error:
        _log.warning("reconciling failed, the next round tries again", error=error.detail, side=side)
        return
    if done.missing or done.stale or done.orphaned or done.next is None:
        _log.info("reconciled", missing=done.missing, stale=done.stale, orphaned=done.orphaned, all=done.next is None)
    if done.next is not None:
        reconcile.apply_async(kwargs={"side": done.next.side.value, "after": done.next.after})
