"""Ctrl-C of a long command."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vicw_runtime.console import INTERRUPTED


@contextmanager
def interruptible(first: Callable[[], None], second: Callable[[], None]) -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets before it calls ``first``; the next one calls ``second`` and exits.

    No exception is raised, so that work in progress can finish and be reported.
    """
    stop = threading.Event()

    def pressed(*_: object) -> None:
        if stop.is_set():
            second()
            os._exit(INTERRUPTED)  # any other exit waits for threads that wait for the server
        stop.set()
        first()

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
