"""Ctrl-C during ``vicw ingest``, while the server takes its time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from support.processes.server import VICW, environment

pytestmark = pytest.mark.process


class SlowServer:
    """Stores nothing and answers a request once it ``may_answer``; ``asked`` is set when one is under way."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.may_answer = threading.Event()
        self.requests = self.answered = 0
        slow = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, {"status": "ready", "store": "slow"})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                slow.requests += 1
                slow.asked.set()
                slow.may_answer.wait(60)
                slow.answered += 1
                with contextlib.suppress(BrokenPipeError):  # the command has gone
                    self._answer(201, stored(body))

            def log_message(self, *_: object) -> None:
                pass

            def _answer(self, status: int, body: dict[str, Any]) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"


def stored(body: dict[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": None,
        "uid": "1",
        "status": "created",
        "label": "Event",
        "flow_id": "f",
        "flow_step": 1,
        "nodes": [],
    }
    return {"context": "c", "context_uid": "u", "domain": "general", "job": None, "items": [item] * len(body["items"])}


@pytest.fixture
def server() -> Iterator[SlowServer]:
    slow = SlowServer()
    thread = threading.Thread(target=slow.http.serve_forever)
    thread.start()
    yield slow
    slow.may_answer.set()
    slow.http.shutdown()
    thread.join()
    slow.http.server_close()


@pytest.fixture
def options() -> list[str]:
    """Further options of the import."""
    return []


@pytest.fixture
def importing(server: SlowServer, tmp_path: Path, options: list[str]) -> Iterator[subprocess.Popen[str]]:
    """``vicw ingest`` of a flow of three requests, of which the first is under way."""
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps({"text": f"turn {n}", "flow_id": "f"}) + "\n" for n in range(300)))
    variables = environment(tmp_path, VICW_URL=server.url, XDG_STATE_HOME=str(tmp_path / "state"))
    with subprocess.Popen(
        [VICW, "ingest", path, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables
    ) as process:
        try:
            assert server.asked.wait(30)
            yield process
        finally:
            process.kill()


def press_ctrl_c(process: subprocess.Popen[str]) -> None:
    os.kill(process.pid, signal.SIGINT)


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def test_ctrl_c_stops_ingest_after_the_requests_in_flight(server: SlowServer, importing: subprocess.Popen[str]) -> None:
    press_ctrl_c(importing)
    assert "stopping after the requests in flight" in next_line(importing)
    assert server.answered == 0, "it is said at once"
    server.may_answer.set()
    said, told = importing.communicate(timeout=30)
    assert importing.returncode == 130
    assert "stopped. 100 items stored; run the same import again to continue" in told
    assert ["created", "100"] in [line.split() for line in said.splitlines()]
    assert server.requests == server.answered == 1


@pytest.mark.parametrize("options", [["--json"]])
def test_a_stopped_import_is_json_for_a_program(server: SlowServer, importing: subprocess.Popen[str]) -> None:
    press_ctrl_c(importing)
    next_line(importing)
    server.may_answer.set()
    said, _ = importing.communicate(timeout=30)
    report = json.loads(said)
    assert (importing.returncode, report["created"]) == (130, 100)
    assert "run the same import again" in report["error"]


def test_a_second_ctrl_c_stops_ingest_at_once(server: SlowServer, importing: subprocess.Popen[str]) -> None:
    press_ctrl_c(importing)
    next_line(importing)
    press_ctrl_c(importing)
    _, told = importing.communicate(timeout=10)
    assert server.answered == 0
    assert (importing.returncode, "stopped at once" in told, "Traceback" in told) == (130, True, False)
