"""A server that asks for no key, and a page whose name resolves to this machine."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import run

pytestmark = pytest.mark.process
FOREIGN = "page.example"
ITEM = {"context": "c", "items": [{"id": "a", "text": "the harbour at night"}]}
REQUESTS: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/ingest", ITEM),
    ("POST", "/retrieve", {"query": "harbour"}),
    ("POST", "/graph/walk", {}),
    ("GET", "/ingest/jobs/x", None),
    ("POST", "/import", None),
    ("POST", "/admin/check", {}),
    ("GET", "/metrics", None),
    ("GET", "/docs", None),
    ("GET", "/openapi.json", None),
    ("GET", "/healthz", None),
    ("GET", "/readyz", None),
)


def _raw(url: str, target: str, host: str) -> bytes:
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return connection.recv(100).split(b"\r\n")[0]


def test_foreign_names_and_pages_reach_nothing(serve: Serve) -> None:
    server = serve(VICW_EMBEDDER="none")
    server.start()
    port = urlsplit(server.url).port
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        for method, path, body in REQUESTS:
            for headers, status, setting in (
                ({"Host": f"{FOREIGN}:{port}"}, 421, "VICW_ALLOWED_HOSTS"),
                ({"Host": f"localhost:{port + 1 if port else 0}"}, 421, "VICW_ALLOWED_HOSTS"),
                ({"Origin": f"http://{FOREIGN}:{port}"}, 403, "VICW_ALLOWED_ORIGINS"),
                ({"Origin": "null"}, 403, "VICW_ALLOWED_ORIGINS"),
                ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403, "VICW_ALLOWED_ORIGINS"),
                ({"Origin": f"http://{FOREIGN}", "Authorization": "Bearer vicw_a_b"}, 403, "VICW_ALLOWED_ORIGINS"),
            ):
                answer = http.request(method, path, json=body, headers=headers)
                assert (answer.status_code, setting in answer.json()["detail"]) == (status, True), (path, headers)
        assert http.post("/retrieve", json={"query": "harbour"}).json()["results"] == [], "nothing was stored"
        own = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}", "Sec-Fetch-Site": "same-origin"}
        assert http.post("/ingest", json=ITEM, headers=own).status_code == 201
    assert b" 421 " in _raw(server.url, f"http://{FOREIGN}:{port}/metrics", f"{FOREIGN}:{port}")
    assert b" 200 " in _raw(server.url, "/healthz", f"[::1]:{port}")
    assert run(server, "sleep", "status").returncode == 0, "commands reach the server by its address"


def test_allowed_hosts_and_origins_open_a_server_on_loopback_to_them(serve: Serve) -> None:
    app = "https://app.example"
    server = serve(VICW_EMBEDDER="none", VICW_ALLOWED_HOSTS="memory.example", VICW_ALLOWED_ORIGINS=app)
    server.start()
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        assert http.get("/healthz", headers={"Host": "memory.example"}).status_code == 200
        through_proxy = http.post("/ingest", json=ITEM, headers={"Host": "memory.example"})
        assert through_proxy.status_code == 401, "whom a proxy lets in needs a key"
        answer = http.post("/ingest", json=ITEM, headers={"Origin": app, "Sec-Fetch-Site": "cross-site"})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (201, app)
        assert http.get("/healthz", headers={"Host": FOREIGN}).status_code == 421


def test_a_wrong_list_of_hosts_is_refused_at_the_start(serve: Serve) -> None:
    server = serve(VICW_EMBEDDER="none", VICW_ALLOWED_HOSTS="https://memory.example/")
    server.launch()
    assert server.wait() == 1
    assert "VICW_ALLOWED_HOSTS is 'https://memory.example/' in the environment, but" in server.log
