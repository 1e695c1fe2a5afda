"""End this process with its parent, so that no orphan keeps a model in memory."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1
_POLL_SECONDS = 1.0
_GRACE_SECONDS = 10.0


def die_with(parent: int) -> None:
    """Send this process SIGTERM when ``parent`` ends, and exit if it does not stop.

    On Linux the kernel does it at once. A thread checks every second, too, for other systems and for a parent that
    ended before the kernel was asked.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    threading.Thread(target=_watch, args=(parent,), name="parent-watch", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_SECONDS)
    os._exit(1)
