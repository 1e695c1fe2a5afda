"""A worker keeps within its bounds, and whether it and the clock are alive can be asked of a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.processes.platform import SLEEPER, WORKER, Platform, Service
from support.processes.server import environment, eventually
from support.servers.redis import RedisProcess, RedisServer
from vicw_runtime.queue.celery_queue import INDEX, INGEST_QUEUE, make_celery
from vicw_shared.settings import RedisSettings

pytestmark = pytest.mark.process
COMMANDS = {"worker": WORKER, "sleeper": SLEEPER, "beat": ("vicw_sleep.beat",)}
STALE_SECONDS = 6.0
type Start = Callable[..., Service]


def children(service: Service) -> set[int]:
    tasks = Path(f"/proc/{service.pid}/task").iterdir()
    return {int(child) for task in tasks for child in (task / "children").read_text().split()}


def run_liveness_check(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vicw_runtime.liveness", str(file), str(STALE_SECONDS)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def exit_code(file: Path) -> int:
    return run_liveness_check(file).returncode


def wait_until_alive(file: Path, within: float = 60) -> None:
    eventually(lambda: exit_code(file), lambda code: code == 0, within, "it is alive")


def wait_until_stuck(file: Path) -> None:
    eventually(lambda: exit_code(file), lambda code: code == 1, 30, "it is found to be stuck")


@pytest.fixture
def alive_file(tmp_path: Path) -> Path:
    return tmp_path / "alive"


@pytest.fixture
def start(tmp_path: Path, alive_file: Path) -> Iterator[Start]:
    """Start a worker or a clock, for which Redis is enough as long as there is nothing to do."""
    made: list[Service] = []

    def begin(name: str, redis: RedisServer, file: Path = alive_file) -> Service:
        variables = environment(tmp_path, VICW_REDIS_URL=redis.database(2), VICW_WORKER_LIVENESS_FILE=str(file))
        made.append(Service(tmp_path, name, COMMANDS[name], variables))
        return made[-1].start()

    yield begin
    for service in made:
        if service.running():
            os.kill(service.pid, signal.SIGCONT)
        service.kill()


@pytest.mark.parametrize(("name", "nice"), [("worker", 0), ("sleeper", 10)])
def test_the_sleep_worker_runs_at_a_lower_process_priority(
    start: Start, alive_file: Path, redis_server: RedisServer, name: str, nice: int
) -> None:
    service, own = start(name, redis_server), os.getpriority(os.PRIO_PROCESS, 0)
    wait_until_alive(alive_file)
    eventually(
        lambda: {os.getpriority(os.PRIO_PROCESS, pid) for pid in children(service)},
        lambda found: found == {max(own, nice)},
        30,
        "its processes have their priority",
    )


@pytest.mark.parametrize("name", ["worker", "beat"])
def test_a_frozen_worker_or_beat_fails_its_liveness_check(
    start: Start, alive_file: Path, redis_server: RedisServer, name: str
) -> None:
    service = start(name, redis_server)
    wait_until_alive(alive_file)
    time.sleep(STALE_SECONDS + 1)
    assert exit_code(alive_file) == 0, "it is touched again and again"
    os.kill(service.pid, signal.SIGSTOP)
    wait_until_stuck(alive_file)
    os.kill(service.pid, signal.SIGCONT)
    wait_until_alive(alive_file, within=10)


def test_a_standby_beat_passes_its_liveness_check(
    start: Start, alive_file: Path, redis_server: RedisServer, tmp_path: Path
) -> None:
    first = start("beat", redis_server)
    eventually(lambda: first.log, lambda log: "beat ticks" in log, 40, "the first clock")
    second = start("beat", redis_server, tmp_path / "second")
    wait_until_alive(tmp_path / "second")
    time.sleep(STALE_SECONDS + 1)
    assert (exit_code(tmp_path / "second"), "beat ticks" in second.log) == (0, False)


def test_a_worker_without_redis_fails_its_liveness_check(
    start: Start, alive_file: Path, start_redis: Callable[[], RedisProcess]
) -> None:
    redis = start_redis()
    start("worker", redis.server)
    wait_until_alive(alive_file)
    redis.kill()
    wait_until_stuck(alive_file)
    redis.restart()
    wait_until_alive(alive_file)


def start_ticking_beat(start: Start, redis: RedisServer) -> Service:
    """Start a clock; return when it ticks."""
    clock = start("beat", redis)
    eventually(lambda: clock.log, lambda log: "beat ticks" in log, 40, "the clock")
    return clock


def test_the_beat_survives_a_redis_pause_shorter_than_its_lease(
    start: Start, start_redis: Callable[[], RedisProcess]
) -> None:
    redis = start_redis()
    clock = start_ticking_beat(start, redis.server)
    with redis.server.client() as client:
        client.client_pause(9000)
    eventually(lambda: clock.log, lambda log: "could not be renewed" in log, 20, "the pause is noticed")
    time.sleep(10)
    assert clock.running(), clock.log
    with redis.server.client(2) as client:
        assert client.pttl("vicw:beat") > 10_000, "the lock is renewed again"
        client.delete("vicw:beat")
    eventually(clock.running, lambda runs: not runs, 20, "it ends when the lock is lost")
    assert clock.stop() == 75


def test_a_beat_that_cannot_renew_its_lock_ends_within_twenty_seconds(
    start: Start, start_redis: Callable[[], RedisProcess]
) -> None:
    redis = start_redis()
    clock = start_ticking_beat(start, redis.server)
    with redis.server.client() as client:
        client.client_pause(60_000)
    paused = time.monotonic()
    eventually(clock.running, lambda runs: not runs, 25, "it ends")
    assert 5 < time.monotonic() - paused < 20
    assert clock.stop() == 75


def test_a_worker_survives_a_full_redis_and_resumes(start: Start, start_redis: Callable[[], RedisProcess]) -> None:
    redis = start_redis()
    app = make_celery("test", RedisSettings(url=redis.server.database(2)))
    with redis.server.client(2) as client:
        app.send_task(INDEX)
        message = client.lpop(INGEST_QUEUE)
        worker = start("worker", redis.server)
        with client.pipeline() as full:  # taken, but what notes that it is taken is refused
            full.lpush(INGEST_QUEUE, message)
            full.config_set("maxmemory", 1)
            full.execute()
        eventually(lambda: worker.log, lambda log: "command not allowed" in log, 20, "it is refused")
        time.sleep(5)
        assert worker.running(), worker.log[-3000:]
        client.config_set("maxmemory", 0)
        app.send_task(INDEX)
        eventually(lambda: worker.log, lambda log: "Task vicw.ingest.index" in log, 60, "it works again")
    app.close()


def test_liveness_check_without_a_file_names_the_setting_and_usage(tmp_path: Path) -> None:
    said = run_liveness_check(tmp_path / "none")
    assert (said.returncode, "VICW_WORKER_LIVENESS_FILE" in said.stderr) == (1, True)
    wrong = subprocess.run([sys.executable, "-m", "vicw_runtime.liveness"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "usage" in wrong.stderr) == (2, True)


def test_the_liveness_check_imports_no_heavy_packages() -> None:
    code = "import sys, vicw_runtime.liveness; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"pydantic", "celery", "redis", "structlog"}.isdisjoint(loaded)


def store_and_wait(platform: Platform, item: str, text: str) -> None:
    job = platform.remember({"id": item, "text": text}, wait=False).json()["job"]
    eventually(lambda: platform.job(job)["status"], lambda status: status == "done", 60, "the job")


def test_a_worker_process_over_its_memory_limit_is_replaced(platform: Platform) -> None:
    worker = platform.worker(VICW_WORKER_MAX_MEMORY_MB="20").start()
    try:
        first = children(worker)
        store_and_wait(platform, "m0", "An otter.")
        second = eventually(lambda: children(worker), lambda now: len(now - first) == 1, 30, "it is replaced")
        store_and_wait(platform, "m1", "Another otter.")
        eventually(lambda: children(worker), lambda now: len(now - second) == 1, 30, "it is replaced again")
        assert {"m0", "m1"} <= set(platform.found("otter", limit=10))
    finally:
        worker.kill()


def test_a_worker_process_within_its_memory_limit_is_kept(platform: Platform) -> None:
    worker = platform.worker(VICW_WORKER_CONCURRENCY="2").start()
    try:
        before = children(worker)
        store_and_wait(platform, "stays", "A badger.")
        time.sleep(1)
        assert (children(worker), len(before)) == (before, 2)
    finally:
        worker.kill()
