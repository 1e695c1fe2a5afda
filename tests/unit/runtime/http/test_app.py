from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.types import Message

from support.metrics.counters import metric_increase
from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.http import Probe, StrictRoute, create_app
from vicw_shared.errors import OverloadedError, StorageFullError, UnavailableError
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.base import StrictBool


class Thing(BaseModel, extra="forbid"):
    n: float
    deep: list[Thing] = []
    wait: StrictBool = True


async def works() -> None: ...


async def broken() -> None:
    raise UnavailableError("engine", "no answer")


async def child_process_metrics() -> bytes:
    return b"behind_total 1.0\n"


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield


def app_with(**probes: Probe) -> FastAPI:
    app = create_app(
        title="t",
        description="d",
        version="1",
        limits=LimitSettings(body_bytes=1000, bodies_bytes=1500),
        probes=probes or {"a": works},
        lifespan=lifespan,
        guard=BrowserGuard("127.0.0.1"),
    )
    router = APIRouter(route_class=StrictRoute)

    @router.post("/things")
    async def post(thing: Thing) -> Thing:
        return thing

    @router.get("/raise/{what}")
    async def get(what: str) -> None:
        raise {"full": StorageFullError("full"), "busy": OverloadedError("busy"), "odd": ZeroDivisionError()}[what]

    @router.get("/breaks-off")
    async def break_off() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            yield b"some"
            raise ZeroDivisionError

        return StreamingResponse(parts())

    app.include_router(router)
    return app


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app_with()), base_url="http://127.0.0.1") as opened:
        yield opened


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"n": NaN}', "body"),
        (b'{"n": 1', "body"),
        (b'{"n": "\xff"}', "body"),
        (b"[" * 900, "body"),
        (b'{"n": ' + b"9" * 900 + b"}", "n"),
        (b"{}", "n"),
        (b'{"n": 1, "m": 2}', "m"),
        (b'{"n": 1, "deep": [{"n": 1}, {"n": "x"}]}', "deep[1].n"),
        (b'{"n": 1, "wait": "maybe"}', "wait"),
    ],
)
async def test_bad_bodies_name_the_field_and_the_fix(client: httpx.AsyncClient, body: bytes, field: str) -> None:
    answer = await client.post("/things", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    problem = answer.json()
    assert problem["type"] == "urn:vicw:problem:invalid-input"
    assert problem["errors"][0]["field"] == field
    assert all(entry["fix"] and entry["problem"] for entry in problem["errors"])


@pytest.mark.parametrize("sent", ['"maybe"', '"true"', "1", "null"])
async def test_an_invalid_boolean_is_refused_with_the_expected_values(client: httpx.AsyncClient, sent: str) -> None:
    answer = await client.post(
        "/things", content=f'{{"n": 1, "wait": {sent}}}', headers={"content-type": "application/json"}
    )
    (error,) = answer.json()["errors"]
    assert (error["field"], error["problem"]) == ("wait", "should be true or false")
    assert error["fix"] == "Send true or false, without quotation marks"


async def test_the_size_limit_counts_bytes_as_they_come(client: httpx.AsyncClient) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(50):
            yield b" " * 100

    declared = await client.post("/things", content=b" " * 5000, headers={"content-type": "application/json"})
    streamed = await client.post("/things", content=chunks(), headers={"content-type": "application/json"})
    for answer in (declared, streamed):
        assert (answer.status_code, answer.json()["type"]) == (413, "urn:vicw:problem:too-large")
        assert "VICW_MAX_BODY_BYTES" in answer.json()["detail"]


async def test_concurrent_bodies_over_their_joint_limit_get_429(client: httpx.AsyncClient) -> None:
    json = {"content-type": "application/json"}
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield b'{"n": 1' + b" " * 900
        begun.set()
        await go_on.wait()
        yield b"}"

    first = asyncio.create_task(client.post("/things", content=slowly(), headers=json))
    await begun.wait()
    await asyncio.sleep(0)  # what was sent is read
    small = await client.post("/things", content=b'{"n": 2}', headers=json)
    large = await client.post("/things", content=b'{"n": 3}' + b" " * 900, headers=json)
    go_on.set()
    assert (await first).json()["n"] == 1
    assert small.json()["n"] == 2
    assert (large.status_code, large.headers["retry-after"]) == (429, "1")
    assert "VICW_MAX_BODIES_BYTES" in large.json()["detail"]
    again = await client.post("/things", content=b'{"n": 3}' + b" " * 900, headers=json)
    assert again.status_code == 200, "what was read counts no more"


async def test_request_ids_are_echoed_if_sane_and_made_if_not(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz", headers={"x-request-id": "mine-1"})).headers["x-request-id"] == "mine-1"
    made = (await client.get("/healthz", headers={"x-request-id": "x" * 500})).headers["x-request-id"]
    assert len(made) == 32
    problem = await client.get("/nowhere", headers={"x-request-id": "mine-2"})
    assert problem.json()["request_id"] == "mine-2"


@pytest.mark.parametrize(
    ("path", "status", "slug"),
    [
        ("/raise/full", 507, "storage-full"),
        ("/raise/busy", 429, "overloaded"),
        ("/raise/odd", 500, "internal-error"),
        ("/nowhere", 404, "not-found"),
    ],
)
async def test_errors_become_problem_documents_with_their_status(
    client: httpx.AsyncClient, path: str, status: int, slug: str
) -> None:
    told = metric_increase("vicw_http_problems_total", problem=slug)
    answer = await client.get(path)
    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:vicw:problem:{slug}")
    assert told() == 1
    assert ("retry-after" in answer.headers) == (status in {429, 507})
    assert answer.headers["x-request-id"] == answer.json()["request_id"]
    assert "ZeroDivision" not in answer.text


async def test_an_error_while_streaming_a_response_is_raised(client: httpx.AsyncClient) -> None:
    with pytest.raises(ZeroDivisionError):  # the server then cuts the connection
        await client.get("/breaks-off")


async def test_a_client_disconnect_is_counted_with_status_499(client: httpx.AsyncClient) -> None:
    sent: list[Message] = []

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"content-length", b"9")]
    scope = {"type": "http", "method": "POST", "path": "/things", "query_string": b"", "headers": headers}
    await app_with()(scope, gone, send)
    assert sent == []
    metrics = (await client.get("/metrics")).text
    assert 'vicw_http_requests_total{method="POST",route="/things",status="499"}' in metrics


async def test_readiness_names_the_failing_dependency(client: httpx.AsyncClient) -> None:
    assert (await client.get("/readyz")).json() == {"status": "ready", "dependencies": ["a"]}
    transport = httpx.ASGITransport(app_with(good=works, engine=broken))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as failing:
        answer = await failing.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"status": "not ready", "failing": {"engine": "engine: no answer"}}


@pytest.mark.parametrize(("engine", "status"), [(works, 200), (broken, 503)])
async def test_a_failing_optional_dependency_is_named_and_keeps_the_service_ready(engine: Probe, status: int) -> None:
    app = create_app(
        title="t",
        description="d",
        version="1",
        limits=LimitSettings(),
        probes={"engine": engine},
        optional={"queue": broken, "cache": works},
        lifespan=lifespan,
        guard=BrowserGuard("127.0.0.1"),
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        answer = await client.get("/readyz")
    failing = {"queue": "engine: no answer"}
    assert (answer.status_code, answer.json()) == {
        200: (200, {"status": "ready", "dependencies": ["cache", "engine", "queue"], "failing": failing}),
        503: (503, {"status": "not ready", "failing": {"engine": "engine: no answer", **failing}}),
    }[status]


async def test_readiness_probes_run_concurrently() -> None:
    met = asyncio.Barrier(2)

    async def together() -> None:
        await met.wait()

    transport = httpx.ASGITransport(app_with(one=together, other=together))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        assert (await client.get("/readyz")).status_code == 200


async def test_metrics_count_requests_by_route(client: httpx.AsyncClient) -> None:
    await client.get("/healthz")
    text = (await client.get("/metrics")).text
    assert 'vicw_http_requests_total{method="GET",route="/healthz",status="200"}' in text
    assert "vicw_http_request_seconds_bucket" in text


async def test_metrics_of_a_child_process_follow_those_of_the_service() -> None:
    app = create_app(
        title="t",
        description="d",
        version="1",
        limits=LimitSettings(),
        probes={},
        lifespan=lifespan,
        guard=BrowserGuard("127.0.0.1"),
        more_metrics=child_process_metrics,
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        text = (await client.get("/metrics")).text
    assert "vicw_http_requests_total" in text
    assert text.endswith("\nbehind_total 1.0\n")
