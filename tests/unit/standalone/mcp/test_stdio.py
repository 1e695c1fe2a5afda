"""``vicw mcp``: an agent's lines to the running server and back, without the SDK and without a store of its own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import Implementation

from support.clients.mcp_client import MODES, Mode, refused, succeeded
from support.clients.served import serve
from support.processes.server import VICW, environment, eventually
from support.stores.memory import Memory, open_memory
from vicw_standalone.app import create_standalone_app
from vicw_standalone.mcp.bridge import StdioBridge
from vicw_standalone.mcp.server_finder import ServerFinder
from vicw_stores.data_dir import DataDir

TOOLS = ["recall", "remember", "retract", "trace", "memory_status"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}},
}


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store) as opened:
        await opened.ingest({"id": "n1", "text": "The ferry to Sunde leaves at seven."}, context="Harbour")
        yield opened


@pytest.fixture
async def url(memory: Memory) -> AsyncIterator[str]:
    async with serve(create_standalone_app(memory.standalone)) as address:
        yield address


def command(*arguments: str, cwd: Path, **variables: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=str(VICW), args=["mcp", *arguments], env=environment(cwd, **variables), cwd=str(cwd)
    )


@pytest.mark.parametrize("mode", MODES)
async def test_the_sdks_client_uses_the_tools_over_stdio(url: str, memory: Memory, tmp_path: Path, mode: Mode) -> None:
    started = command("--url", url, cwd=tmp_path, VICW_CONTEXT="Harbour")
    async with Client(started, mode=mode, client_info=Implementation(name="coder", version="1")) as agent:
        assert [tool.name for tool in (await agent.list_tools()).tools] == TOOLS
        assert "> The ferry to Sunde" in await succeeded(agent, "recall", query="When does the ferry to Sunde leave?")
        assert await succeeded(agent, "remember", text="Die Fähre fährt täglich.", id="n/2 é") == (
            "Scope: Harbour. Remembered: agent:n/2 é."
        )
        assert "'limt'" in await refused(agent, "recall", query="x", limt=1)
        assert "täglich" in (await agent.read_resource("vicw://Harbour/item/agent:n%2F2%20%C3%A9")).contents[0].text  # type: ignore[union-attr]
        assert (await agent.get_prompt("why", {"event": "é"})).messages
        for show in ("around", "causes", "history"):
            assert "agent:n/2 é" in await succeeded(agent, "trace", of="agent:n/2 é", show=show)
        assert "Scope: Harbour. Rights: " in (status := await succeeded(agent, "memory_status"))
        assert "- Harbour: 2 items" in status
    (one,) = [one for one in (await memory.retrieve("Fähre")).results if one.id == "agent:n/2 é"]
    assert one.source == "agent:coder"  # in the older era, too, in which only the handshake says so
    async with Client(started, mode=mode) as agent:
        retracted = await succeeded(agent, "retract", ids=["agent:n/2 é", "nope"])
    assert retracted == "Scope: Harbour. agent:n/2 é: retracted, nope: unknown."
    assert "agent:n/2 é" not in {one.id for one in (await memory.retrieve("Fähre")).results}


def talk(finder: ServerFinder, *lines: bytes) -> list[dict[str, Any]]:
    """Return the answers to lines, by id."""
    output = io.BytesIO()
    StdioBridge(finder, {}, output).run(io.BytesIO(b"\n".join(lines)))
    return sorted((json.loads(line) for line in output.getvalue().splitlines()), key=lambda one: one["id"] or 0)


def request(number: int, method: str = "ping") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method}).encode()


def test_a_server_that_is_away_is_named_in_every_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = talk(ServerFinder("http://127.0.0.1:1"), request(1), request(2))
    assert [one["id"] for one in answers] == [1, 2]
    assert {one["error"]["message"] for one in answers} == {
        "No VICW server answers at http://127.0.0.1:1: start it, or correct --url or VICW_URL"
    }
    for address in ("127.0.0.1:8080", "http://localhost:abc", "http://["):
        (answer,) = talk(ServerFinder(address), request(1))
        assert "is no address of a server" in answer["error"]["message"]
    monkeypatch.setenv("VICW_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("VICW_URL", raising=False)
    (answer,) = talk(ServerFinder(None, may_start=False), request(1))
    assert "start it with `vicw serve`" in answer["error"]["message"]
    assert list(tmp_path.iterdir()) == []


class _Handler(BaseHTTPRequestHandler):
    """Answers one request with the port that it was for, and closes the connection without a word."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(
            {"jsonrpc": "2.0", "id": message["id"], "result": int(self.headers["Host"].split(":")[1])}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.timeout(60)
def test_another_server_that_takes_the_place_of_one_is_found() -> None:
    servers = [HTTPServer(("127.0.0.1", 0), _Handler) for _ in range(2)]
    threads = [Thread(target=server.handle_request) for server in servers]
    for thread in threads:
        thread.start()
    addresses = iter([f"http://127.0.0.1:{server.server_port}" for server in servers])
    output = io.BytesIO()
    lines = b"\n".join(json.dumps(INITIALIZE | {"id": number}).encode() for number in (1, 2))
    StdioBridge(lambda: next(addresses), {}, output).run(io.BytesIO(lines))
    for thread, server in zip(threads, servers, strict=True):
        thread.join()
        server.server_close()
    answers = [json.loads(line)["result"] for line in output.getvalue().splitlines()]
    assert answers == [server.server_port for server in servers]


def test_broken_lines_are_answered_and_notifications_are_not() -> None:
    finder = ServerFinder("http://127.0.0.1:1")
    notification = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    assert talk(finder, notification, b"", b'{"jsonrpc": "2.0", "id": 4, "result": {}}') == []
    answers = talk(finder, b"{", b"[1]", b"\xff\xfe")
    assert [(one["id"], one["error"]["code"]) for one in answers] == [(None, -32700)] * 3


def test_the_bridge_imports_neither_the_sdk_nor_a_store() -> None:
    script = (
        "import io, sys; from vicw_standalone.cli import app; "
        "sys.stdin = io.TextIOWrapper(io.BytesIO(b'')); sys.argv = ['vicw', 'mcp']\n"
        "try: app()\nexcept SystemExit: pass\nprint('\\n'.join(sys.modules))"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    modules = set(printed.split())
    assert "vicw_standalone.mcp.bridge" in modules
    heavy = {"mcp", "httpx", "fastapi", "starlette", "asyncio", "sqlite3", "vicw_stores.sqlite", "numpy"}
    assert not modules & heavy


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A new data directory; a server that was started over it is ended."""
    folder = tmp_path / "data"
    yield folder
    lock = folder / "vicw.lock"
    if lock.exists() and DataDir.read_address(folder) is not None:
        pid = int(lock.read_text().split()[0])
        subprocess.run(["kill", str(pid)], check=True)
        eventually(lambda: DataDir.read_address(folder), lambda url: url is None, 90, "the server ends")


@pytest.mark.process
def test_a_server_that_is_started_is_told_of_with_how_to_stop_it(data_dir: Path, tmp_path: Path) -> None:
    variables = {"VICW_DATA_DIR": str(data_dir), "VICW_PORT": "0", "VICW_EMBEDDER": "none"}
    started = command(cwd=tmp_path, **variables)
    talks = [
        subprocess.run(
            [started.command, *started.args],
            input=json.dumps(INITIALIZE).encode() + b"\n",
            capture_output=True,
            env=started.env,
            cwd=tmp_path,
            check=True,
        )
        for _ in range(2)
    ]
    pid = (data_dir / "vicw.lock").read_text().split()[0]
    assert f"`kill {pid}` stops it; its log is {data_dir}-serve.log" in talks[0].stderr.decode()
    assert talks[1].stderr == b"", "it ran already"
    assert all(b'"result"' in one.stdout for one in talks)


@pytest.mark.process
async def test_two_agents_start_one_server_that_goes_on_and_keeps_every_write(data_dir: Path, tmp_path: Path) -> None:
    variables = {"VICW_DATA_DIR": str(data_dir), "VICW_PORT": "0", "VICW_EMBEDDER": "none", "VICW_CONTEXT": "Harbour"}
    started = command(cwd=tmp_path, **variables)
    async with Client(started) as one, Client(started) as other:
        for number in range(5):
            assert "Remembered" in await succeeded(one, "remember", text=f"Buoy {number} is red.", id=f"r{number}")
            assert "Remembered" in await succeeded(other, "remember", text=f"Buoy {number} was lit.", id=f"l{number}")
    assert DataDir.read_address(data_dir) is not None
    async with Client(started) as later:
        assert "Harbour: 10 items" in await succeeded(later, "memory_status")
