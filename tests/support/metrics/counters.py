"""What this process has told Prometheus so far."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import REGISTRY


def figure(series: str, **labels: str) -> float:
    """Return the value of a series, 0 if it has none yet."""
    return REGISTRY.get_sample_value(series, labels) or 0.0


def counted(series: str, **labels: str) -> Callable[[], float]:
    """Return what tells by how much a series has grown since now."""
    before = figure(series, **labels)
    return lambda: figure(series, **labels) - before
