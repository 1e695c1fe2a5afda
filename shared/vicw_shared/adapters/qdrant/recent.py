"""A small cache of figures that other processes change, so that only time can tell when they are old."""

from __future__ import annotations

import time
from collections.abc import Callable


class Recent[K, V]:
    """Keeps values for ``seconds``, and ``size`` of them at most."""

    def __init__(self, seconds: float, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._size = size
        self._clock = clock
        self._kept: dict[K, tuple[float, V]] = {}

    def get(self, key: K) -> V | None:
        """Return a value that is not too old, or None."""
        at, value = self._kept.get(key, (None, None))
        return value if at is not None and self._clock() - at < self._seconds else None

    def put(self, key: K, value: V) -> None:
        """Keep a value. All others are forgotten when there are too many."""
        if len(self._kept) >= self._size:
            self._kept.clear()
        self._kept[key] = (self._clock(), value)
