"""The metrics port of workers and of the clock, as a real server."""

from __future__ import annotations

import json
import socket

import httpx
import pytest

from support.servers.machine import free_port
from vicw_runtime.telemetry.serving import serve_metrics
from vicw_shared.errors import SettingsError
from vicw_shared.settings import MetricsSettings, ServerSettings


@pytest.fixture(scope="module")
def url() -> str:
    port = free_port()
    serve_metrics(
        MetricsSettings(port=port), ServerSettings(allowed_hosts="worker", allowed_origins="http://a.example")
    )
    return f"http://127.0.0.1:{port}"


def get(url: str, **headers: str) -> httpx.Response:
    return httpx.get(
        f"{url}/metrics", headers={name.replace("_", "-"): value for name, value in headers.items()}, trust_env=False
    )


def test_metrics_are_served_to_scrapers_and_allowed_callers(url: str) -> None:
    for headers in ({}, {"Host": "worker:9100"}, {"Origin": "http://a.example"}):
        answer = get(url, **headers)
        assert (answer.status_code, "python_info" in answer.text) == (200, True), headers


def test_metrics_are_refused_to_foreign_names_and_pages(url: str) -> None:
    for headers, status, setting in (
        ({"Host": "page.example"}, 421, "VICW_ALLOWED_HOSTS"),
        ({"Origin": "http://page.example"}, 403, "VICW_ALLOWED_ORIGINS"),
        ({"Sec_Fetch_Site": "cross-site"}, 403, "VICW_ALLOWED_ORIGINS"),
    ):
        answer = get(url, **headers)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        problem = json.loads(answer.text)
        assert (problem["status"], setting in problem["detail"], "python_info" in answer.text) == (status, True, False)


def test_two_host_headers_are_refused(url: str) -> None:
    port = int(url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"GET /metrics HTTP/1.0\r\nHost: worker\r\nHost: page.example\r\n\r\n")
        assert b" 421 " in connection.recv(100)


def test_a_taken_metrics_port_is_an_error_that_names_the_setting(url: str) -> None:
    with pytest.raises(SettingsError, match="VICW_METRICS_PORT: cannot listen on"):
        serve_metrics(MetricsSettings(port=int(url.rpartition(":")[2])), ServerSettings())
