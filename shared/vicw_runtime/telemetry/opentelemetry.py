"""OpenTelemetry recorder: spans over OTLP/HTTP. Imported only if traces are enabled (docs/decisions/0010)."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version

import structlog
from opentelemetry import trace
from opentelemetry.context import Context, get_current
from opentelemetry.trace import Span, SpanKind, StatusCode, format_trace_id
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from vicw_shared.errors import SettingsError
from vicw_shared.telemetry.engines import error_kind
from vicw_shared.telemetry.spans import EntrySpan, SpanRole

try:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
except ImportError as error:
    raise SettingsError(
        f"VICW_TRACES_ENDPOINT is set, but {error.name} is not installed: install vicw[traces], or unset it"
    ) from error

_log = structlog.get_logger()
_PATH = "/v1/traces"
_CLOSE_SECONDS = 0.5
_KINDS = {kind: SpanKind[kind.name] for kind in SpanRole}
_W3C = TraceContextTextMapPropagator()


class OpenTelemetryRecorder:
    """Recorder with its own provider. The global provider stays unset: otherwise libraries would add spans."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("vicw", version("vicw"))

    @classmethod
    def to(cls, endpoint: str, service: str) -> OpenTelemetryRecorder:
        """Return a recorder for a collector at ``endpoint``, given with or without the path of traces."""
        base = endpoint.rstrip("/")
        exporter = OTLPSpanExporter(endpoint=base if base.endswith(_PATH) else base + _PATH)
        resource = Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME") or service})
        _forward_logs()
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        return cls(provider)

    @contextmanager
    def span(self, name: str, kind: SpanRole) -> Iterator[None]:
        if not trace.get_current_span().get_span_context().is_valid:
            yield
            return
        with self._open(name, kind, get_current()):
            yield

    @contextmanager
    def entry_span(self, name: str, kind: SpanRole, carrier: Mapping[str, str], *, starts: bool) -> Iterator[EntrySpan]:
        # The carrier may come from an unknown sender: an invalid header counts as none.
        context = _W3C.extract(carrier, get_current())
        if not starts and not trace.get_current_span(context).get_span_context().is_valid:
            yield _RecordedSpan(trace.INVALID_SPAN)
            return
        with self._open(name, kind, context) as span:
            trace_id = format_trace_id(span.get_span_context().trace_id)
            with structlog.contextvars.bound_contextvars(trace_id=trace_id):
                yield _RecordedSpan(span)

    def headers(self) -> dict[str, str]:
        carrier: dict[str, str] = {}
        _W3C.inject(carrier)
        return carrier

    def close(self) -> None:
        # The exporter would try for many seconds to reach a collector that is down.
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(_CLOSE_SECONDS)

    @contextmanager
    def _open(self, name: str, kind: SpanRole, around: Context) -> Iterator[Span]:
        with self._tracer.start_as_current_span(
            name,
            around,
            _KINDS[kind],
            record_exception=False,  # its text may contain a caller's data
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", error_kind(error))
                if isinstance(error, Exception):  # a cancelled call has not failed
                    span.set_status(StatusCode.ERROR)
                raise


class _LogForwarder(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _log.warning("traces", said=record.getMessage())


def _forward_logs() -> None:
    """Write the exporter's messages as log lines, one per lost batch and not one per retry."""
    logger = logging.getLogger("opentelemetry")
    logger.handlers, logger.propagate = [_LogForwarder()], False
    logger.setLevel(logging.ERROR)


class _RecordedSpan:
    def __init__(self, span: Span) -> None:
        self._span = span

    def describe(self, name: str, attributes: Mapping[str, str | int], *, failed: bool) -> None:
        self._span.update_name(name)
        self._span.set_attributes(attributes)
        if failed:
            self._span.set_status(StatusCode.ERROR)
