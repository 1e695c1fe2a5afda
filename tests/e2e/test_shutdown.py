"""Starting and ending: signals with requests in flight, refusals to start, and `vicw reindex`."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.conftest import Serve
from support.models import minilm_gguf, tiny_gguf
from support.processes.server import START_SECONDS, VICW, Server, eventually, require_clean, run

pytestmark = pytest.mark.process


def _post(server: Server, path: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(f"{server.url}{path}", json=body, timeout=90, trust_env=False)


def _remember(server: Server, count: int, **fields: Any) -> httpx.Response:
    items = [{"id": f"i{n}", "text": f"Memory number {n} of the lighthouse keeper."} for n in range(count)]
    return _post(server, "/ingest", {"context": "lighthouse", "flow_id": "log", "items": items, **fields})


def _count_results(server: Server, query: str = "lighthouse keeper") -> int:
    answer = _post(server, "/retrieve", {"query": query, "limit": 200, "expand": {"hops": 0}})
    return len(answer.raise_for_status().json()["results"])


def _degraded_channels(server: Server) -> list[str]:
    left_out: list[str] = _post(server, "/retrieve", {"query": "lighthouse"}).raise_for_status().json()["degraded"]
    return left_out


def _await_rebuilt(server: Server) -> None:
    eventually(lambda: _degraded_channels(server), lambda left_out: left_out == [], 60, "the index is whole again")


def _refused(server: Server, *words: str) -> None:
    """The server does not start: exit code 1, one sentence with these words, no traceback."""
    before = len(server.log) if server.log_path.exists() else 0
    server.launch()
    assert server.wait() == 1
    said = server.log[before:]
    for word in words:
        assert word in said, said
    assert "Traceback" not in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_after_the_requests_in_flight(serve: Serve, number: int) -> None:
    server = serve()
    server.start()
    child = server.embedder()
    assert child is not None
    with ThreadPoolExecutor(1) as pool:
        os.kill(child, signal.SIGSTOP)  # so that the request surely is in flight
        answer = pool.submit(_remember, server, 20)
        eventually(lambda: _backlog(server), lambda waiting: waiting == 20, 20, "the request under way")
        started = time.monotonic()
        os.kill(server.pid, number)
        eventually(lambda: _refuses_connections(server), bool, 5, "no new requests")
        assert not answer.done()
        os.kill(child, signal.SIGCONT)
        assert server.wait(10) == 0
        took = time.monotonic() - started
    assert took < 10
    assert answer.result().status_code == 201
    require_clean(server)


def test_a_request_cut_off_at_shutdown_keeps_what_it_stored(serve: Serve) -> None:
    server = serve()
    server.start()
    child = server.embedder()
    assert child is not None
    with ThreadPoolExecutor(1) as pool:
        os.kill(child, signal.SIGSTOP)
        answer = pool.submit(_remember, server, 20)
        eventually(lambda: _backlog(server), lambda waiting: waiting == 20, 20, "the request under way")
        assert server.stop(signal.SIGTERM, within=20) == 0
        assert (answer.result().status_code, "send the request again" in answer.result().text) == (503, True)
    assert "Traceback" not in server.log
    server.start()
    eventually(lambda: _count_results(server), lambda found: found == 20, 30, "what was stored, indexed")
    assert server.stop() == 0
    require_clean(server)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("deaf", [False, True], ids=["its child listens", "its child does not"])
def test_a_signal_during_model_loading_ends_the_server_cleanly(serve: Serve, number: int, deaf: bool) -> None:
    server = serve()
    server.launch()
    child = eventually(server.embedder, lambda pid: pid is not None, START_SECONDS, "the embedding process")
    assert child is not None
    if deaf:
        os.kill(child, signal.SIGSTOP)
    assert server.stop(number, within=10) == 0
    assert not Path(f"/proc/{child}").exists()
    assert not list(server.data_dir.parent.glob("vicw-*")), "the socket's folder"
    assert "Traceback" not in server.log
    server.start()
    assert server.stop() == 0
    require_clean(server)


def test_a_second_server_on_a_data_directory_is_refused_with_the_pid(serve: Serve) -> None:
    first = serve()
    first.start()
    second = serve(first.data_dir)
    _refused(second, "in use by another VICW process", f"pid {first.pid}")
    command = run(second, "check")
    assert (command.returncode, command.stdout.splitlines()[-1]) == (0, "clean"), "the server answers it"
    assert _remember(first, 1).status_code == 201


def test_a_taken_port_is_refused_before_the_store_is_created(serve: Serve) -> None:
    server = serve()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [str(VICW), "serve", "--port", port, "--data-dir", str(server.data_dir)]
        ended = subprocess.run(command, capture_output=True, text=True, env=server.environment, timeout=60, check=False)
    assert ended.returncode == 1
    assert port in ended.stderr
    assert "in use" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not server.data_dir.exists()


@pytest.mark.parametrize("where", ["/proc/vicw", "/dev/null/vicw", f"/tmp/{'v' * 300}"], ids=["proc", "null", "long"])
def test_an_unwritable_data_directory_is_refused_by_name(serve: Serve, where: str) -> None:
    server = serve(Path(where))
    ended = run_serve(server)
    assert ended.returncode == 1
    assert f"{where} cannot be used as data directory" in ended.stderr
    assert "Traceback" not in ended.stderr


def run_serve(server: Server) -> subprocess.CompletedProcess[str]:
    return run(server, "serve", "--port", "0")


def test_another_embedding_model_is_refused_until_reindex(serve: Serve, tmp_path: Path) -> None:
    other = tiny_gguf.encoder(tmp_path / "other.gguf")
    server = serve()
    server.start()
    assert _remember(server, 3).status_code == 201
    assert server.stop() == 0
    server.environment["VICW_EMBEDDING_MODEL"] = str(other.path)

    _refused(server, "all-MiniLM-L6-v2", "other", "vicw reindex")

    done = run(server, "reindex")
    assert done.returncode == 0, done.stderr
    assert "3 passages" in done.stdout
    server.start()
    assert _count_results(server) == 3
    assert server.stop() == 0
    require_clean(server)


def test_a_store_that_the_converted_model_filled_is_refused_with_both_ways_out(serve: Serve, models_dir: Path) -> None:
    file = minilm_gguf.ensure(models_dir)  # where VICW left it while llama.cpp ran the default model
    server = serve(VICW_EMBEDDING_MODEL=str(file))
    server.start()
    assert _remember(server, 3).status_code == 201
    assert server.stop() == 0
    del server.environment["VICW_EMBEDDING_MODEL"]

    _refused(server, "all-MiniLM-L6-v2 (384-d", "vicw reindex", f"vicw model use {file}")
    assert run(server, "model", "use", str(file)).returncode == 0
    server.start()
    assert _count_results(server) == 3
    assert server.stop() == 0

    assert run(server, "model", "use", "all-MiniLM-L6-v2").returncode == 0
    done = run(server, "reindex")
    assert (done.returncode, "3 passages" in done.stdout) == (0, True), done.stderr
    server.start()
    assert _count_results(server) == 3
    assert server.stop() == 0
    require_clean(server)


def test_a_lost_vector_index_is_rebuilt_while_fulltext_answers(serve: Serve) -> None:
    server = serve(VICW_INGEST_BATCH="8")
    server.start()
    assert _remember(server, 200).status_code == 201
    assert server.stop() == 0
    shutil.rmtree(server.data_dir / "vectors")
    assert run(server, "check").returncode == 2

    for started in (1, 2):
        server.start()
        assert (_count_results(server), _degraded_channels(server)) == (200, ["bm25", "dense"])
        assert "rebuilding" in httpx.get(f"{server.url}/readyz", timeout=30, trust_env=False).json()
        if started == 1:
            server.kill()
    _await_rebuilt(server)
    assert _count_results(server) == 200
    assert "rebuilding" not in httpx.get(f"{server.url}/readyz", timeout=30, trust_env=False).json()
    assert server.stop() == 0
    require_clean(server)


def test_a_lost_vector_index_is_rebuilt_by_reindex(serve: Serve) -> None:
    server = serve()
    server.start()
    assert _remember(server, 30).status_code == 201
    assert server.stop() == 0
    shutil.rmtree(server.data_dir / "vectors")
    done = run(server, "reindex")
    assert done.returncode == 0, done.stderr
    assert "30 passages" in done.stdout
    require_clean(server)
    server.start()
    assert _degraded_channels(server) == []


@pytest.mark.crash
def test_a_killed_reindex_is_completed_by_the_next_run_or_server_start(serve: Serve) -> None:
    server = serve()
    server.start()
    assert _remember(server, 120).status_code == 201
    assert server.stop() == 0
    shutil.rmtree(server.data_dir / "vectors")
    for indexed in (0, 1):  # killed as soon as the queue is filled, then as soon as something is embedded
        killed = subprocess.Popen(
            [str(VICW), "reindex", "--data-dir", str(server.data_dir)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**server.environment, "VICW_INGEST_BATCH": "8"},
        )
        try:
            eventually(lambda: _backlog(server), lambda n, i=indexed: 0 < n <= 120 - i, 60, "a reindex under way")  # type: ignore[misc]
        finally:
            killed.kill()
            killed.wait()
        assert _backlog(server) > 0

    server.start()
    assert (_count_results(server), _degraded_channels(server)) == (120, ["bm25", "dense"])
    _await_rebuilt(server)
    assert _count_results(server) == 120
    assert server.stop() == 0
    require_clean(server)


def test_a_store_with_a_newer_schema_version_is_refused(serve: Serve) -> None:
    server = serve()
    server.data_dir.mkdir()
    with closing(sqlite3.connect(server.data_dir / "graph.sqlite3")) as graph:
        graph.execute("PRAGMA user_version = 999")
    _refused(server, "schema version 999", "Upgrade")


def _backlog(server: Server) -> int:
    with closing(sqlite3.connect(f"file:{server.data_dir}/graph.sqlite3?mode=ro", uri=True)) as graph:
        return int(graph.execute("SELECT count(DISTINCT point) FROM outbox").fetchone()[0])


def _refuses_connections(server: Server) -> bool:
    try:
        httpx.get(f"{server.url}/healthz", timeout=1, trust_env=False)
    except httpx.ConnectError:
        return True
    return False
