"""A signal to ``vicw serve`` before the server handles signals itself: it must not get lost in what runs just then."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_SERVE = """
import asyncio, contextlib, os, signal, sys
from pathlib import Path
from vicw_standalone.cli import serve

class Model:
    async def begin(self):
        with contextlib.suppress(BaseException):  # what runs may swallow what a signal handler raises
            os.kill(os.getpid(), signal.Signals(int(sys.argv[1])))
            for _ in range(1000):
                pass
        await asyncio.sleep(600)

    async def close(self):
        print("closed")

serve.first_process = lambda settings: Model()
serve.serve(port=0, data_dir=Path(sys.argv[2]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_model_begins_ends_the_server_and_the_model(number: int, tmp_path: object) -> None:
    command = [sys.executable, "-c", _SERVE, str(int(number)), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (ended.returncode, ended.stdout) == (0, "closed\n"), ended.stderr
