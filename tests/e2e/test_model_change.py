"""The model of a data directory is changed while its server serves, and while it does not; killed, it goes on."""

from __future__ import annotations

import contextlib
import re
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.conftest import Serve
from support.models import tiny_gguf
from support.processes.server import VICW, Server, eventually, require_clean, run
from vicw_stores.sqlite import GRAPH

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]
MINILM = "all-MiniLM-L6-v2"


@pytest.fixture
def server(serve: Serve, tmp_path: Path) -> Server:
    """A server whose directory has a small model of its own chosen, which fills it fast."""
    made = serve(VICW_INGEST_BATCH="8")
    chosen = run(made, "model", "use", str(tiny_gguf.encoder(tmp_path / "small.gguf").path))
    assert chosen.returncode == 0, chosen.stderr
    made.start()
    return made


def remember(server: Server, *numbers: int, **fields: Any) -> httpx.Response:
    items = [{"id": f"i{n}", "text": f"unique{n} the river of light and stone " * 5} for n in numbers]
    body = {"context": "c", "items": items, **fields}
    return httpx.post(f"{server.url}/ingest", json=body, timeout=120, trust_env=False)


def found(server: Server, number: int) -> list[str]:
    body = {"query": f"unique{number}", "channels": ["bm25"], "limit": 1}
    answer = httpx.post(f"{server.url}/retrieve", json=body, timeout=60, trust_env=False).raise_for_status().json()
    assert set(answer["degraded"]) <= {"pending"}
    return [result["id"] for result in answer["results"]]


def reindex_state(server: Server) -> dict[str, Any]:
    answer = httpx.post(f"{server.url}/admin/reindex/status", json={}, timeout=30, trust_env=False)
    body: dict[str, Any] = answer.raise_for_status().json()["result"]
    return body


def await_embedded(server: Server, passages: int) -> None:
    def past(seen: dict[str, Any]) -> bool:
        return bool(seen["phase"] == "embedding" and seen["done"] >= passages)

    eventually(lambda: reindex_state(server), past, 120, "a change under way")


def passages_waiting(server: Server) -> int:
    answer = httpx.get(f"{server.url}/readyz", timeout=30, trust_env=False)
    return int(answer.json()["passages_waiting"])


def is_change_noted(server: Server) -> bool:
    graph = sqlite3.connect(f"file:{server.data_dir / GRAPH}?mode=ro", uri=True)
    with contextlib.closing(graph):
        return bool(graph.execute("SELECT count(*) FROM meta WHERE key = 'change'").fetchone()[0])


def folders(server: Server) -> set[str]:
    return {path.name for path in server.data_dir.glob("vectors*")}


def embedders(server: Server) -> int:
    children = Path(f"/proc/{server.pid}/task").glob("*/children")
    pids = {pid for listed in children for pid in listed.read_text().split()}
    return sum(b"vicw_embedding" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids)


def repeat_in_thread(
    work: Callable[[int], None], halt: threading.Event, failures: list[BaseException]
) -> threading.Thread:
    def run_it() -> None:
        number = 0
        try:
            while not halt.is_set():
                work(number)
                number += 1
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run_it, daemon=True)
    thread.start()
    return thread


def test_reindex_changes_the_embedding_model_of_a_running_server(server: Server) -> None:
    assert remember(server, *range(150)).status_code == 201
    known, halt, failures = list(range(150)), threading.Event(), list[BaseException]()

    def write(number: int) -> None:
        wait = number % 2 == 0
        answer = remember(server, 1000 + number, wait=wait)
        assert answer.status_code == (201 if wait else 202), answer.text
        if wait:
            known.append(1000 + number)

    def read(number: int) -> None:
        wanted = known[-1] if number % 2 else known[number * 7 % len(known)]
        assert found(server, wanted) == [f"i{wanted}"]

    threads = [repeat_in_thread(work, halt, failures) for work in (write, read)]
    time.sleep(1)
    done = run(server, "reindex", "--model", MINILM, within=300)
    time.sleep(1)
    halt.set()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert (done.returncode, f"embedded with {MINILM}" in done.stdout) == (0, True), done.stdout + done.stderr
    assert "small (1024-d" in done.stderr
    for number in known:
        assert found(server, number) == [f"i{number}"]
    assert len(folders(server)) == 2, "the old one is kept"
    eventually(lambda: embedders(server), lambda count: count == 1, 60, "the old model's process has ended")
    assert f"{MINILM} (384-d" in run(server, "reindex", "--status").stdout

    dropped = run(server, "reindex", "--drop-old")
    assert ("small (1024-d" in dropped.stdout, len(folders(server))) == (True, 1), dropped.stderr
    assert remember(server, 5000).status_code == 201
    assert server.stop() == 0
    require_clean(server)
    server.start()
    assert found(server, 5000) == ["i5000"]


def test_a_server_killed_during_a_model_change_serves_the_old_model(server: Server) -> None:
    assert remember(server, *range(300)).status_code == 201
    for least in (40, 120):
        arguments = ["--model", MINILM] if least == 40 else []
        command = subprocess.Popen(
            [str(VICW), "reindex", *arguments, "--data-dir", str(server.data_dir)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=server.environment,
        )
        await_embedded(server, least)
        server.kill()
        command.kill()
        command.wait()
        server.start()
        assert found(server, 7) == ["i7"]
        assert "a model change is in progress" in server.log
        assert "is being filled" in run(server, "reindex", "--status").stdout
        assert remember(server, 1000 + least).status_code == 201
    done = run(server, "reindex", within=300)
    assert done.returncode == 0, done.stderr
    (embedded,) = re.findall(r"^(\d+) passages embedded with", done.stdout)
    assert int(embedded) <= 302 - 120, "what was there is not embedded again"
    assert found(server, 1040) == ["i1040"]
    assert server.stop() == 0
    require_clean(server)
    server.start()
    assert found(server, 1120) == ["i1120"]


def test_an_offline_model_change_that_is_stopped_keeps_the_old_model(server: Server) -> None:
    for start in range(0, 1500, 500):  # more than the new model embeds before it is stopped
        assert remember(server, *range(start, start + 500), wait=False).status_code == 202
    eventually(lambda: passages_waiting(server), lambda left: left == 0, 250, "all is embedded")
    assert server.stop() == 0
    for number in (signal.SIGINT, signal.SIGKILL):
        command = subprocess.Popen(
            [str(VICW), "reindex", "--model", MINILM, "--data-dir", str(server.data_dir)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=server.environment,
        )
        eventually(lambda: is_change_noted(server), bool, 60, "the change under way")
        time.sleep(0.5)
        command.send_signal(number)
        told, _ = command.communicate(timeout=60)
        if number is signal.SIGINT:
            assert (command.returncode, "run the same command again" in told) == (130, True), told
        assert "Traceback" not in told
    server.start()
    assert found(server, 7) == ["i7"]
    assert server.stop() == 0
    assert "is being filled" in run(server, "reindex", "--status").stdout
    done = run(server, "reindex", within=300)
    assert (done.returncode, f"embedded with {MINILM}" in done.stdout) == (0, True), done.stdout + done.stderr
    require_clean(server)
    server.start()
    assert found(server, 7) == ["i7"]
    assert MINILM in run(server, "reindex", "--status").stdout.splitlines()[1]


def test_reindex_to_an_unknown_model_is_refused(server: Server) -> None:
    assert remember(server, 1).status_code == 201
    refused = run(server, "reindex", "--model", "no-such-model")
    assert refused.returncode == 1
    assert "no-such-model is neither a registered model nor a GGUF or ONNX file" in refused.stderr
    assert reindex_state(server)["running"] is False
    both = run(server, "reindex", "--status", "--drop-old")
    assert both.returncode == 2
