"""The sleep worker: Celery's doors to the sleep cycle. ``celery -A vicw_sleep.worker worker -Q sleep``.

Every task may be lost, or run twice, or twice at once.
"""

from __future__ import annotations

from vicw_shared.telemetry.sharing import share_metrics

share_metrics()  # before any other import brings Prometheus' client along

from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from celery import Task
from redis.exceptions import RedisError

from vicw_shared.adapters.celery_queue import RECONCILE, connect, make_celery, send
from vicw_shared.adapters.celery_runtime import Runtime, prepare_worker
from vicw_shared.clock import now
from vicw_shared.errors import RetryableError, UnavailableError
from vicw_sleep.chain import SECONDS, Chain
from vicw_sleep.forget import forget_receipts
from vicw_sleep.reconcile import Place, Reconciled, Side
from vicw_sleep.reconcile import reconcile as bring_to_agreement
from vicw_sleep.settings import Settings
from vicw_sleep.wiring import Wiring

_settings = Settings.read()
app = make_celery("vicw_sleep", _settings.redis)
_runtime = Runtime(lambda: Wiring(_settings))
_chain = Chain(connect(_settings.redis), "vicw:reconcile")
_FORGET_SECONDS = 10.0
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
def reconcile(self: Task[Any, Any], side: str = Side.PASSAGES, after: str | None = None, of: str | None = None) -> None:
    """Compare so many pages of the two stores, and leave the rest to a task of its own, one ``of`` the same chain."""
    try:
        chain = _chain.hold(of)
    except RedisError as error:
        _log.warning("reconciling is left to the next round: Redis does not answer", error=str(error))
        return
    if chain is None:
        _log.info("the stores are being compared by another chain of tasks")
        return
    following = False
    try:
        done = _runtime.run(self.request, partial(_reconcile, start=Place(Side(side), after), first=of is None))
        if done.missing or done.stale or done.orphaned or done.next is None:
            told = {"missing": done.missing, "stale": done.stale, "orphaned": done.orphaned}
            _log.info("reconciled", **told, all=done.next is None)
        if done.next is not None:
            rest = {"side": done.next.side.value, "after": done.next.after, "of": chain}
            following = send(app, RECONCILE, expires=SECONDS, kwargs=rest)
    except RetryableError as error:
        _log.warning("reconciling failed, the next round tries again", error=error.detail, side=side)
    finally:
        if not following:
            with suppress(RedisError):  # then its key runs out
                _chain.end(chain)


async def _reconcile(wiring: Wiring, *, start: Place, first: bool) -> Reconciled:
    graph, indexes = wiring.engines.graph, wiring.engines.indexes
    if first:
        before = now() - timedelta(hours=_settings.ingest.receipt_hours)
        if forgotten := await forget_receipts(graph, before, seconds=_FORGET_SECONDS):
            _log.info("forgot old receipts", receipts=forgotten)
    await indexes.look()
    if indexes.reading.model != indexes.models.used:
        raise UnavailableError("embedding", indexes.behind or "the model in use has just changed")
    vectors = indexes.reading.vectors
    return await bring_to_agreement(graph, graph, vectors, start=start, pages=_settings.sleep.reconcile_pages)
