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

from apart.running import WORKER, Platform, Service
from e2e.serving import environment, eventually
from servers.redis import RedisProcess, RedisServer

pytestmark = pytest.mark.process
COMMANDS = {"worker": WORKER, "beat": ("vicw_sleep.beat",)}
STALE_SECONDS = 6.0
type Start = Callable[..., Service]


def children(service: Service) -> set[int]:
    tasks = Path(f"/proc/{service.pid}/task").iterdir()
    return {int(child) for task in tasks for child in (task / "children").read_text().split()}


def alive(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vicw_shared.alive", str(file), str(STALE_SECONDS)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def exit_code(file: Path) -> int:
    return alive(file).returncode


def healthy(file: Path, within: float = 60) -> None:
    eventually(lambda: exit_code(file), lambda code: code == 0, within, "it is alive")


def unhealthy(file: Path) -> None:
    eventually(lambda: exit_code(file), lambda code: code == 1, 30, "it is found to be stuck")


@pytest.fixture
def alive_file(tmp_path: Path) -> Path:
    return tmp_path / "alive"


@pytest.fixture
def start(tmp_path: Path, alive_file: Path) -> Iterator[Start]:
    """Start a worker or a clock, for which Redis is enough as long as there is nothing to do."""
    made: list[Service] = []

    def begin(name: str, redis: RedisServer, file: Path = alive_file) -> Service:
        variables = environment(tmp_path, VICW_REDIS_URL=redis.database(2), VICW_WORKER_ALIVE_FILE=str(file))
        made.append(Service(tmp_path, name, COMMANDS[name], variables))
        return made[-1].start()

    yield begin
    for service in made:
        if service.running():
            os.kill(service.pid, signal.SIGCONT)
        service.kill()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_stuck_is_not_alive(start: Start, alive_file: Path, redis_server: RedisServer, name: str) -> None:
    service = start(name, redis_server)
    healthy(alive_file)
    time.sleep(STALE_SECONDS + 1)
    assert exit_code(alive_file) == 0, "it is touched again and again"
    os.kill(service.pid, signal.SIGSTOP)
    unhealthy(alive_file)
    os.kill(service.pid, signal.SIGCONT)
    healthy(alive_file, within=10)


def test_a_clock_that_stands_by_is_alive(
    start: Start, alive_file: Path, redis_server: RedisServer, tmp_path: Path
) -> None:
    first = start("beat", redis_server)
    eventually(lambda: first.log, lambda log: "beat ticks" in log, 40, "the first clock")
    second = start("beat", redis_server, tmp_path / "second")
    healthy(tmp_path / "second")
    time.sleep(STALE_SECONDS + 1)
    assert (exit_code(tmp_path / "second"), "beat ticks" in second.log) == (0, False)


def test_a_worker_that_consumes_nothing_is_not_alive(
    start: Start, alive_file: Path, start_redis: Callable[[], RedisProcess]
) -> None:
    redis = start_redis()
    start("worker", redis.server)
    healthy(alive_file)
    redis.kill()
    unhealthy(alive_file)
    redis.restart()
    healthy(alive_file)


def test_no_file_says_what_names_it(tmp_path: Path) -> None:
    said = alive(tmp_path / "none")
    assert (said.returncode, "VICW_WORKER_ALIVE_FILE" in said.stderr) == (1, True)
    wrong = subprocess.run([sys.executable, "-m", "vicw_shared.alive"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "usage" in wrong.stderr) == (2, True)


def test_the_health_check_imports_next_to_nothing() -> None:
    code = "import sys, vicw_shared.alive; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"pydantic", "celery", "redis", "structlog"}.isdisjoint(loaded)


def work_off_a_job(platform: Platform, item: str, text: str) -> None:
    job = platform.remember({"id": item, "text": text}, wait=False).json()["job"]
    eventually(lambda: platform.job(job)["status"], lambda status: status == "done", 60, "the job")


def test_a_process_that_grew_over_the_bound_is_replaced_and_its_job_done(platform: Platform) -> None:
    worker = platform.worker(VICW_WORKER_MAX_MEMORY_MB="20").start()
    try:
        first = children(worker)
        work_off_a_job(platform, "m0", "An otter.")
        second = eventually(lambda: children(worker), lambda now: len(now - first) == 1, 30, "it is replaced")
        work_off_a_job(platform, "m1", "Another otter.")
        eventually(lambda: children(worker), lambda now: len(now - second) == 1, 30, "it is replaced again")
        assert {"m0", "m1"} <= set(platform.found("otter", limit=10))
    finally:
        worker.kill()


def test_a_process_within_the_bound_stays(platform: Platform) -> None:
    worker = platform.worker(VICW_WORKER_CONCURRENCY="2").start()
    try:
        before = children(worker)
        work_off_a_job(platform, "stays", "A badger.")
        time.sleep(1)
        assert (children(worker), len(before)) == (before, 2)
    finally:
        worker.kill()
