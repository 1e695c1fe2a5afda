"""Watches folders by looking: what no notification tells of on network drives and in containers is seen, too."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from vicw_standalone.knowledge.folder import signature


def watch(root: Path, every_seconds: float, stop: threading.Event, changed: Callable[[], bool]) -> None:
    """Call ``changed`` whenever files of ``root`` have changed and are at rest, until ``stop`` is set.

    Where it returns False, it is called again at the next look.
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
