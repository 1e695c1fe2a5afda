"""Starts and stops the sending of spans."""

from __future__ import annotations

from importlib import import_module

from vicw_shared.settings import TraceSettings
from vicw_shared.telemetry.spans import Process


def require_traces(settings: TraceSettings) -> None:
    """Raise SettingsError if traces are wanted and what sends them is not installed. Safe before a fork."""
    if settings.endpoint is not None:
        import_module("vicw_shared.adapters.opentelemetry")


def start_traces(settings: TraceSettings, service: str) -> None:
    """Send spans from now on, as those of ``service``, if the settings name where to; later calls do nothing.

    Never before a fork: a thread sends them. Raises SettingsError if what sends them is not installed.
    """
    if settings.endpoint is None or Process.recorder is not None:
        return
    from vicw_shared.adapters.opentelemetry import OpenTelemetryRecorder

    Process.recorder = OpenTelemetryRecorder.to(settings.endpoint, service)


def stop_traces() -> None:
    """Send what has not been sent, and nothing from now on. Safe to call twice."""
    recorder, Process.recorder = Process.recorder, None
    if recorder is not None:
        recorder.close()
