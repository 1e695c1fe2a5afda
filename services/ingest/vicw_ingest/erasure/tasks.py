"""Task that works off erasures."""

from __future__ import annotations

from vicw_ingest.wiring import IngestWiring
from vicw_runtime.queue.celery_queue import FORGET
from vicw_runtime.queue.celery_runtime import task


@task(FORGET, "an erasure")
async def forget(wiring: IngestWiring) -> bool:
    """Erase what requests have recorded, and search for what is left."""
    return await wiring.erasure_worker().run_once()
