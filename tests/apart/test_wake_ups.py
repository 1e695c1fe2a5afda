"""Wake-ups are merged, refused, and lost; what they were for is done."""

from __future__ import annotations

import time

import pytest

from apart.conftest import Engines
from support.processes.platform import Platform
from support.processes.server import eventually

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]


def done(platform: Platform, job: str, within: float) -> None:
    eventually(lambda: platform.job(job)["status"], lambda status: status == "done", within, "the job")


def remember(platform: Platform, item: str) -> str:
    stored = platform.remember({"id": item, "text": f"{item} was seen in the harbour"}, wait=False)
    assert stored.status_code == 202
    job: str = stored.json()["job"]
    return job


def test_a_redis_without_room_refuses_nobody_and_is_used_again(fragile: Platform, engines: Engines) -> None:
    worker, sleeper, clock = fragile.worker().start(), fragile.sleeper().start(), fragile.beat().start()
    done(fragile, remember(fragile, "before"), 30)
    with engines.redis.server.client(1) as client:
        client.config_set("maxmemory", 1)
        jobs = [remember(fragile, f"meanwhile {n}") for n in range(3)]
        time.sleep(10)
        assert [service.name for service in (worker, sleeper, clock) if not service.running()] == []
        client.config_set("maxmemory", 0)
    for job in jobs:
        done(fragile, job, 30)
    done(fragile, remember(fragile, "after"), 30)
    assert [service.name for service in (worker, sleeper, clock) if not service.running()] == []


def test_whenever_a_request_comes_its_wake_up_is_heard(platform: Platform) -> None:
    """There is no clock: a wake-up that a worker misses is missed for good."""
    worker = platform.worker().start()
    try:
        first = remember(platform, "seal 0")
        for number in range(1, 40):
            job = remember(platform, f"seal {number}")
            time.sleep(number % 8 * 0.02)  # so that it meets the worker at different moments of its turn
            done(platform, first, 15)
            first = job
        done(platform, first, 15)
    finally:
        worker.kill()
