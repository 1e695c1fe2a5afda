"""Watches folders by polling, since network drives and containers may send no notifications."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from vicw_standalone.knowledge.folder import signature


def watch(root: Path, every_seconds: float, stop: threading.Event, changed: Callable[[], bool]) -> None:
    """Call ``changed`` after each change of files of ``root``, once they no longer change, until ``stop`` is set.

    If it returns False, it is called again at the next poll.
    """
    settled = signature(root)
    if not changed():
        settled = {}
    before = settled
    while not stop.wait(every_seconds):
        now = signature(root)
        if now != settled and now == before:
            settled = now if changed() else {}
        before = now
