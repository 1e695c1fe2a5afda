"""``vicw forget`` beside a real server, which is killed in the middle of it."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from support.processes.server import VICW, Server, require_clean, run, temporary_directory
from unit.standalone.test_forget_command import WORDS, files_with

pytestmark = [pytest.mark.process, pytest.mark.crash, pytest.mark.timeout(1800)]

_SECRET = "Quirin Zeltner keeps the vermilion lockbox under the third stair of the Halde observatory."
_PARTS = (0.0, 0.3, 0.7)
"""When to kill the server: shares of the time from the erasure's record to its end."""
_POLL_SECONDS = 0.005


def _fill(server: Server) -> None:
    texts = [f"We talked about the amulet of Porto in round {n}." for n in range(30)]
    items = [{"id": f"n{n}", "text": text, "flow_id": "f", "speaker": "Ana"} for n, text in enumerate(texts)]
    items.insert(9, {"id": "s", "text": _SECRET, "flow_id": "f", "speaker": "Ana"})
    stored = httpx.post(f"{server.url}/ingest", json={"context": "c", "items": items}, timeout=120, trust_env=False)
    assert stored.status_code == 201, stored.text


def _ids(server: Server, query: str) -> list[str]:
    found = httpx.post(f"{server.url}/retrieve", json={"query": query}, timeout=60, trust_env=False)
    assert found.status_code == 200, found.text
    return [result["id"] for result in found.json()["results"]]


def _begun(server: Server) -> bool:
    """Return whether a server, running or killed, has recorded an erasure that has not ended."""
    with contextlib.closing(sqlite3.connect(server.data_dir / "graph.sqlite3")) as graph:
        return bool(graph.execute("SELECT count(*) FROM erasure").fetchone()[0])


@contextlib.contextmanager
def _forgetting(server: Server) -> Iterator[subprocess.Popen[str]]:
    """Run the command beside a server; the block begins when its erasure is recorded, or when it has ended."""
    command = [str(VICW), "forget", "item", "s", "--yes", "--data-dir", str(server.data_dir)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=server.environment
    ) as process:
        while process.poll() is None and not _begun(server):
            time.sleep(_POLL_SECONDS)
        yield process


def test_a_server_killed_during_forget_answers_nothing_erased_and_resume_finishes(models_dir: Path) -> None:
    killed = 0
    with temporary_directory() as directory:
        mirror = directory / "mirror"
        first = Server(directory / "data", models_dir, VICW_MIRROR_PATH=str(mirror))
        first.start()
        _fill(first)
        assert "s" in _ids(first, "Where is the vermilion lockbox?")
        assert first.stop() == 0
        assert run(first, "mirror", "build").returncode == 0
        for name in (*(f"tried{part}" for part in _PARTS), "whole"):
            (directory / name).mkdir()
            shutil.copytree(first.data_dir, directory / name / "data")
            shutil.copytree(mirror, directory / name / "mirror")
        took = _forget_to_the_end(directory / "whole", models_dir)
        for part in _PARTS:
            killed += _forget_and_kill(directory / f"tried{part}", models_dir, took * part)
    assert killed, "each command had ended before its server was killed"


def _server(home: Path, models_dir: Path) -> Server:
    return Server(home / "data", models_dir, VICW_MIRROR_PATH=str(home / "mirror"))


def _forget_to_the_end(home: Path, models_dir: Path) -> float:
    """Erase beside a server; return how long it took from the record. Nothing is left while the server still runs."""
    server = _server(home, models_dir)
    server.start()
    try:
        with _forgetting(server) as done:
            began = time.monotonic()
            output, errors = done.communicate()
            took = time.monotonic() - began
        assert (done.returncode, "proven" in output) == (0, True), output + errors
        assert files_with(home, WORDS) == {}, "the data directory, the mirror, and the log"
        found = _ids(server, "Where is the vermilion lockbox, and the amulet of Porto?")
        assert found
        assert "s" not in found
        assert server.stop() == 0
        assert files_with(home, WORDS) == {}
        require_clean(server)
    finally:
        server.kill()
    return took


def _forget_and_kill(home: Path, models_dir: Path, seconds: float) -> bool:
    """Kill a server ``seconds`` after the erasure's record; return whether the command was still running."""
    server = _server(home, models_dir)
    server.start()
    try:
        with _forgetting(server) as forgetting:
            try:
                forgetting.wait(seconds)
            except subprocess.TimeoutExpired:
                server.kill()
            output, errors = forgetting.communicate()
        if forgetting.returncode == 0:
            assert "proven" in output
            return False
        assert "run the command again" in errors or "does not answer" in errors, output + errors
        begun = _begun(server)
        server.start()
        gone = "s" not in _ids(server, "Where is the vermilion lockbox?")
        assert gone or not begun, "nothing half-forgotten is answered again"
        if begun or not gone:
            done = run(server, "forget", *(("resume",) if begun else ("item", "s", "--yes")))
            assert (done.returncode, "proven" in done.stdout) == (0, True), done.stdout + done.stderr
        assert run(server, "forget", "resume").stdout == "", "nothing is pending"
        assert files_with(home, WORDS) == {}
        assert server.stop() == 0
        require_clean(server)
    finally:
        server.kill()
    return True
