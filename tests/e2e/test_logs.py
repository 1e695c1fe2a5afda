"""The server's log at its default level, as a file has it."""

from __future__ import annotations

import json
import uuid
from typing import Any

import httpx
import pytest

from support.api.problems import post
from support.processes.server import Server, eventually

pytestmark = pytest.mark.process


def lines(server: Server, request_id: str) -> list[dict[str, Any]]:
    logged = (json.loads(line) for line in server.log.splitlines() if line.startswith("{") and line.endswith("}"))
    return [line for line in logged if line.get("request_id") == request_id]


def test_server_and_embedder_log_one_line_per_request_with_one_id(server: Server, http: httpx.Client) -> None:
    request_id = uuid.uuid4().hex
    question = {"query": "who is asking?", "domain": "general"}
    assert post(http, "/retrieve", question, **{"X-Request-ID": request_id}).status_code == 200
    logged = eventually(lambda: lines(server, request_id), lambda seen: len(seen) >= 2, 5, "two lines")
    assert {(line["method"], line["route"]): line["status"] for line in logged} == {
        ("POST", "/retrieve"): 200,
        ("POST", "/v1/embeddings"): 200,
    }
    assert len(logged) == 2
    for line in logged:
        assert (line["event"], line["level"]) == ("request", "info")
        assert line["ms"] > 0


def test_a_refused_request_is_logged_and_a_probe_is_not(server: Server, http: httpx.Client) -> None:
    probe, refused = uuid.uuid4().hex, uuid.uuid4().hex
    for path in ("/healthz", "/readyz", "/metrics"):
        assert http.get(path, headers={"X-Request-ID": probe}).status_code == 200
    assert post(http, "/retrieve", {"query": 1}, **{"X-Request-ID": refused}).status_code == 422
    (line,) = eventually(lambda: lines(server, refused), bool, 5, "the line of the refusal")
    assert (line["route"], line["status"]) == ("/retrieve", 422)
    assert lines(server, probe) == []
