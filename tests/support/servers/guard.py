"""Ends test servers whose test run is gone, however it went.

A process of its own: it reads what there is to end from a pipe, and the pipe closes when the run ends, by itself or by
SIGKILL. The kernel's own way (PR_SET_PDEATHSIG) follows the thread that started the child, and so would end the servers
that a test restarted from a worker thread.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path


class Guard:
    """The guarding process, and the directory of the run that it removes at last."""

    def __init__(self) -> None:
        from support.fast_directory import fast_directory  # the guarding process does not find it

        self.directory = Path(tempfile.mkdtemp(prefix="vicw-servers-", dir=fast_directory()))
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", __file__, self.directory],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Neither Ctrl-C nor a signal to the run's group may reach it.
            start_new_session=True,
            text=True,
        )

    def watch(self, kind: str, name: int | str) -> None:
        """Have a ``process`` group or a ``container`` ended with the run."""
        self._say(f"+{kind} {name}")

    def forget(self, kind: str, name: int | str) -> None:
        self._say(f"-{kind} {name}")

    def close(self) -> None:
        """End all that is watched; wait until it is done."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()


@functools.cache
def guard() -> Guard:
    """Return the guard of this run, started when it is first asked for."""
    made = Guard()
    atexit.register(made.close)
    return made


def _serve(lines: Iterable[str], directory: str) -> None:
    watched: set[tuple[str, str]] = set()
    for line in lines:
        kind, name = line[1:].split()
        (watched.add if line[0] == "+" else watched.discard)((kind, name))
    for kind, name in watched:
        if kind == "process":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(name), signal.SIGKILL)
        elif docker := shutil.which("docker"):
            subprocess.run([docker, "rm", "--force", "--volumes", name], capture_output=True, check=False)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    _serve(sys.stdin, sys.argv[1])
