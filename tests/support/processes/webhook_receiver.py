"""A receiver of webhooks: an HTTP server on this machine that keeps what it gets."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request as it came, with its headers in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def events(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.body)["data"]
        return found


@dataclass(slots=True)
class WebhookReceiver:
    """What came, and how the next requests are answered: with ``status``, after ``seconds``."""

    url: str = ""
    status: int = 204
    seconds: float = 0.0
    requests: list[Arrived] = field(default_factory=list)

    def taken(self) -> list[dict[str, Any]]:
        return [event for one in list(self.requests) for event in one.events]


@contextmanager
def webhook_receiver(tls: ssl.SSLContext | None = None) -> Iterator[WebhookReceiver]:
    """Yield a receiver on a free port of loopback. ``/moved`` answers with a redirect to ``/``."""
    state = WebhookReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.requests.append(Arrived(self.path, headers, body))
            time.sleep(state.seconds)
            self.send_response(307 if self.path == "/moved" else state.status)
            self.send_header("location", "/")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        state.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}"
        serve: Callable[[], None] = server.serve_forever
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
