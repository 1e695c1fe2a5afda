"""Deadline and limits of a request, and isolation of its stages: each stage fails alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import structlog

from vicw_shared.errors import FieldProblem, InvalidInputError, RetryableError, UnavailableError
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.retrieve import Viewer

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


_log = structlog.get_logger()


@contextmanager
def isolate(degraded: list[str], stage: str) -> Iterator[None]:
    """Run a stage that may fail alone: whatever it raises ends it and adds its name to ``degraded``."""
    try:
        yield
    except (RetryableError, TimeoutError):
        degraded.append(stage)
    except Exception as error:
        _log.exception("stage failed", stage=stage, error=type(error).__name__)
        degraded.append(stage)


Size = tuple[str, int, int, str, str]
"""A field, the size that it asks for, its limit, the limit's setting, and the unit."""


def require_within_limits(sizes: Iterable[Size]) -> None:
    """Raise InvalidInputError that names every field over its limit."""
    problems = [
        FieldProblem(name, f"asks for {size} {unit}, over the limit of {limit}", f"Ask for less, or raise {setting}")
        for name, size, limit, setting, unit in sizes
        if size > limit
    ]
    if problems:
        raise InvalidInputError(*problems)


def name_sizes(
    names: Mapping[str, str | None], lists: Mapping[str, tuple[str, ...]], viewer: Viewer | None, limits: LimitSettings
) -> Iterator[Size]:
    """Yield the lengths of all names of a request, and the number of names in each list."""
    names, lists = dict(names), dict(lists)
    if viewer is not None:
        names |= {"viewer.user": viewer.user, "viewer.context": viewer.context}
        lists["viewer.participants"] = viewer.participants
    for field, values in lists.items():
        yield field, len(values), limits.tags, "VICW_MAX_TAGS", "names"
        names |= {f"{field}[{index}]": value for index, value in enumerate(values[: limits.tags])}
    for field, name in names.items():
        yield field, len(name or ""), limits.name_chars, "VICW_MAX_NAME_CHARS", "characters"
