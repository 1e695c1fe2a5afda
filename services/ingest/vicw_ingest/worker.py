"""Celery worker of the write path: ``celery -A vicw_ingest.worker worker -Q ingest`` runs the indexer.

``-Q extract`` runs the pending extractions with a language model, in a separate worker because a model is slow.
The graph holds the work, under leases.
"""

from __future__ import annotations

from vicw_runtime.telemetry.shared_metrics import share_metrics

share_metrics()  # before any other import brings Prometheus' client along

from vicw_ingest.settings import IngestServiceSettings
from vicw_ingest.wiring import IngestWiring
from vicw_runtime.queue.celery_runtime import Worker

_settings = IngestServiceSettings.read()
app = Worker(
    "vicw_ingest",
    _settings,
    lambda: IngestWiring(_settings, everything=True),
    [
        "vicw_ingest.erasure.tasks",
        "vicw_ingest.eviction.tasks",
        "vicw_ingest.index.tasks",
        "vicw_ingest.llm_queue.tasks",
    ],
)
