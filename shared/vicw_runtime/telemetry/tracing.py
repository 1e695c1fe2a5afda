"""Start and stop the export of spans."""

from __future__ import annotations

from importlib import import_module

from vicw_shared.settings import TraceSettings
from vicw_shared.telemetry.spans import Process


def require_traces(settings: TraceSettings) -> None:
    """Raise SettingsError if traces are enabled and their exporter is not installed. Safe before a fork."""
    if settings.endpoint is not None:
        import_module("vicw_runtime.telemetry.opentelemetry")


def start_traces(settings: TraceSettings, service: str) -> None:
    """Export spans from now on under the name ``service``, if the settings have an endpoint; later calls do nothing.

    Never call it before a fork, since a thread exports spans. Raises SettingsError if the exporter is not installed.
    """
    if settings.endpoint is None or Process.recorder is not None:
        return
    from vicw_runtime.telemetry.opentelemetry import OpenTelemetryRecorder

    Process.recorder = OpenTelemetryRecorder.to(settings.endpoint, service)


def stop_traces() -> None:
    """Send the pending spans and stop exporting. Safe to call twice."""
    recorder, Process.recorder = Process.recorder, None
    if recorder is not None:
        recorder.close()
