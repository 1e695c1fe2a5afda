"""The ingest worker's task fits what it runs in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]


def test_two_job_slices_fit_in_the_worker_stop_grace_period() -> None:
    program = "import vicw_ingest.worker as worker; print(worker.SLICE_SECONDS)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]["ingest-worker"]
    assert 2 * float(done.stdout) <= float(service["stop_grace_period"].removesuffix("s"))
