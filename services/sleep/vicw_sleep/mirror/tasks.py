"""Task that keeps the mirror up to date."""

from __future__ import annotations

from vicw_runtime.queue.celery_queue import MIRROR
from vicw_runtime.queue.celery_runtime import task
from vicw_sleep.mirror.job import sync_mirror
from vicw_sleep.wiring import SleepWiring


@task(MIRROR, "updating the mirror")
async def mirror(wiring: SleepWiring) -> bool:
    """Update the mirror, if there is one and the sleep cycle is not paused."""
    if not wiring.settings.sleep.paused:
        await sync_mirror(wiring.memory.graph, wiring.settings.mirror)
    return False
