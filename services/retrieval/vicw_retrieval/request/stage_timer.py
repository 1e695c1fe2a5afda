"""Durations of the stages of an answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from prometheus_client import Histogram

from vicw_shared.telemetry.spans import span
from vicw_shared.telemetry.stages import SECONDS as BOUNDS

SECONDS = Histogram(
    "vicw_retrieve_stage_seconds", "Time of a stage of an answer, once a run", ["stage"], buckets=BOUNDS
)


@dataclass(slots=True)
class StageTimer:
    """Milliseconds per stage. The time of a nested stage is not its outer stage's, so they add up.

    Of two concurrent stages, the one that ends last gets only its additional time.
    """

    took_ms: dict[str, float] = field(default_factory=dict)
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
