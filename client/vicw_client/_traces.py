"""Calls go on with the trace of a program that uses OpenTelemetry; nothing is imported for it, no trace is started."""

from __future__ import annotations

import sys


def trace_headers() -> dict[str, str]:
    """Return the W3C headers of the trace under way in this program; none where there is none."""
    if "opentelemetry.trace" not in sys.modules:
        return {}
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    headers: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(headers)
    return headers
