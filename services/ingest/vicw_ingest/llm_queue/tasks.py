"""Task that works off the pending extractions."""

from __future__ import annotations

from vicw_ingest.wiring import IngestWiring
from vicw_runtime.queue.celery_queue import EXTRACT
from vicw_runtime.queue.celery_runtime import SLICE_SECONDS, task
from vicw_shared.errors import RetryableError, SettingsError


@task(EXTRACT, "extraction with the language model", expected=(RetryableError, SettingsError))
async def extract(wiring: IngestWiring) -> bool:
    """Run pending extractions with a language model, if there is one."""
    return wiring.extractor is not None and await wiring.extractor.drain(seconds=SLICE_SECONDS)
