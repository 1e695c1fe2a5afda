"""The clock is small: it is there all the time, and does next to nothing."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from vicw_ingest.index.service import Indexer
from vicw_runtime.queue.celery_queue import CONSOLIDATE, DREAM, EVICT, RECONCILE, RESOLVE
from vicw_shared.clock import now
from vicw_shared.settings import RedisSettings
from vicw_sleep.schedule.ticks import Tick, ticks
from vicw_sleep.settings import SleepServiceSettings


def test_the_beat_process_loads_no_engine() -> None:
    heavy = ("neo4j", "grpc", "numpy", "qdrant_client", "fastapi")
    program = f"import sys, vicw_sleep.beat; print([each for each in {heavy} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_every_scheduled_job_is_sent_by_its_own_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("CONSOLIDATE", "DREAM", "RESOLVE"):
        monkeypatch.setenv(f"VICW_{task}_SCHEDULE", "never" if task == "DREAM" else "* * * * *")
    later = now() + timedelta(minutes=2)
    monkeypatch.setattr("vicw_sleep.schedule.ticks.now", lambda: later)
    nightly = _scheduled_ticks()
    assert set(nightly) == {CONSOLIDATE, DREAM, RESOLVE, EVICT, RECONCILE}
    assert nightly.pop(RECONCILE).is_due(0.0), "what was down may have lost something"
    monkeypatch.setattr("vicw_sleep.schedule.ticks.now", lambda: later + timedelta(minutes=2))
    assert {task for task, tick in nightly.items() if tick.is_due(0.0)} == {CONSOLIDATE, RESOLVE}, "EVICT has no limit"
    monkeypatch.setenv("VICW_SLEEP_PAUSED", "true")
    assert set(_scheduled_ticks()) == {RECONCILE}
    monkeypatch.setenv("VICW_SLEEP_RECONCILE_SCHEDULE", "never")
    assert not _scheduled_ticks()[RECONCILE].is_due(0.0)


def _scheduled_ticks() -> dict[str, Tick]:
    return {tick.task: tick for tick in ticks(SleepServiceSettings.read()) if tick.schedule is not None}


def test_poll_interval_and_lease_add_up_to_at_most_a_minute() -> None:
    lease: Any = next(field.default for field in fields(Indexer) if field.name == "lease_seconds")
    longest = 25.0
    assert longest + lease <= 60
    assert RedisSettings(poll_seconds=longest).poll_seconds == longest
    with pytest.raises(ValidationError, match="poll_seconds"):
        RedisSettings(poll_seconds=longest + 0.1)
