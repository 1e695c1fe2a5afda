"""A collector of spans: a real server of OTLP over HTTP, as services send it."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A span as it came; ids in hexadecimal, ``parent`` empty for the first of a trace."""

    service: str
    scope: str
    name: str
    kind: int
    trace: str
    id: str
    parent: str
    failed: bool
    attributes: dict[str, str] = field(hash=False)


class Collector:
    """What came so far: spans, the paths that were asked for, and all bodies as one text."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.url = ""
        self._bodies: list[bytes] = []
        self._lock = threading.Lock()

    def take(self, path: str, body: bytes) -> None:
        with self._lock:
            self.paths.add(path)
            self._bodies.append(body)

    @property
    def text(self) -> str:
        with self._lock:
            return b"\n".join(self._bodies).decode("utf-8", "replace")

    @property
    def spans(self) -> list[Seen]:
        with self._lock:
            bodies = list(self._bodies)
        return [span for body in bodies for span in _spans(body)]

    def of(self, trace: str) -> list[Seen]:
        return [span for span in self.spans if span.trace == trace]


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector on a port of its own."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            collector.take(self.path, body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _spans(body: bytes) -> Iterator[Seen]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        about = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Seen(
                    about["service.name"],
                    scope.scope.name,
                    span.name,
                    span.kind,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.status.code == span.status.STATUS_CODE_ERROR,
                    {pair.key: pair.value.string_value or str(pair.value.int_value) for pair in span.attributes},
                )
