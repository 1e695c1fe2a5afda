"""What an application answers to browsers: refusals before the body is read, and CORS for allowed origins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from support.metrics.counters import metric_increase
from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.http import StrictRoute, create_app
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.host_names import Origin

ADDRESS = "http://127.0.0.1:8080"
APP = "https://app.example"


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield


def application(*origins: str) -> FastAPI:
    app = create_app(
        title="t",
        description="d",
        version="1",
        limits=LimitSettings(body_bytes=100),
        probes={},
        lifespan=lifespan,
        guard=BrowserGuard("127.0.0.1", origins=tuple(map(Origin.parse, origins))),
    )
    router = APIRouter(route_class=StrictRoute)

    @router.post("/things")
    async def post(things: list[int]) -> int:
        return len(things)

    @router.get("/odd")
    async def odd() -> None:
        raise ZeroDivisionError

    app.include_router(router)
    return app


def open_client(*origins: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(application(*origins)), base_url=ADDRESS)


@pytest.mark.parametrize("path", ["/things", "/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", "/nothing"])
async def test_every_address_refuses_foreign_names_and_origins(path: str) -> None:
    async with open_client() as client:
        for method in ("GET", "POST", "OPTIONS"):
            for headers, status, slug in (
                ({"Host": "page.example:8080"}, 421, "foreign-host"),
                ({"Origin": "http://page.example"}, 403, "foreign-origin"),
                ({"Sec-Fetch-Site": "cross-site"}, 403, "foreign-origin"),
            ):
                answer = await client.request(method, path, headers=headers)
                assert (answer.status_code, answer.json()["type"]) == (status, f"urn:vicw:problem:{slug}")
                assert answer.headers["content-type"] == "application/problem+json"
                assert answer.json()["request_id"] == answer.headers["x-request-id"]
                assert "access-control-allow-origin" not in answer.headers


async def test_a_refusal_reads_no_body_and_is_counted() -> None:
    async def body() -> AsyncIterator[bytes]:
        raise AssertionError("the body is read")
        yield b""

    refused = metric_increase("vicw_http_problems_total", problem="foreign-origin")
    async with open_client() as client:
        answer = await client.post("/things", content=body(), headers={"Origin": "null", "Content-Length": str(10**9)})
    assert (answer.status_code, refused()) == (403, 1)


async def test_an_allowed_origin_may_call_and_read_answers_and_errors() -> None:
    async with open_client(APP) as client:
        ask = {"Origin": APP, "Access-Control-Request-Method": "POST"}
        asked = ask | {"Access-Control-Request-Headers": "authorization,content-type,idempotency-key"}
        preflight = await client.options("/things", headers=asked)
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == APP
        assert "POST" in preflight.headers["access-control-allow-methods"]
        assert "authorization" in preflight.headers["access-control-allow-headers"].lower()
        for sent, status in (([1, 2], 200), ("no list", 422), ([1] * 100, 413)):
            answer = await client.post("/things", json=sent, headers={"Origin": APP})
            assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (status, APP)
            assert "x-request-id" in answer.headers["access-control-expose-headers"].lower()
        answer = await client.get("/odd", headers={"Origin": APP})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (500, APP)
        foreign = await client.options("/things", headers=ask | {"Origin": "http://page.example"})
        assert (foreign.status_code, foreign.json()["type"]) == (403, "urn:vicw:problem:foreign-origin")


async def test_without_allowed_origins_the_servers_own_page_works_and_no_cors_is_answered() -> None:
    async with open_client() as client:
        answer = await client.post("/things", json=[1], headers={"Origin": ADDRESS, "Sec-Fetch-Site": "same-origin"})
        assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (200, False)


async def test_a_websocket_of_a_foreign_page_is_closed() -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    app = application()
    scope = {"type": "websocket", "path": "/things", "server": ("127.0.0.1", 8080), "query_string": b"", "headers": []}
    await app({**scope, "headers": [(b"host", b"page.example:8080")]}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
