"""The metrics of processes that have no other port: a worker's, added up over its processes, and the clock's."""

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


class _Living(MultiProcessCollector):
    """Adds up what all processes have counted, dead ones too; the gauges are those of the living."""

    def __init__(self, registry: CollectorRegistry, directory: str) -> None:
        self._directory = Path(directory)
        super().__init__(registry, directory)  # type: ignore[no-untyped-call]

    def collect(self) -> Iterable[Metric]:
        with merged(self._directory):
            found: Iterable[Metric] = super().collect()  # type: ignore[no-untyped-call]
        return found


def serve_metrics(settings: MetricsSettings) -> Callable[[], None]:
    """Answer Prometheus on ``settings.port`` from a thread, if there is one.

    Return what a process forked later has to call: else it holds the port after this one is gone, and the figures of
    those before it pile up. Raises SettingsError.
    """
    if settings.port is None:
        return lambda: None
    registry = REGISTRY
    directory = os.environ.get(DIRECTORY)
    if directory is not None:
        registry = CollectorRegistry()
        _Living(registry, directory)
    try:
        server, _ = start_http_server(settings.port, settings.host, registry)
    except OSError as error:
        raise SettingsError(
            f"VICW_METRICS_PORT: cannot listen on {settings.host}:{settings.port}: {error.strerror or error}"
        ) from error
    owner = os.getpid()

    def let_go() -> None:
        if os.getpid() != owner:
            server.socket.close()
            if directory is not None:
                with merged(Path(directory)):
                    pass  # it may have taken the place of one that ended

    return let_go
