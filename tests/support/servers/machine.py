"""What a test server runs on: a child process (a container is the other kind)."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from support.servers.guard import guard


class Machine(Protocol):
    """Runs one server, over the same data and port each time it is started."""

    def start(self) -> None: ...

    def running(self) -> bool: ...

    def kill(self) -> None:
        """End it as a power cut would; does nothing if it is not running."""
        ...

    def close(self) -> None:
        """End it for good and drop its data."""
        ...

    def log(self) -> str: ...


class Child:
    """A child process in a directory of its own, ended with the test run at the latest."""

    def __init__(self, directory: Path, command: Sequence[str | Path], environment: Mapping[str, str] = {}) -> None:
        self._directory = directory
        self._command = command
        self._environment = {**os.environ, **environment}
        self._log = directory / "output.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._directory,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A group of its own, so that all of it is ended, and Ctrl-C in the terminal is not for it.
                start_new_session=True,
            )
        guard().watch("process", self._process.pid)

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        guard().forget("process", self._process.pid)
        self._process = None

    def close(self) -> None:
        self.kill()

    def log(self) -> str:
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""


def new_directory(name: str) -> Path:
    """Return a new directory that goes with the test run."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=guard().directory))


def free_port() -> int:
    """Return a port that nobody listens on.

    Below those that systems give to outgoing connections, so that a killed server finds its port free again.
    """
    # The system's chance: hypothesis seeds the module's, and then two processes of a run would draw the same ports.
    chance = random.SystemRandom()
    for _ in range(100):
        port = chance.randrange(20_000, 32_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port between 20000 and 32000")
