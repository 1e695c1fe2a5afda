"""What the processes of the platform tell Prometheus, above all those that have no other port."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from support.processes.platform import Platform, Service
from support.processes.server import eventually
from support.servers.machine import free_port
from support.servers.redis import RedisServer

pytestmark = pytest.mark.process
_INDEX = "vicw.ingest.index"
_TASKS = f'vicw_task_seconds_count{{task="{_INDEX}"}}'
_POINTS = 'vicw_index_points_total{kind="upsert"}'


def scrape(port: int) -> dict[str, float]:
    """Return all series with their values."""
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=10, trust_env=False).raise_for_status().text
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {series: float(value) for series, _, value in lines}


def total(port: int, start: str) -> float:
    return sum(value for series, value in scrape(port).items() if series.startswith(start))


def children(service: Service) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()]


@pytest.fixture
def running(platform: Platform) -> Iterator[list[Service]]:
    """What the test started; killed when it is over."""
    started: list[Service] = []
    yield started
    for service in started:
        service.kill()


def worker(platform: Platform, port: int, directory: Path) -> Service:
    command = ("celery", "-A", "vicw_ingest.worker", "worker", "-Q", "ingest", "-c", "2")
    return platform.add("measured", *command, VICW_METRICS_PORT=str(port), TMPDIR=str(directory))


def test_worker_metrics_include_those_of_killed_child_processes(
    platform: Platform, running: list[Service], tmp_path: Path
) -> None:
    port = free_port()
    started = worker(platform, port, tmp_path).start()
    running.append(started)
    (directory,) = tmp_path.glob("vicw-metrics-*")
    for n in range(3):
        job = platform.remember({"id": f"m{n}", "text": f"measured {n}"}, wait=False).json()["job"]
        eventually(partial(platform.job, job), lambda seen: seen["status"] == "done", 60, "the job")
    eventually(lambda: total(port, _TASKS), lambda count: count >= 3, 60, "the tasks")
    before = scrape(port)
    assert before[_POINTS] >= 3
    assert before["vicw_index_backlog_points"] >= 0
    assert before['vicw_engine_seconds_count{engine="neo4j",operation="claim"}'] >= 3
    assert before['vicw_engine_seconds_count{engine="qdrant",operation="upsert"}'] >= 1
    assert before['vicw_engine_seconds_count{engine="embedding",operation="embed"}'] >= 1

    victims = children(started)
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    eventually(lambda: set(children(started)), lambda now: len(now) == 2 and not now & {*victims}, 30, "new processes")
    after = scrape(port)
    assert after[_TASKS] >= before[_TASKS]
    assert after[_POINTS] >= before[_POINTS]
    kept = {file.stem.rpartition("_")[2] for file in directory.glob("*.db")}
    assert kept.isdisjoint(map(str, victims)), "gauges are of the living, and the other figures of the dead are one"

    assert started.stop() == 0
    assert not directory.exists()


def test_a_worker_fails_to_start_if_its_metrics_port_is_taken(platform: Platform, tmp_path: Path) -> None:
    started = worker(platform, httpx.URL(platform.ingest.url).port or 0, tmp_path)
    with pytest.raises(AssertionError, match="VICW_METRICS_PORT: cannot listen"):
        started.start()


def test_beat_metrics_report_the_messages_waiting_in_queues(
    platform: Platform, redis_server: RedisServer, running: list[Service]
) -> None:
    first, second = free_port(), free_port()
    running.append(platform.add("clock", "vicw_sleep.beat", VICW_METRICS_PORT=str(first)).start())
    eventually(lambda: total(first, "vicw_beat_ticking"), lambda ticking: ticking == 1, 40, "the clock ticks")
    running.append(platform.add("standby", "vicw_sleep.beat", VICW_METRICS_PORT=str(second)).start())
    assert total(second, "vicw_beat_ticking") == 0
    waiting = 'vicw_queue_messages{queue="ingest"}'
    eventually(lambda: total(first, waiting), lambda count: count == 1, 20, "a message")
    sent = total(first, f'vicw_queue_sent_total{{task="{_INDEX}"}}')
    time.sleep(5)  # twice as long as the clock takes to look again
    with redis_server.client(1) as client:
        assert (client.llen("ingest"), total(first, waiting)) == (1, 1), "nobody takes it: one is enough"
    assert total(first, f'vicw_queue_sent_total{{task="{_INDEX}"}}') == sent


def test_service_metrics_report_engine_calls_and_the_backlog(platform: Platform) -> None:
    platform.remember({"id": "told", "text": "a heron"})
    assert platform.found("heron", limit=1) == ["told"]
    ingest, retrieval = (httpx.URL(service.url).port or 0 for service in (platform.ingest, platform.retrieval))
    taken, answered = scrape(ingest), scrape(retrieval)
    assert taken['vicw_engine_seconds_count{engine="neo4j",operation="write"}'] >= 1
    assert taken['vicw_engine_seconds_count{engine="neo4j",operation="write.lock"}'] >= 1
    assert "vicw_index_backlog_points" in taken
    assert answered['vicw_engine_seconds_count{engine="qdrant",operation="search"}'] >= 2
    assert answered['vicw_engine_seconds_count{engine="neo4j",operation="owners"}'] >= 1
    assert answered['vicw_retrieve_stage_seconds_count{stage="channels"}'] >= 1
