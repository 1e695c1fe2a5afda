"""Reads a long text in a process of its own.

A parser for broken code can take time that grows with the square of the text's length and more, without a look at the
clock; a process can be killed. It also takes a crash of a grammar with it.
"""

from __future__ import annotations

import pickle
import subprocess
import sys

from vicw_ingest.extraction.code.model import Bounds, CodeReading

_STARTING_SECONDS = 5.0


def read_apart(text: str, path: str | None, language: str | None, bounds: Bounds) -> CodeReading | None:
    """Return what ``reading.read_here`` returns; None if it crashes or has no end by ``bounds.seconds``."""
    task = pickle.dumps((text, path, language, bounds))
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            input=task,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=bounds.seconds + _STARTING_SECONDS,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    reading: CodeReading | None = pickle.loads(done.stdout)  # noqa: S301 - our own process wrote it
    return reading


def _main() -> None:
    from vicw_ingest.extraction.code.reading import read_here

    text, path, language, bounds = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process wrote it
    pickle.dump(read_here(text, path, language, bounds), sys.stdout.buffer)


if __name__ == "__main__":
    _main()
