"""The clock is small: it is there all the time, and does next to nothing."""

from __future__ import annotations

import subprocess
import sys


def test_it_loads_no_engine() -> None:
    heavy = ("neo4j", "grpc", "numpy", "qdrant_client", "fastapi")
    program = f"import sys, vicw_sleep.beat; print([each for each in {heavy} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
