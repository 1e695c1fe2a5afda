"""Celery worker of the write path: ``celery -A vicw_ingest.worker worker -Q ingest`` runs the indexer.

``-Q extract`` runs the pending extractions with a language model, in a separate worker because a model is slow.
Tasks carry no state: the graph holds the work, under leases. A task may therefore be lost or run twice.
"""

from __future__ import annotations

from vicw_runtime.telemetry.shared_metrics import share_metrics

share_metrics()  # before any other import brings Prometheus' client along

import time
from typing import Any

import structlog
from celery import Task

from vicw_ingest.eviction.job import evict_slice
from vicw_ingest.settings import IngestServiceSettings
from vicw_ingest.wiring import IngestWiring
from vicw_runtime.job_runs import recorded_run
from vicw_runtime.queue.celery_queue import EVICT, EXTRACT, INDEX, make_celery, send
from vicw_runtime.queue.celery_runtime import Runtime, prepare_worker
from vicw_shared.errors import RetryableError, SettingsError

SLICE_SECONDS = 10.0
"""Seconds that a task works before it ends and reschedules: well below a container's stop timeout."""

_settings = IngestServiceSettings.read()
app = make_celery("vicw_ingest", _settings.redis)
_runtime = Runtime(lambda: IngestWiring(_settings, everything=True))
_log = structlog.get_logger()
prepare_worker(
    app,
    _runtime,
    service="vicw-ingest-worker",
    worker=_settings.worker,
    log=_settings.log,
    metrics=_settings.metrics,
    traces=_settings.traces,
)


@app.task(name=INDEX, bind=True)
def index(self: Task[Any, Any]) -> None:
    """Retire expired items and empty the outbox. Reschedules itself while entries are left."""
    settled = 0

    def count(entries: int) -> None:
        nonlocal settled
        settled += entries

    async def drain(wiring: IngestWiring) -> bool:
        began = time.monotonic()
        await wiring.expiry.run_once(seconds=SLICE_SECONDS / 2)
        return await wiring.indexer.drain(count, seconds=SLICE_SECONDS - (time.monotonic() - began))

    try:
        more = _runtime.run(self.request, drain)
    except RetryableError as error:
        _log.warning("indexing failed; retried at the next run", error=error.detail, settled=settled)
        return  # the entries stay pending; the next run tries again
    if settled:
        _log.info("indexed", settled=settled, more=more)
    if more:
        # Always reschedule, whatever else is queued: the number of working workers stays the same.
        send(app, INDEX)


@app.task(name=EXTRACT, bind=True)
def extract(self: Task[Any, Any]) -> None:
    """Run pending extractions with a language model. Reschedules itself while items are left."""

    async def drain(wiring: IngestWiring) -> bool:
        return wiring.extractor is not None and await wiring.extractor.drain(seconds=SLICE_SECONDS)

    try:
        more = _runtime.run(self.request, drain)
    except (RetryableError, SettingsError) as error:
        _log.warning("the language model is unavailable", error=error.detail)
        return
    if more:
        send(app, EXTRACT)


@app.task(name=EVICT, bind=True)
def evict(self: Task[Any, Any]) -> None:
    """Erase items of tenants over their limit. Reschedules itself while more must go."""

    if not _settings.eviction.items:
        return

    async def choose(wiring: IngestWiring) -> bool:
        async with recorded_run(wiring.engines.graph.log, "eviction", first=False) as one:
            one.more = await evict_slice(wiring.eviction(), _settings.eviction)
            return one.more

    try:
        more = _runtime.run(self.request, choose)
    except RetryableError as error:
        _log.warning("eviction failed; retried at the next run", error=error.detail)
        return
    if more:
        send(app, EVICT)
