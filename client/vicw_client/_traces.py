"""Trace propagation for programs that use OpenTelemetry. Imports nothing otherwise, and starts no trace."""

from __future__ import annotations

import sys


def trace_headers() -> dict[str, str]:
    """Return the W3C headers of this program's current trace; empty without one."""
    if "opentelemetry.trace" not in sys.modules:
        return {}
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    headers: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(headers)
    return headers
