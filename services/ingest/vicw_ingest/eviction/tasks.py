"""Task that keeps tenants within their limit."""

from __future__ import annotations

from vicw_ingest.eviction.job import evict_slice
from vicw_ingest.wiring import IngestWiring
from vicw_runtime.job_runs import recorded_run
from vicw_runtime.queue.celery_queue import EVICT
from vicw_runtime.queue.celery_runtime import task


@task(EVICT, "eviction")
async def evict(wiring: IngestWiring) -> bool:
    """Erase items of tenants over their limit, if there is a limit."""
    if not (settings := wiring.settings.eviction).items:
        return False
    async with recorded_run(wiring.engines.graph.log, "eviction", first=False) as run:
        run.more = await evict_slice(wiring.eviction(), settings)
        return run.more
