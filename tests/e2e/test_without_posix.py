"""``vicw serve`` on a system without unix sockets, file locks, and the other calls that only POSIX has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import support.processes.without_posix
from e2e.conftest import Serve
from support.processes.server import Server, eventually, run

pytestmark = pytest.mark.process
(POORER,) = support.processes.without_posix.__path__
ITEM = {"context": "c", "items": [{"id": "a", "text": "The lighthouse keeper mends the lamp at night."}]}


def _post(server: Server, path: str, body: object) -> httpx.Response:
    return httpx.post(f"{server.url}{path}", json=body, timeout=120, trust_env=False).raise_for_status()


def test_the_poorer_system_lacks_what_it_is_to_lack() -> None:
    code = "import os, socket; print(hasattr(socket, 'AF_UNIX'), hasattr(os, 'pread'))\nimport fcntl"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": POORER},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.split()) == (1, ["False", "False"])
    assert "No module named 'fcntl'" in done.stderr


def test_the_server_stores_answers_and_stops_without_posix(serve: Serve, tmp_path: Path) -> None:
    server = serve(PYTHONPATH=POORER, HTTP_PROXY="http://127.0.0.1:9")
    server.start()
    stored = _post(server, "/ingest", {**ITEM, "wait": True})
    assert stored.status_code == 201
    answer = _post(server, "/retrieve", {"query": "Who repairs the light?"}).json()
    assert ([result["id"] for result in answer["results"]], answer["degraded"]) == (["a"], [])
    metrics = httpx.get(f"{server.url}/metrics", timeout=60, trust_env=False).text
    assert "vicw_embedding_" in metrics, "the child asks for its secret"
    second = run(server, "serve", "--port", "0")
    assert (second.returncode, "is in use by another VICW process" in second.stderr) == (1, True)
    assert run(server, "check").returncode == 0, "commands find the server in the lock file"
    assert server.stop() == 0
    assert run(server, "check").returncode == 0, "and do without it"


def test_the_embedding_child_comes_back_at_its_port(serve: Serve) -> None:
    server = serve(PYTHONPATH=POORER)
    server.start()
    child = server.embedder()
    assert child is not None
    listening = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
    assert b"--uds" not in listening
    port = listening[listening.index(b"--port") + 1].decode()
    refused = httpx.post(f"http://127.0.0.1:{port}/v1/embeddings", json={"input": "x"}, timeout=30, trust_env=False)
    assert refused.status_code == 401, "other processes of the machine do not know the secret"
    os.kill(child, 9)
    eventually(server.embedder, lambda pid: pid not in {None, child}, 60, "a new child")
    assert _post(server, "/ingest", {**ITEM, "wait": True}).status_code == 201
