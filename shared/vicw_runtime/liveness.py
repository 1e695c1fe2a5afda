"""Liveness of a worker or the clock: its loop touches a file. ``python -m vicw_runtime.liveness FILE [SECONDS]``.

A health check for containers, run every few seconds, so it imports little and contacts no server.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

TOUCH_SECONDS = 2.0
"""How often the file is touched."""
STALE_SECONDS = 30.0
"""Age of the file at which its process counts as stuck."""


def touch(file: Path | None) -> None:
    """Touch the file, if one is set. A failure is ignored: the file then goes stale."""
    if file is not None:
        with suppress(OSError):
            file.touch()


def main(arguments: Sequence[str]) -> int:
    """Return 0 if the file was touched within the last ``SECONDS``, 1 if not."""
    try:
        file, seconds = Path(arguments[0]), float(arguments[1]) if len(arguments) > 1 else STALE_SECONDS
    except (IndexError, ValueError):
        print("usage: python -m vicw_runtime.liveness FILE [SECONDS]", file=sys.stderr)
        return 2
    try:
        age = time.time() - file.stat().st_mtime
    except OSError as error:
        print(f"{file}: {error.strerror}; VICW_WORKER_LIVENESS_FILE names it to the process", file=sys.stderr)
        return 1
    if age > seconds:
        print(f"{file} was touched {age:.0f} s ago", file=sys.stderr)
    return int(age > seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
