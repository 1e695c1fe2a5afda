"""Time-limited cache of statistics that other processes change."""

from __future__ import annotations

import time
from collections.abc import Callable


class Recent[K, V]:
    """Cache of at most ``size`` values, each for ``seconds``."""

    def __init__(self, seconds: float, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._size = size
        self._clock = clock
        self._values: dict[K, tuple[float, V]] = {}

    def get(self, key: K) -> V | None:
        """Return a value that has not expired, or None."""
        at, value = self._values.get(key, (None, None))
        return value if at is not None and self._clock() - at < self._seconds else None

    def put(self, key: K, value: V) -> None:
        """Store a value. A full cache is emptied first."""
        if len(self._values) >= self._size:
            self._values.clear()
        self._values[key] = (self._clock(), value)
