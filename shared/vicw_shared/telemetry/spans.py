"""Spans: the time that a request spends in each operation, in all processes that take part (docs/decisions/0010).

Spans cost nothing before ``start_traces``. A span contains only names of stages, engines, tasks and routes, numbers,
and kinds of errors. Apart from the ids of a caller's trace, it never contains request data.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import Protocol

TRACE_HEADERS = ("traceparent", "tracestate")
"""The W3C Trace Context headers that carry a trace from one process to the next."""


class SpanRole(StrEnum):
    """The kind of a span, in OpenTelemetry's terms."""

    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"
    PRODUCER = "producer"
    CONSUMER = "consumer"


class EntrySpan(Protocol):
    """The span of a request at an endpoint; its name and attributes are set before it closes."""

    def describe(self, name: str, attributes: Mapping[str, str | int], *, failed: bool) -> None:
        """Set the name, the attributes and whether the request has failed."""
        ...


class Recorder(Protocol):
    """Backend that records spans."""

    def span(self, name: str, kind: SpanRole) -> AbstractContextManager[None]:
        """Return a span of the current trace; a no-op without a current trace."""
        ...

    def entry_span(
        self, name: str, kind: SpanRole, carrier: Mapping[str, str], *, starts: bool
    ) -> AbstractContextManager[EntrySpan]:
        """Return a span as ``entry_span`` below specifies."""
        ...

    def headers(self) -> dict[str, str]:
        """Return the headers that propagate the trace."""
        ...

    def close(self) -> None:
        """Send the pending spans."""
        ...


class _DisabledEntrySpan:
    """The entry span while tracing is off."""

    def describe(self, name: str, attributes: Mapping[str, str | int], *, failed: bool) -> None:
        """Do nothing."""


_NO_SPAN = nullcontext()
_NO_ENTRY_SPAN: AbstractContextManager[EntrySpan] = nullcontext(_DisabledEntrySpan())


class Process:
    """Tracing state of this process."""

    recorder: Recorder | None = None


def span(name: str, kind: SpanRole = SpanRole.INTERNAL) -> AbstractContextManager[None]:
    """Record the block as a span of the current trace; do nothing where there is none."""
    recorder = Process.recorder
    return _NO_SPAN if recorder is None else recorder.span(name, kind)


def entry_span(
    name: str, kind: SpanRole, carrier: Mapping[str, str] | None = None, *, starts: bool = True
) -> AbstractContextManager[EntrySpan]:
    """Continue the trace that ``carrier`` names, else the current one.

    Without either, a new trace starts if ``starts`` is true. Log lines inside have its ``trace_id``.
    """
    recorder = Process.recorder
    return _NO_ENTRY_SPAN if recorder is None else recorder.entry_span(name, kind, carrier or {}, starts=starts)


def trace_headers() -> dict[str, str]:
    """Return the headers that propagate the current trace to another process; {} without a current trace."""
    recorder = Process.recorder
    return {} if recorder is None else recorder.headers()
