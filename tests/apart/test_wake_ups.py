"""Wake-ups are merged, refused, and lost; what they were for is done."""

from __future__ import annotations

import time

import pytest

from apart.conftest import Engines
from support.processes.platform import Platform
from support.processes.server import eventually

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]


def wait_until_job_done(platform: Platform, job: str, within: float) -> None:
    eventually(lambda: platform.job(job)["status"], lambda status: status == "done", within, "the job")


def remember(platform: Platform, item: str) -> str:
    stored = platform.remember({"id": item, "text": f"{item} was seen in the harbour"}, wait=False)
    assert stored.status_code == 202
    job: str = stored.json()["job"]
    return job


def test_requests_and_workers_survive_a_full_redis(fragile: Platform, engines: Engines) -> None:
    worker, sleeper, clock = fragile.worker().start(), fragile.sleeper().start(), fragile.beat().start()
    wait_until_job_done(fragile, remember(fragile, "before"), 30)
    with engines.redis.server.client(1) as client:
        client.config_set("maxmemory", 1)
        jobs = [remember(fragile, f"meanwhile {n}") for n in range(3)]
        time.sleep(10)
        assert [service.name for service in (worker, sleeper, clock) if not service.running()] == []
        client.config_set("maxmemory", 0)
    for job in jobs:
        wait_until_job_done(fragile, job, 30)
    wait_until_job_done(fragile, remember(fragile, "after"), 30)
    assert [service.name for service in (worker, sleeper, clock) if not service.running()] == []


def test_a_wake_up_at_any_moment_reaches_the_worker(platform: Platform) -> None:
    """There is no clock: a wake-up that a worker misses is missed for good."""
    worker = platform.worker().start()
    try:
        first = remember(platform, "seal 0")
        for number in range(1, 40):
            job = remember(platform, f"seal {number}")
            time.sleep(number % 8 * 0.02)  # so that it meets the worker at different moments of its turn
            wait_until_job_done(platform, first, 15)
            first = job
        wait_until_job_done(platform, first, 15)
    finally:
        worker.kill()
