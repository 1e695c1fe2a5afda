"""Busy loops beside what is measured: what is found must not depend on what else the machine does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_LOOP = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""
"""Ends with its parent, even one that was killed."""


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep so many processor cores busy until the block ends."""
    with ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen([sys.executable, "-c", _LOOP], stdin=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield
