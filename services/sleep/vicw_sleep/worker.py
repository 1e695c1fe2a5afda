"""Celery worker of the sleep cycle: ``celery -A vicw_sleep.worker worker -Q sleep``.

Every task may be lost, run twice, or run twice concurrently.
"""

from __future__ import annotations

from vicw_runtime.telemetry.shared_metrics import share_metrics

share_metrics()  # before any other import loads Prometheus' client

from vicw_runtime.queue.celery_runtime import Worker
from vicw_sleep.settings import SleepServiceSettings
from vicw_sleep.wiring import SleepWiring

_FEATURES = "consolidation", "dream", "history", "mirror", "reconcile", "resolve"
_settings = SleepServiceSettings.read()
app = Worker(
    "vicw_sleep",
    _settings,
    lambda: SleepWiring(_settings, gives_way=True),
    [f"vicw_sleep.{feature}.tasks" for feature in _FEATURES],
    nice=_settings.sleep.nice,
)
