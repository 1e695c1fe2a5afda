"""The adapter against servers of other makes and moods."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import Context
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from structlog.testing import capture_logs

from vicw_core.index.wrapper import WRAPPER_VERSION
from vicw_runtime.logs import bind_request_id
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import (
    InvalidInputError,
    LimitExceededError,
    OverloadedError,
    SettingsError,
    UnavailableError,
    UnknownHostError,
    VicwError,
)
from vicw_shared.ports.embedder import Embedder, Lane

Handler = Callable[["Request"], web.Response]


pytestmark = pytest.mark.usefixtures("way")


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    content: bytes


@asynccontextmanager
async def embedder(handler: Handler, **options: Any) -> AsyncIterator[OpenAIEmbedder]:
    async def handle(request: web.Request) -> web.Response:
        return handler(Request(request.path, request.headers, await request.read()))

    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", handle)
    async with TestServer(app) as server:
        opened = OpenAIEmbedder(base_url=str(server.make_url("/v1")), **{"retry_seconds": 0.5, **options})
        yield opened
        await opened.close()


def answer(request: Request, size: int = 3) -> web.Response:
    """Answer as a plain server does: floats, not normalised, in any order, without our additions."""
    if request.path.endswith("/models"):
        return web.json_response({"object": "list", "data": [{"id": "other"}, {"id": "theirs"}]})
    texts = json.loads(request.content)["input"]
    rows = [{"index": at, "embedding": [float(len(text)), 4.0] + [0.0] * (size - 2)} for at, text in enumerate(texts)]
    return web.json_response({"data": rows[::-1], "model": "theirs", "usage": {"prompt_tokens": 1, "total_tokens": 1}})


async def test_vectors_are_put_in_order_and_normalised() -> None:
    async with embedder(answer) as client:
        rows = await client.embed(["abc", ""], Lane.QUERY)

    np.testing.assert_allclose(rows, np.array([[3 / 5, 4 / 5, 0], [0, 1, 0]]), rtol=1e-6)
    assert rows.dtype == np.float32


async def test_big_inputs_are_split_into_requests_and_joined_again() -> None:
    seen: list[Request] = []

    def recording(request: Request) -> web.Response:
        seen.append(request)
        return answer(request)

    texts = ["x" * number for number in range(150)] + ["y" * 190_000, "z" * 20_000]
    async with embedder(recording, model="theirs", dimensions=3) as client:
        rows = await client.embed(texts, Lane.BULK)

    assert rows.shape == (152, 3)
    np.testing.assert_allclose(rows[149], np.array([149, 4, 0]) / np.hypot(149, 4), rtol=1e-6)
    bodies = [json.loads(request.content) for request in seen]
    assert [len(body["input"]) for body in bodies] == [64, 64, 23, 1]
    assert all(sum(map(len, body["input"])) <= 200_000 for body in bodies)
    assert {(body["model"], body["dimensions"]) for body in bodies} == {("theirs", 3)}
    assert {request.headers["X-VICW-Lane"] for request in seen} == {"bulk"}


async def test_the_request_id_is_sent_when_there_is_one() -> None:
    seen: list[str | None] = []

    def recording(request: Request) -> web.Response:
        seen.append(request.headers.get("X-Request-ID"))
        return answer(request)

    async def ask(client: OpenAIEmbedder, request_id: str) -> None:
        bind_request_id(request_id)
        await client.embed(["x"], Lane.QUERY)

    async with embedder(recording) as client:
        # An empty context: a test before this one may have bound an id.
        await asyncio.create_task(client.embed(["x"], Lane.QUERY), context=Context())
        await asyncio.gather(*(asyncio.create_task(ask(client, name)) for name in ("mine-1", "mine-2")))
    assert seen[0] is None
    assert set(seen[1:]) == {"mine-1", "mine-2"}


async def test_tokens_are_counted_as_the_server_reports_them() -> None:
    def telling(request: Request) -> web.Response:
        body = json.loads(answer(request).body or b"")  # type: ignore[arg-type]
        return web.json_response({**body, "usage": {"prompt_tokens": 0, "total_tokens": 7}})

    async with embedder(telling) as client:
        assert client.tokens_read == 0
        await client.embed(["x"] * 65, Lane.BULK)
        assert client.tokens_read == 2 * 7


async def test_no_texts_give_an_empty_array_of_the_models_size() -> None:
    async with embedder(answer, model="theirs") as client:
        assert (await client.embed([], Lane.BULK)).shape == (0, 3)


async def test_the_identity_of_a_foreign_server_is_probed() -> None:
    async with embedder(answer, model="theirs") as client:
        identity = await client.identity()

    assert (identity.name, identity.size, identity.wrapper_version) == ("theirs", 3, WRAPPER_VERSION)
    assert identity.digest == hashlib.sha256(b"theirs").hexdigest()


async def test_a_foreign_server_may_lack_the_models_endpoint() -> None:
    def without(request: Request) -> web.Response:
        return web.Response(status=404) if request.path.endswith("/models") else answer(request)

    async with embedder(without, model="mine") as client:
        assert (await client.identity()).name == "mine"
    async with embedder(without) as client:
        with pytest.raises(SettingsError):
            await client.identity()


async def test_the_vicw_embedding_server_reports_size_and_digest() -> None:
    def ours(request: Request) -> web.Response:
        return web.json_response({"data": [{"id": "m", "size": 1024, "digest": "d"}]})

    async with embedder(ours) as client:
        assert (await client.identity()).size == 1024
    async with embedder(ours, dimensions=256) as client:
        identity = await client.identity()
    assert (identity.size, identity.digest) == (256, "d")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, InvalidInputError),
        (401, SettingsError),
        (403, SettingsError),
        (404, SettingsError),
        (405, SettingsError),
        (408, UnavailableError),
        (413, LimitExceededError),
        (422, InvalidInputError),
        (500, UnavailableError),
        (503, UnavailableError),
        (302, UnavailableError),
    ],
)
async def test_error_statuses_map_to_vicw_errors(status: int, error: type[VicwError]) -> None:
    async with embedder(lambda _: web.json_response({"error": {"message": "because"}}, status=status)) as client:
        with pytest.raises(error, match="because"):
            await client.embed(["x"], Lane.BULK)


async def test_the_servers_queue_length_is_logged_and_not_in_the_error() -> None:
    full = {"detail": "4096 texts wait in the query lane"}
    with capture_logs() as logged:
        async with embedder(lambda _: web.json_response(full, status=429)) as client:
            with pytest.raises(OverloadedError) as refused:
                await client.embed(["x"], Lane.QUERY)
    assert not any(letter.isdigit() for letter in str(refused.value))
    assert "4096 texts wait" in str(logged)


TRANSPORT_ERRORS: list[Exception] = [
    httpx.ConnectError("gone"),
    httpx.ReadError("gone"),
    httpx.WriteError("gone"),
    httpx.CloseError("gone"),
    httpx.ConnectTimeout("gone"),
    httpx.PoolTimeout("gone"),
    httpx.ProxyError("gone"),
    httpx.RemoteProtocolError("gone"),
    httpx.DecodingError("gone"),
]


@pytest.mark.parametrize("trouble", TRANSPORT_ERRORS, ids=lambda trouble: type(trouble).__name__)
@pytest.mark.parametrize("way", ["remote"], indirect=True)
async def test_every_transport_error_becomes_unavailable(trouble: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    async def failing(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr(httpx.AsyncClient, "send", failing)
    async with embedder(answer) as client:
        started = time.perf_counter()
        with pytest.raises(UnavailableError, match="embedding"):
            await client.embed(["x"], Lane.BULK)
        assert time.perf_counter() - started < 3


async def test_an_unreachable_embedding_address_is_unavailable(tmp_path: Path) -> None:
    for opened in (
        OpenAIEmbedder(base_url="http://127.0.0.1:9/v1", retry_seconds=0.1),
        OpenAIEmbedder(uds=tmp_path / "none", retry_seconds=0.1),
    ):
        with pytest.raises(UnavailableError, match="embedding"):
            await opened.embed(["x"], Lane.BULK)
        await opened.close()


def _hang_up(connection: socket.socket) -> None:
    connection.recv(10_000)


def _break_off(connection: socket.socket) -> None:
    connection.recv(10_000)
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{")


def _refuse(connection: socket.socket) -> None:
    connection.recv(10_000)
    connection.sendall(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")


def _answer(connection: socket.socket) -> None:
    connection.recv(10_000)
    body = json.dumps(_body({"index": 0, "embedding": [3.0, 4.0]})).encode()
    connection.sendall(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        % len(body)
    )
    connection.sendall(body)


@pytest.mark.parametrize("trouble", [_hang_up, _break_off, _refuse])
async def test_texts_are_embedded_after_a_server_recovers(trouble: Callable[[socket.socket], None]) -> None:
    def serve(listener: socket.socket) -> None:
        for behave in (trouble, trouble, trouble, _answer):
            connection, _ = listener.accept()
            with connection:
                behave(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(asyncio.to_thread(serve, listener))
        client = OpenAIEmbedder(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}/v1", retry_seconds=5)
        np.testing.assert_allclose(await client.embed(["abc"], Lane.BULK), [[0.6, 0.8]], rtol=1e-6)
        await client.close()
        await serving


async def test_a_silent_server_is_unavailable_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        client = OpenAIEmbedder(base_url=address, timeout_seconds=0.3)
        with pytest.raises(UnavailableError, match=r"0\.3 s"):
            await client.embed(["x"], Lane.QUERY)
        await client.close()


def _body(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"data": list(rows), "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"<html>", id="not JSON"),
        pytest.param(b"{}", id="not the wire"),
        pytest.param(json.dumps(_body()).encode(), id="too few"),
        pytest.param(json.dumps(_body({"index": 1, "embedding": [1.0]})).encode(), id="wrong index"),
        pytest.param(json.dumps(_body({"index": 0, "embedding": "!!!"})).encode(), id="not base64"),
        pytest.param(json.dumps(_body({"index": 0, "embedding": "AAA="})).encode(), id="half a float"),
        pytest.param(json.dumps(_body({"index": 0, "embedding": [0.0, 0.0]})).encode(), id="no direction"),
        pytest.param(json.dumps(_body({"index": 0, "embedding": [1e200, 0.0]})).encode(), id="infinite"),
        pytest.param(json.dumps(_body({"index": 0, "embedding": []})).encode(), id="empty"),
    ],
)
async def test_malformed_embedding_responses_are_unavailable(content: bytes) -> None:
    async with embedder(lambda _: web.Response(body=content, content_type="application/json")) as client:
        with pytest.raises(UnavailableError, match="not a vector"):
            await client.embed(["x"], Lane.BULK)


async def test_a_server_that_changes_its_size_is_refused() -> None:
    sizes = iter([3, 5])

    async with embedder(lambda request: answer(request, next(sizes))) as client:
        await client.embed(["x"], Lane.BULK)
        with pytest.raises(UnavailableError, match="5 dimensions"):
            await client.embed(["x"], Lane.BULK)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("http://127.0.0.1:9/v1", "key\n"),
        ("http://127.0.0.1:9/v1", "ké"),
        (f"http://{'x' * 70}.example/v1", None),
        ("http://u:p@127.0.0.1:9/v1", "key"),
    ],
)
async def test_an_address_or_key_that_cannot_be_sent_is_an_error(address: str, key: str | None) -> None:
    client = OpenAIEmbedder(base_url=address, api_key=key, retry_seconds=0.1)
    with pytest.raises((SettingsError, UnavailableError), match=r"VICW_EMBEDDING_API_KEY|embedding"):
        await client.embed(["x"], Lane.QUERY)
    await client.close()


async def test_a_call_after_closing_is_unavailable() -> None:
    async with embedder(answer) as client:
        await client.embed(["x"], Lane.QUERY)
        await client.close()
        with pytest.raises(UnavailableError):
            await client.embed(["x"], Lane.QUERY)


async def test_the_openai_embedder_can_be_closed_twice() -> None:
    client: Embedder = OpenAIEmbedder(base_url="http://elsewhere/v1", api_key="k")
    await client.close()
    await client.close()
    with pytest.raises(ValueError, match="either"):
        OpenAIEmbedder()


async def test_a_key_that_cannot_be_sent_is_a_wrong_setting() -> None:
    async with embedder(answer, api_key="key\n") as client:
        with pytest.raises(SettingsError, match="VICW_EMBEDDING_API_KEY"):
            await client.embed(["x"], Lane.QUERY)


async def test_half_a_surrogate_pair_is_sent() -> None:
    async with embedder(answer) as client:
        assert (await client.embed(["\ud800"], Lane.BULK)).shape == (1, 3)


async def test_an_unreachable_address_is_named_without_its_password() -> None:
    client = OpenAIEmbedder(base_url="http://u:secret@127.0.0.1:9/v1", retry_seconds=0.1)
    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:9") as refused:
        await client.embed(["x"], Lane.QUERY)
    assert "secret" not in str(refused.value)
    await client.close()


async def test_an_unknown_host_is_told_from_one_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    client = OpenAIEmbedder(base_url="http://nowhere.invalid/v1", retry_seconds=0.1)
    with pytest.raises(UnknownHostError, match=r"nowhere\.invalid"):
        await client.embed(["x"], Lane.QUERY)
    await client.close()
