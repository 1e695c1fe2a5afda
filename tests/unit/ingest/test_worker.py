"""The ingest worker's task fits what it runs in."""

from __future__ import annotations

from pathlib import Path

import yaml

from vicw_runtime.queue.celery_runtime import SLICE_SECONDS

ROOT = Path(__file__).parents[3]


def test_two_job_slices_fit_in_the_worker_stop_grace_period() -> None:
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]["ingest-worker"]
    assert float(service["stop_grace_period"].removesuffix("s")) >= 2 * SLICE_SECONDS
