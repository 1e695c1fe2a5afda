"""How far long work is, as it tells whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable

type Progress = Callable[[str, int, int], None]
"""Is told what is done, how many of it are, of how many; 0: nobody knows."""


def silent(step: str, done: int, total: int) -> None:
    """Tell nobody."""
