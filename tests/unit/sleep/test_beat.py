"""The clock is small: it is there all the time, and does next to nothing."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest
from pydantic import ValidationError

from vicw_ingest.indexing import Indexer
from vicw_shared.settings import RedisSettings


def test_it_loads_no_engine() -> None:
    heavy = ("neo4j", "grpc", "numpy", "qdrant_client", "fastapi")
    program = f"import sys, vicw_sleep.beat; print([each for each in {heavy} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_what_a_killed_worker_held_is_looked_for_within_a_minute_whatever_is_set() -> None:
    lease: Any = next(field.default for field in fields(Indexer) if field.name == "lease_seconds")
    longest = 25.0
    assert longest + lease <= 60
    assert RedisSettings(look_seconds=longest).look_seconds == longest
    with pytest.raises(ValidationError, match="look_seconds"):
        RedisSettings(look_seconds=longest + 0.1)
