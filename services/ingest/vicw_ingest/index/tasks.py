"""Task that keeps the index up to date: it works off the outbox."""

from __future__ import annotations

import time

import structlog

from vicw_ingest.wiring import IngestWiring
from vicw_runtime.queue.celery_queue import INDEX
from vicw_runtime.queue.celery_runtime import SLICE_SECONDS, task

_log = structlog.get_logger()


@task(INDEX, "indexing")
async def index(wiring: IngestWiring) -> bool:
    """Retire expired items and empty the outbox. Entries of a failed run stay pending."""
    settled, began = 0, time.monotonic()

    def count(entries: int) -> None:
        nonlocal settled
        settled += entries

    await wiring.expiry.run_once(seconds=SLICE_SECONDS / 2)
    try:
        return await wiring.indexer.drain(count, seconds=SLICE_SECONDS - (time.monotonic() - began))
    finally:
        if settled:
            _log.info("indexed", settled=settled)
