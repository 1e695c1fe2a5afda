"""Stages of a use case, each with a histogram of its seconds and a span."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Histogram

from vicw_shared.telemetry.spans import span

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Buckets of all histograms of seconds, from a graph look-up to a batch on a slow machine."""


class Stages:
    """The stages of ``use_case``: the histogram ``vicw_USE_CASE_stage_seconds``, spans ``USE_CASE.STAGE``."""

    def __init__(self, use_case: str, about: str) -> None:
        self._use_case = use_case
        self._seconds = Histogram(f"vicw_{use_case}_stage_seconds", about, ["stage"], buckets=SECONDS)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Measure the block, whether or not it succeeds."""
        with span(f"{self._use_case}.{stage}"), self._seconds.labels(stage).time():
            yield
