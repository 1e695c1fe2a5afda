"""Ctrl-C of a long command, and what was refused."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.markup import escape

from vicw_runtime.console import INTERRUPTED, err

if TYPE_CHECKING:
    from vicw_readers.records import Refused

_SHOWN_REFUSALS = 20


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


def print_refused(refusals: Sequence[Refused], word: str = "refused") -> None:
    """Print the first refusals, each with its reason."""
    for refused in refusals[:_SHOWN_REFUSALS]:
        location = f"{refused.path}:{refused.line}" if refused.line else str(refused.path)
        err.print(f"[yellow]{word}[/] {escape(location)}: {escape(refused.reason)}")
    if len(refusals) > _SHOWN_REFUSALS:
        err.print(f"[yellow]…and {len(refusals) - _SHOWN_REFUSALS} more[/]")
