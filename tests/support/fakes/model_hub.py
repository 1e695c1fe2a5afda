"""A server on this machine that speaks as much of the model hub's protocol as a pull needs."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPOSITORY = "someone/models"


@dataclass
class Hub:
    """``files`` by name; ``break_after`` hangs up once after so many bytes; ``etag`` overrides the honest one."""

    files: dict[str, bytes]
    break_after: int | None = None
    etag: str | None = None
    url: str = ""
    ranges: list[str | None] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    gets: int = 0


@contextmanager
def serve_hub(hub: Hub) -> Iterator[Hub]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            hub.gets += 1
            hub.ranges.append(self.headers.get("Range"))
            self._answer(with_body=True)

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self, *, with_body: bool) -> None:
            hub.paths.add(self.path)
            prefix = f"/{REPOSITORY}/resolve/main/"
            content = hub.files.get(self.path.removeprefix(prefix)) if self.path.startswith(prefix) else None
            if content is None:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound" if self.path.startswith(prefix) else "RepoNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            asked = self.headers.get("Range", "")
            start = int(asked.removeprefix("bytes=").split("-")[0]) if asked else 0
            self.send_response(206 if asked else 200)
            self.send_header("ETag", f'"{hub.etag or hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", "0" * 40)
            self.send_header("Content-Length", str(len(content) - start))
            if asked:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.end_headers()
            if with_body:
                self._send_body(content[start:])

        def _send_body(self, body: bytes) -> None:
            if hub.break_after is not None:
                body, hub.break_after = body[: hub.break_after], None
                self.close_connection = True
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
