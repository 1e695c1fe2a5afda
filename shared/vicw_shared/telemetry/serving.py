"""Metrics endpoint of processes without an HTTP port: workers, summed over their processes, and the clock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, Metric, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector

from vicw_shared.errors import SettingsError
from vicw_shared.settings import MetricsSettings
from vicw_shared.telemetry.merged_metrics import merged
from vicw_shared.telemetry.shared_metrics import DIRECTORY


class _SummedMetrics(MultiProcessCollector):
    """Sums the metrics of all processes, ended ones included; gauges are of running processes only."""

    def __init__(self, registry: CollectorRegistry, directory: str) -> None:
        self._directory = Path(directory)
        super().__init__(registry, directory)  # type: ignore[no-untyped-call]

    def collect(self) -> Iterable[Metric]:
        with merged(self._directory):
            metrics: Iterable[Metric] = super().collect()  # type: ignore[no-untyped-call]
        return metrics


def serve_metrics(settings: MetricsSettings) -> Callable[[], None]:
    """Serve Prometheus metrics on ``settings.port``, if set, from a thread.

    Return a function that a process forked later has to call: otherwise it keeps the port open after this process ends,
    and the files of ended processes accumulate. Raises SettingsError if the port is taken.
    """
    if settings.port is None:
        return lambda: None
    registry = REGISTRY
    directory = os.environ.get(DIRECTORY)
    if directory is not None:
        registry = CollectorRegistry()
        _SummedMetrics(registry, directory)
    try:
        server, _ = start_http_server(settings.port, settings.host, registry)
    except OSError as error:
        raise SettingsError(
            f"VICW_METRICS_PORT: cannot listen on {settings.host}:{settings.port}: {error.strerror or error}"
        ) from error
    owner = os.getpid()

    def release_port() -> None:
        if os.getpid() != owner:
            server.socket.close()
            if directory is not None:
                with merged(Path(directory)):
                    pass  # this process may replace one that ended

    return release_port
