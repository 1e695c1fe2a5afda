"""Spans: where the time of a request goes, over all processes that take part (docs/decisions/0010).

They cost nothing until ``start_traces`` was called. A span says what is ours to say: names of stages, engines, tasks
and routes, figures, kinds of errors. But for the ids of a caller's trace, nothing that was sent is ever in one.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import Protocol

TRACE_HEADERS = ("traceparent", "tracestate")
"""What W3C Trace Context calls the headers that carry a trace from one process to the next."""


class SpanRole(StrEnum):
    """What a span is seen from outside, in OpenTelemetry's words."""

    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"
    PRODUCER = "producer"
    CONSUMER = "consumer"


class EntrySpan(Protocol):
    """The span of a door, about which more is known when it closes."""

    def describe(self, name: str, attributes: Mapping[str, str | int], *, failed: bool) -> None:
        """Give the span its name, its attributes and whether what it is about has failed."""
        ...


class Recorder(Protocol):
    """What makes spans of what it is told."""

    def span(self, name: str, kind: SpanRole) -> AbstractContextManager[None]:
        """Return a part of the trace that is under way; nothing where there is none."""
        ...

    def entry_span(
        self, name: str, kind: SpanRole, carrier: Mapping[str, str], *, starts: bool
    ) -> AbstractContextManager[EntrySpan]:
        """Return what ``door`` below promises."""
        ...

    def headers(self) -> dict[str, str]:
        """Return what carries the trace on."""
        ...

    def close(self) -> None:
        """Send what has not been sent."""
        ...


class _Closed:
    """The door of a trace that nobody wants."""

    def describe(self, name: str, attributes: Mapping[str, str | int], *, failed: bool) -> None:
        """Do nothing."""


_NOTHING = nullcontext()
_NO_DOOR: AbstractContextManager[EntrySpan] = nullcontext(_Closed())


class Process:
    """What this process does with spans."""

    recorder: Recorder | None = None


def span(name: str, kind: SpanRole = SpanRole.INTERNAL) -> AbstractContextManager[None]:
    """Make what happens inside a part of the trace that is under way; where there is none, it stays untold."""
    recorder = Process.recorder
    return _NOTHING if recorder is None else recorder.span(name, kind)


def entry_span(
    name: str, kind: SpanRole, carrier: Mapping[str, str] | None = None, *, starts: bool = True
) -> AbstractContextManager[EntrySpan]:
    """Go on inside with the trace that ``carrier`` names, else with the one under way.

    Where there is neither, a new one ``starts``, or none. Lines of the log then carry its ``trace_id``.
    """
    recorder = Process.recorder
    return _NO_DOOR if recorder is None else recorder.entry_span(name, kind, carrier or {}, starts=starts)


def trace_headers() -> dict[str, str]:
    """Return the headers that carry the trace under way to another process; none where there is none."""
    recorder = Process.recorder
    return {} if recorder is None else recorder.headers()
