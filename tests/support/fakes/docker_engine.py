"""A stand-in for the Docker engine: what its API is asked for is run as a child process, without a container."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any
from urllib.parse import urlsplit

ID = "c0ffee" * 10


class Engine(ThreadingUnixStreamServer):
    """Holds one image and runs one container."""

    daemon_threads = True

    def __init__(self, directory: Path, image: str) -> None:
        self.path = directory / "docker.sock"
        self.image = image
        self.created: dict[str, Any] = {}
        self.child: subprocess.Popen[bytes] | None = None
        self.removed = False
        self.pulled: list[str] = []
        super().__init__(str(self.path), _Handler)

    @property
    def running(self) -> bool:
        return self.child is not None and self.child.poll() is None

    def run(self) -> None:
        ports = {
            inside.partition("/")[0]: given[0]["HostPort"]
            for inside, given in self.created["HostConfig"]["PortBindings"].items()
        }
        # The program would listen on the container's port; here it has the host's.
        own = [word for port in ports.values() for word in ("--port", port, "--dir", str(self.path.parent))]
        self.child = subprocess.Popen([*self.created["Cmd"], *own], stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.wait()


class _Handler(BaseHTTPRequestHandler):
    server: Engine
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        match self._path():
            case ["_ping"]:
                self._answer(200, "OK")
            case ["version"]:
                self._answer(200, {"ApiVersion": "1.44"})
            case ["images", *name, "json"]:
                known = "/".join(name) == self.server.image
                self._answer(200 if known else 404, {"Id": "image"} if known else {"message": "No such image"})
            case ["containers", _, "json"]:
                status = "running" if self.server.running else "exited"
                self._answer(200, {"Id": ID, "State": {"Status": status}, "Config": {"Tty": True}})
            case ["containers", _, "logs"]:
                self._answer(200, "out of room")
            case _:
                self._answer(404, {"message": f"no {self.path}"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match self._path():
            case ["containers", "create"]:
                self.server.created = json.loads(body)
                self._answer(201, {"Id": ID})
            case ["containers", _, "start"]:
                self.server.run()
                self._answer(204)
            case ["containers", _, "kill"]:
                self.server.kill()
                self._answer(204)
            case ["containers", _, "wait"]:
                self._answer(200, {"StatusCode": 137})
            case _:
                self.server.pulled.append(self.path)
                self._answer(404, {"message": "pull access denied"})

    def do_DELETE(self) -> None:
        self.server.kill()
        self.server.removed = True
        self._answer(204)

    def log_message(self, *_: Any) -> None:
        pass

    def address_string(self) -> str:
        return "unix"

    def _path(self) -> list[str]:
        parts = urlsplit(self.path).path.strip("/").split("/")
        return parts[1:] if parts[0].startswith("v1") else parts

    def _answer(self, status: int, body: object = None) -> None:
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@contextmanager
def engine(directory: Path, image: str) -> Iterator[Engine]:
    """Serve the engine's API on a socket in the directory."""
    with Engine(directory, image) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield served
        finally:
            served.kill()
            served.shutdown()
            thread.join()
