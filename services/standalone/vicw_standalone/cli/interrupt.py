"""Ctrl-C in a command that has work under way."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C has ended."""


@contextmanager
def interruptible(first: Callable[[], None], second: Callable[[], None]) -> Iterator[threading.Event]:
    """Yield an event that a first Ctrl-C sets, before ``first``; another one ends the process after ``second``.

    No exception is raised, so that what is under way comes to its end and can be told of.
    """
    stop = threading.Event()

    def pressed(*_: object) -> None:
        if stop.is_set():
            second()
            os._exit(INTERRUPTED)  # any other exit waits for the threads, and they for the server
        stop.set()
        first()

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
