"""StageRun of one request: their times, their isolation (each fails alone), and the limits of what is asked for."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import structlog
from prometheus_client import Histogram

from vicw_retrieval.request.engines import Deadline
from vicw_shared.errors import FieldProblem, InvalidInputError, RetryableError
from vicw_shared.settings import LimitSettings
from vicw_shared.telemetry.spans import span
from vicw_shared.telemetry.stages import SECONDS as BOUNDS
from vicw_shared.wire.viewer import Viewer

SECONDS = Histogram(
    "vicw_retrieve_stage_seconds", "Time of a stage of an answer, once a run", ["stage"], buckets=BOUNDS
)


@dataclass(slots=True)
class StageTimer:
    """Milliseconds per stage. The time of a nested stage is not its outer stage's, so they add up.

    Of two concurrent stages, the one that ends last gets only its additional time.
    """

    took_ms: dict[str, float] = field(default_factory=dict)
    spread_ms: float = 0.0
    """Milliseconds of the stages that share the emergency clock of the second wave."""
    _started: float = field(default_factory=time.perf_counter)
    _booked: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Record the time of the block under ``name``, which may repeat, also as a metric and a span."""
        started, booked = time.perf_counter(), self._booked
        try:
            with span(f"retrieve.{name}"):
                yield
        finally:
            own = max(0.0, time.perf_counter() - started - (self._booked - booked))
            self._booked += own
            self.took_ms[name] = round(self.took_ms.get(name, 0.0) + own * 1000, 3)
            SECONDS.labels(name).observe(own)

    def total(self) -> dict[str, float]:
        """Return all stages and the time since the start."""
        return self.took_ms | {"total": round((time.perf_counter() - self._started) * 1000, 3)}


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


@dataclass(frozen=True, slots=True)
class StageRun:
    """The run of one request's stages: their times, and ``degraded``, the names of those that failed or lack data.

    ``bounded`` are those that left something out because they may read only so much (``HopLimit``).
    """

    timer: StageTimer = field(default_factory=StageTimer)
    degraded: list[str] = field(default_factory=list)
    bounded: set[str] = field(default_factory=set)

    def timed(self, name: str) -> AbstractContextManager[None]:
        """Measure the block."""
        return self.timer.stage(name)

    def isolate(self, name: str) -> AbstractContextManager[None]:
        """Run the block so that it fails alone."""
        return isolate(self.degraded, name)

    @contextmanager
    def run(self, name: str) -> Iterator[None]:
        """Measure the block, which may fail alone."""
        with self.timer.stage(name), isolate(self.degraded, name):
            yield

    @contextmanager
    def spread(self, name: str, deadline: Deadline, most_ms: int) -> Iterator[float]:
        """Run the block like ``run``; yield the seconds that the emergency clock leaves it.

        All these blocks of a request together have ``most_ms``: after one that hangs, the next ones end at once.
        """
        started, timer = time.perf_counter(), self.timer
        try:
            with self.run(name):
                yield deadline.extra_seconds(max(0.0, most_ms - timer.spread_ms))
        finally:
            timer.spread_ms += (time.perf_counter() - started) * 1000


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
    for name, values in lists.items():
        yield name, len(values), limits.tags, "VICW_MAX_TAGS", "names"
        names |= {f"{name}[{index}]": value for index, value in enumerate(values[: limits.tags])}
    for name, value in names.items():
        yield name, len(value or ""), limits.name_chars, "VICW_MAX_NAME_CHARS", "characters"
