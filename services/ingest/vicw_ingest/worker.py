"""The ingest worker: Celery's door to the indexer. ``celery -A vicw_ingest.worker worker -Q ingest``.

A task holds nothing of its own: what there is to do is in the outbox, under leases. So it may be lost, or run twice.
"""

from __future__ import annotations

from typing import Any

from celery import Task
from celery.signals import worker_process_shutdown

from vicw_ingest.settings import Settings
from vicw_ingest.wiring import Wiring
from vicw_shared.adapters.celery_queue import INDEX, make_celery
from vicw_shared.adapters.celery_runtime import Runtime, bind_request
from vicw_shared.errors import RetryableError

_TURN_SECONDS = 20.0
"""How long a task works before it gives its place up: the message's acknowledgement does not wait for hours."""

app = make_celery("vicw_ingest", Settings.read().redis)
_runtime = Runtime(lambda: Wiring(Settings.read(), everything=True))
worker_process_shutdown.connect(lambda **_: _runtime.close(), weak=False)


@app.task(name=INDEX, bind=True)
def index(self: Task[Any, Any]) -> None:
    """Work the outbox off; come again if there is more."""
    bind_request(self.request)
    try:
        more = _runtime.run(lambda wiring: wiring.indexer.drain(seconds=_TURN_SECONDS))
    except RetryableError:
        return  # it stays pending; the next look tries again
    if more:
        index.apply_async()
