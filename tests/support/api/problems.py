"""What a refusal must look like."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from support.processes.server import Server, count_nodes

_JSON = {"Content-Type": "application/json"}


def post(http: httpx.Client, path: str, body: Any, **headers: str) -> httpx.Response:
    """Send JSON as ASCII, so that lone surrogates travel as escapes; headers travel as Latin-1."""
    return http.post(
        path, content=json.dumps(body).encode("ascii"), headers=httpx.Headers({**_JSON, **headers}, encoding="latin-1")
    )


def problem_of(answer: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    """Return the problem document of an answer that must be one."""
    assert answer.status_code == status, (answer.status_code, answer.text[:500])
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["type"] == f"urn:vicw:problem:{slug}"
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    assert problem["request_id"] == answer.headers["x-request-id"]
    for error in problem.get("errors", []):
        assert error["field"]
        assert error["problem"]
        assert error["fix"]
    return problem


def refused(
    http: httpx.Client,
    path: str,
    body: Mapping[str, Any],
    *,
    status: int = 422,
    slug: str = "invalid-input",
    **headers: str,
) -> dict[str, Any]:
    """Send what must be refused; return the problem document."""
    return problem_of(post(http, path, body, **headers), status, slug)


@contextmanager
def stores_nothing(server: Server) -> Iterator[None]:
    """What happens inside leaves not one node behind."""
    before = count_nodes(server)
    yield
    assert count_nodes(server) == before
