"""Deadline of a request: no engine may extend a request beyond its total budget."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, cast

from vicw_shared.errors import UnavailableError

_OF_EXTRAS = 0.75


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the monotonic clock, in seconds; by default never."""

    at: float = float("inf")
    extras_at: float = float("inf")
    """When optional work has to end: the rest of the time is for the answer itself."""

    @classmethod
    def in_ms(cls, milliseconds: int) -> Deadline:
        """Return the deadline so many milliseconds from now."""
        now, seconds = time.monotonic(), milliseconds / 1000
        return cls(now + seconds, now + _OF_EXTRAS * seconds)

    def seconds(self, most_ms: int) -> float:
        """Return the time in seconds (≥ 0) for an operation with a time limit of ``most_ms``."""
        return max(0.0, min(most_ms / 1000, self.at - time.monotonic()))

    def extra_seconds(self, most_ms: int) -> float:
        """Return the same for optional work."""
        return max(0.0, min(most_ms / 1000, self.extras_at - time.monotonic()))


class _Bounded:
    """Proxy of an engine with time limits, which waits for a hanging engine once.

    A call over its time raises UnavailableError, and so do all later calls.
    """

    def __init__(self, engine: object, name: str, deadline: Deadline, most_ms: int) -> None:
        self._engine = engine
        self._name = name
        self._deadline = deadline
        self._most_ms = most_ms
        self._hangs = False

    def __getattr__(self, operation: str) -> Any:
        method = getattr(self._engine, operation)

        async def call(*args: Any, **kwargs: Any) -> Any:
            if self._hangs:
                raise UnavailableError(self._name, "does not answer: a call before was over its time")
            try:
                async with asyncio.timeout(self._deadline.seconds(self._most_ms)) as timer:
                    return await method(*args, **kwargs)
            except TimeoutError:
                if not timer.expired():
                    raise
                self._hangs = True
                raise UnavailableError(self._name, f"does not answer: {operation} is over its time") from None

        return call


def bounded[T](engine: T, name: str, deadline: Deadline, most_ms: int) -> T:
    """Return an engine whose operations end within ``most_ms`` and by the deadline. Only operations can be called.

    ``name`` is the dependency that the UnavailableError of a slow call names.
    """
    return cast("T", _Bounded(engine, name, deadline, most_ms))
