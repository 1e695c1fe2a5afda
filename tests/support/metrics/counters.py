"""What this process has told Prometheus so far."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import REGISTRY


def metric_value(series: str, **labels: str) -> float:
    """Return the value of a series, 0 if it has none yet."""
    return REGISTRY.get_sample_value(series, labels) or 0.0


def metric_increase(series: str, **labels: str) -> Callable[[], float]:
    """Return what tells by how much a series has grown since now."""
    before = metric_value(series, **labels)
    return lambda: metric_value(series, **labels) - before
