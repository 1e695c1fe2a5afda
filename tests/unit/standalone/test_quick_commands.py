"""Commands that ask a server start in a moment: what they import, and what a request without the client does."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import typer

from vicw_runtime.terminal.recorded_address import recorded_address
from vicw_standalone.terminal import one_request
from vicw_standalone.terminal.server_client import connect
from vicw_stores.data_dir import DataDir

ANSWER: dict[str, Any] = {
    "intent": {"domain": "general", "confidence": 0.5, "domain_source": "hits", "filtered": False},
    "results": [
        {
            "uid": "u1",
            "id": "note[1]",
            "name": "a note",
            "context": "c",
            "subtype": "event",
            "timestamp": "2026-01-02T10:00:00Z",
            "score": 0.5,
            "rank": 1,
            "text": "The deploy failed.\x1b",
            "via": [{"uid": "u2", "type": "CAUSED", "direction": "in"}],
            "news": "of a later server",
        }
    ],
    "graph": {"nodes": [{"uid": "u2", "name": "the cause", "text": None}]},
    "text": "The deploy failed.",
    "took_ms": {"total": 1.0},
    "degraded": ["dense"],
}
_SERVER_STACK = {
    "numpy",
    "fastapi",
    "starlette",
    "uvicorn",
    "structlog",
    "qdrant_edge",
    "neo4j",
    "celery",
    "onnxruntime",
}
_CLIENT_STACK = {"httpx", "vicw_client", "vicw_shared.wire", "vicw_shared.settings", "asyncio", "sqlite3"}


class _Handler(BaseHTTPRequestHandler):
    status, body = 200, json.dumps(ANSWER).encode()
    seen: dict[str, Any]

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).seen = {"path": self.path, "key": self.headers["Authorization"], "body": json.loads(sent)}
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def handler() -> type[_Handler]:
    return type("Handler", (_Handler,), {})


@pytest.fixture
def url(handler: type[_Handler], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("VICW_URL", "VICW_RETRIEVE_URL", "VICW_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    server = HTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_without_an_address_the_server_of_the_data_directory_is_asked(
    url: str, handler: type[_Handler], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VICW_DATA_DIR", str(tmp_path / "data"))
    assert recorded_address() is None
    with DataDir(tmp_path / "data") as data_dir:
        data_dir.record_address(url)
        assert one_request.post("/retrieve", {"query": "who?"}, None) == ANSWER
        with connect(None) as client:
            assert client.address == url
        monkeypatch.setenv("VICW_URL", "http://memory.test")
        with connect(None) as client:
            assert client.address == "http://memory.test"
    monkeypatch.delenv("VICW_URL")
    assert recorded_address() is None, "it has ended"


def imported(*command: str) -> tuple[set[str], str]:
    """Return the modules that a command has imported at its end, and what it has printed."""
    program = (
        "import sys, json\nfrom vicw_standalone.cli import main\n"
        f"sys.argv = ['vicw', *{command!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1])), done.stdout


@pytest.mark.process
def test_retrieve_imports_neither_the_server_nor_the_client(url: str) -> None:
    modules, shown = imported("retrieve", "why did the deploy fail", "--url", url)
    assert not modules & (_SERVER_STACK | _CLIENT_STACK)
    assert not {name for name in modules if name.startswith(("vicw_ingest", "vicw_retrieval", "vicw_stores"))}
    assert "1. a note c · event · 2026-01-02 10:00Z · note[1] · 0.500\nThe deploy failed.\ufffd\n" in shown
    assert "← CAUSED the cause" in shown


@pytest.mark.process
def test_retrieve_asks_and_tells_in_the_zone_that_is_named(url: str, handler: type[_Handler]) -> None:
    modules, shown = imported("retrieve", "why did the deploy fail", "--timezone", "Asia/Kolkata", "--url", url)
    assert not modules & (_SERVER_STACK | _CLIENT_STACK)
    assert handler.seen["body"]["timezone"] == "Asia/Kolkata"
    assert "1. a note c · event · 2026-01-02 15:30 · note[1] · 0.500\n" in shown


@pytest.mark.process
def test_retrieve_says_that_nothing_is_known_of_the_named_time(url: str, handler: type[_Handler]) -> None:
    handler.body = json.dumps(ANSWER | {"time": {"text": "on 5.3.2026", "nothing": True}}).encode()
    command = [str(Path(sys.executable).with_name("vicw")), "retrieve", "what failed on 5.3.2026", "--url", url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "nothing is known of this time: on 5.3.2026" in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    "command", [["--help"], ["--version"], ["retrieve", "--help"], ["ingest", "--help"]], ids=" ".join
)
def test_help_imports_no_server(command: list[str]) -> None:
    modules, _ = imported(*command)
    assert not modules & _SERVER_STACK


def test_what_is_sent_is_what_the_client_sends(
    url: str, handler: type[_Handler], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VICW_API_KEY", " key\n")
    monkeypatch.setenv("VICW_URL", f"{url}/vicw/")
    assert one_request.post("/retrieve", {"query": "q"}, None) == ANSWER
    assert handler.seen == {"path": "/vicw/retrieve", "key": "Bearer key", "body": {"query": "q"}}
    monkeypatch.setenv("VICW_RETRIEVE_URL", f"{url}/other")
    one_request.post("/retrieve", {"query": "q"}, None)
    assert handler.seen["path"] == "/other/retrieve"
    one_request.post("/retrieve", {"query": "q"}, url)
    assert handler.seen["path"] == "/retrieve", "the retrieval service complements VICW_URL"


@pytest.mark.parametrize(
    ("status", "body"),
    [(503, b"{}"), (422, b"{}"), (200, b"no json"), (200, b"[]")],
    ids=["busy", "wrong", "text", "list"],
)
def test_what_is_no_answer_is_left_to_the_client(url: str, handler: type[_Handler], status: int, body: bytes) -> None:
    handler.status, handler.body = status, body
    assert one_request.post("/retrieve", {}, url) is None


@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1:8080",
        "http://memory.example:8080",
        "http://127.0.0.1:9",
        "http://127.0.0.1:99999",
        "http://[::1",
        "nonsense",
    ],
)
def test_other_machines_and_wrong_addresses_are_left_to_the_client(address: str) -> None:
    assert one_request.post("/retrieve", {}, address) is None


def test_a_slow_answer_is_not_asked_for_twice(
    url: str, handler: type[_Handler], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(handler, "do_POST", lambda self: time.sleep(0.3))
    with pytest.raises(typer.Exit):
        one_request.post("/retrieve", {}, url, seconds=0.05)
    assert capsys.readouterr().err == f"error: {url} did not answer in time\n"
