"""What a run of pytest says of its servers, and what is left when it is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
ONE_TEST = "def test_it(redis_server): pass\n"

pytestmark = pytest.mark.process


def command(directory: Path, test: str) -> list[str]:
    (directory / "test_it.py").write_text(test)
    (directory / "pytest.ini").write_text("[pytest]\nmarkers = servers: x\n")
    return [sys.executable, "-m", "pytest", "-p", "support.servers.plugin", "-p", "no:cacheprovider", str(directory)]


def environment(**variables: str) -> dict[str, str]:
    """Nothing on PATH, no Docker: there is no server to be had."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VICW_TEST_")}
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    nothing = {"PATH": "/nowhere", "DOCKER_HOST": "unix:///nowhere.sock", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return clean | nothing | {"PYTHONPATH": paths} | variables


def run(directory: Path, test: str = ONE_TEST, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(directory, test), env=environment(**variables), capture_output=True, text=True, check=False
    )


def test_the_run_ends_with_a_report_of_a_missing_server(tmp_path: Path) -> None:
    ended = run(tmp_path)
    assert ended.returncode == 0, ended.stdout
    *_, headline, given, docker, local, _ = ended.stdout.splitlines()
    assert headline == "MISSING redis: tests that need it did not run. Tried:"
    assert given == "  VICW_TEST_REDIS_URL: not set"
    assert docker.startswith("  Docker: docker.errors.DockerException: ")
    assert local == "  redis-server: no redis-server on PATH (Debian, Ubuntu: apt install redis-server)"


STANDS_IN = """
import pytest
from support.stores.qdrant import server_if_any
@pytest.mark.servers
def test_it(request): assert server_if_any(request) is None
"""


def test_the_report_names_the_substitute_of_a_missing_server_if_used(tmp_path: Path) -> None:
    said = "  In its place: the adapter's contract tests ran on qdrant-client's local mode"
    missing = run(tmp_path, "def test_it(qdrant_server): pass\n").stdout
    assert "MISSING qdrant" in missing
    assert said not in missing
    stood_in = run(tmp_path, STANDS_IN)
    assert stood_in.returncode == 0, stood_in.stdout
    *_, headline, _, docker, binary, instead, _ = stood_in.stdout.splitlines()
    assert (headline, docker[:9]) == ("MISSING qdrant: tests that need it did not run. Tried:", "  Docker:")
    assert binary == "  binary: no qdrant on PATH, VICW_TEST_QDRANT_BINARY is not set"
    assert instead.startswith(said)


def test_a_required_server_that_is_missing_fails_the_run(tmp_path: Path) -> None:
    ended = run(tmp_path, VICW_TEST_REQUIRE="neo4j,redis")
    assert ended.returncode == 1
    assert ended.stdout.splitlines()[-2] == "FAILED: VICW_TEST_REQUIRE requires redis, which is missing"


def test_a_required_server_that_no_test_asks_for_is_not_started(tmp_path: Path) -> None:
    ended = run(tmp_path, "def test_it(): pass\n", VICW_TEST_REQUIRE="neo4j,redis")
    assert ended.returncode == 0
    assert "= servers =" not in ended.stdout


TWO = "def test_it(redis_server): pass\n", "def test_that(redis_server): pass\ndef test_so(helm): pass\n"


def on_two_workers(directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run two files of tests side by side."""
    first, second = TWO
    (directory / "test_second.py").write_text(second)
    workers = ["-p", "xdist.plugin", "-n", "2", "--dist", "loadfile"]
    return subprocess.run(
        [*command(directory, first), *workers],
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_server_missing_on_two_workers_is_reported_once_and_fails(tmp_path: Path) -> None:
    ended = on_two_workers(tmp_path, VICW_TEST_REQUIRE="redis")
    assert ended.returncode == 1, ended.stdout
    assert "3 skipped" in ended.stdout
    lines = ended.stdout.splitlines()
    assert sorted(line for line in lines if line.startswith("MISSING")) == [
        "MISSING helm: tests that need it did not run. Tried:",
        "MISSING redis: tests that need it did not run. Tried:",
    ]
    assert lines[-2] == "FAILED: VICW_TEST_REQUIRE requires redis, which is missing"


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="no redis-server on PATH")
def test_each_of_two_workers_has_a_server_of_its_own(tmp_path: Path) -> None:
    ended = on_two_workers(tmp_path, PATH=os.environ["PATH"])
    assert "redis: from redis-server, started 2 times, in " in ended.stdout, ended.stdout


def test_two_workers_do_not_share_a_server_that_is_named(tmp_path: Path) -> None:
    ended = on_two_workers(tmp_path, VICW_TEST_REDIS_URL="redis://127.0.0.1:1")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "VICW_TEST_REDIS_URL: two workers would empty each other's server; give -n 0" in ended.stderr


def test_an_unknown_required_server_is_an_error(tmp_path: Path) -> None:
    ended = run(tmp_path, VICW_TEST_REQUIRE="postgres")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "VICW_TEST_REQUIRE names postgres; there are neo4j, redis, qdrant, helm, mcp-inspector" in ended.stderr


def test_a_missing_program_is_reported_like_a_missing_server(tmp_path: Path) -> None:
    chart = "def test_it(helm): pass\ndef test_that(helm): pass\n"
    ended = run(tmp_path, chart)
    assert ended.returncode == 0, ended.stdout
    *_, headline, tried, _ = ended.stdout.splitlines()
    assert headline == "MISSING helm: tests that need it did not run. Tried:"
    assert tried == "  PATH: no helm; CONTRIBUTING.md says how to get it"
    assert run(tmp_path, chart, VICW_TEST_REQUIRE="helm").returncode == 1


def test_a_test_with_a_server_fixture_gets_the_servers_marker(tmp_path: Path) -> None:
    marked = subprocess.run(
        [*command(tmp_path, ONE_TEST), "-m", "not servers"], env=environment(), capture_output=True, check=False
    )
    assert marked.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_failed_start_shows_the_log_of_the_server(tmp_path: Path) -> None:
    binary = tmp_path / "redis-server"
    binary.write_text("#!/bin/sh\necho 'no room for a database'\nexit 3\n")
    binary.chmod(0o755)
    ended = run(tmp_path, PATH=str(tmp_path))
    assert "it ended instead of answering; its log ends:\n    no room for a database" in ended.stdout


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="no redis-server on PATH")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_server_outlives_a_killed_run(tmp_path: Path, number: signal.Signals) -> None:
    told = tmp_path / "told"
    test = (
        "import pathlib, time\n"
        "from support.servers.guard import guard\n"
        "def test_it(redis_server):\n"
        "    with redis_server.client() as client: pid = client.info()['process_id']\n"
        f"    pathlib.Path({str(told)!r}).write_text(f'{{pid}} {{guard().directory}}\\n')\n"
        "    time.sleep(60)\n"
    )
    killed = subprocess.Popen(
        command(tmp_path, test), env=environment(PATH=os.environ["PATH"]), stdout=subprocess.DEVNULL
    )
    try:
        _await(lambda: told.exists() and told.read_text().endswith("\n"))
        pid, directory = told.read_text().split()
        assert Path(f"/proc/{pid}").exists() or sys.platform != "linux"
    finally:
        killed.send_signal(number)
        killed.wait()
    _await(lambda: not _alive(int(pid)) and not Path(directory).exists())


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that nobody has collected yet has ended.
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def _await(seen: Callable[[], bool], within: float = 30) -> None:
    deadline = time.monotonic() + within
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.05)
