"""The real ``vicw serve`` as a process of its own, and what a test wants to do to it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import httpx

from support.fast_directory import fast_directory

VICW = Path(sys.executable).with_name("vicw")
START_SECONDS = 90.0


class Server:
    """A server on a free port, unless one is set; may be started again and again over the same data directory."""

    def __init__(self, data_dir: Path, models_dir: Path, **variables: str) -> None:
        self.data_dir = data_dir
        # A killed server leaves its embedder's socket behind.
        self.environment = environment(models_dir, TMPDIR=str(data_dir.parent), **variables)
        self.url = ""
        self.port = 0
        self.log_path = data_dir.with_name(f"{data_dir.name}.log")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        return self.log_path.read_text("utf-8", "replace")

    def launch(self) -> None:
        """Start the process without waiting for it."""
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [VICW, "serve", "--port", str(self.port), "--data-dir", self.data_dir],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.environment,
            )

    def start(self) -> None:
        """Start and return when it is ready; fail with its own words if it ends instead."""
        self.launch()
        self.await_ready()

    def await_ready(self) -> None:
        """Wait until the model is loaded, too."""
        self.await_words()
        ready = f"{self.url}/readyz"
        eventually(
            lambda: self.running() and httpx.get(ready, trust_env=False).status_code,
            lambda status: status is False or status == httpx.codes.OK,
            START_SECONDS,
            "the server is ready",
        )
        if not self.running():
            raise AssertionError(f"the server ended while it loaded the model; it logged:\n{self.log[-3000:]}")

    def await_words(self) -> None:
        """Wait until it answers; it may still be opening the index and loading the model."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = _first_line(self._process.stdout, START_SECONDS)
        if not line.startswith("VICW answers on http://"):
            self.kill()
            raise AssertionError(f"the server did not start; it printed {line!r} and logged:\n{self.log[-3000:]}")
        self.url = line.split()[3]

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def embedder(self) -> int | None:
        """Return the process id of the embedding child, None while there is none."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                for child in (task / "children").read_text().split():
                    if b"vicw_embedding" in Path(f"/proc/{child}/cmdline").read_bytes():
                        return int(child)
        return None

    def kill(self) -> None:
        """``kill -9``; a server that is gone already stays gone."""
        if self._process is not None:
            self._process.kill()
            self._reap(10)

    def stop(self, number: int = signal.SIGTERM, within: float = 10.0) -> int:
        """Send a signal; return the exit code. Fails if it takes longer than ``within`` seconds."""
        assert self._process is not None
        self._process.send_signal(number)
        return self._reap(within)

    def wait(self, within: float = 30.0) -> int:
        """Return the exit code of a process that should end by itself."""
        return self._reap(within)

    def _reap(self, within: float) -> int:
        assert self._process is not None
        try:
            code = self._process.wait(within)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"the server had not ended after {within:g} s; its log:\n{self.log[-3000:]}") from None
        if self._process.stdout is not None:
            self._process.stdout.close()
        return code


def environment(models_dir: Path, **variables: str) -> dict[str, str]:
    """Return this process's environment without its own VICW settings, with ours."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VICW_")}
    patient = {"VICW_EMBEDDING_MODELS_DIR": str(models_dir), "VICW_RETRIEVAL_SPREAD_MS": "20000"}  # whatever else runs
    patient["VICW_INGEST_WAIT_SECONDS"] = "110"
    patient["PYTHONFAULTHANDLER"] = "1"  # a crash in native code leaves its stack in the log
    return clean | patient | variables


def run(server: Server, *arguments: str, within: float = 180.0) -> subprocess.CompletedProcess[str]:
    """Run a ``vicw`` command on a server's data directory to its end."""
    command = [str(VICW), *arguments, "--data-dir", str(server.data_dir)]
    return subprocess.run(command, capture_output=True, text=True, env=server.environment, timeout=within, check=False)


def await_indexed(server: Server) -> None:
    """Return once nothing of a running server waits to be indexed."""
    ready = f"{server.url}/readyz"
    eventually(
        lambda: httpx.get(ready, trust_env=False).json().get("passages_waiting"),
        lambda left: left == 0,
        60,
        "nothing waits",
    )


def require_clean(server: Server) -> None:
    """Stopped, the store keeps all its invariants and nothing waits to be indexed."""
    report = run(server, "check")
    assert report.returncode == 0, report.stdout + report.stderr
    assert "clean" in report.stdout.splitlines(), report.stdout
    assert ", 0 waiting" in report.stdout, report.stdout


def count_nodes(server: Server, condition: str = "true") -> int:
    """Return how many nodes are stored, read beside the server."""
    with contextlib.closing(sqlite3.connect(f"file:{server.data_dir}/graph.sqlite3?mode=ro", uri=True)) as graph:
        return int(graph.execute(f"SELECT count(*) FROM node WHERE {condition}").fetchone()[0])


def eventually[T](look: Callable[[], T], wanted: Callable[[T], bool], within: float, what: str) -> T:
    """Look until what is seen is wanted; a server that is away for the moment is looked at again."""
    deadline = time.monotonic() + within
    seen: T | Exception
    while True:
        try:
            seen = look()
            if wanted(seen):
                return seen
        except httpx.TransportError as error:
            seen = error
        assert time.monotonic() < deadline, f"{what}: not within {within:g} s; last seen: {seen!r}"
        time.sleep(0.05)


@contextlib.contextmanager
def temporary_directory() -> Iterator[Path]:
    """A directory for a while, in memory where there is room."""
    with tempfile.TemporaryDirectory(dir=fast_directory(), prefix="vicw-e2e-") as name:
        yield Path(name)


def _first_line(pipe: IO[bytes], within: float) -> str:
    deadline = time.monotonic() + within
    read = b""
    while b"\n" not in read:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        part = os.read(pipe.fileno(), 4096) if ready else b""
        if not part:
            break
        read += part
    return read.decode("utf-8", "replace").partition("\n")[0]
