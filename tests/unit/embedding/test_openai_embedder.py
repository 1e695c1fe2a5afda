"""The adapter against servers of other makes and moods."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import numpy as np
import pytest

from vicw_shared.adapters.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import (
    InvalidInputError,
    OverloadedError,
    SettingsError,
    TooLargeError,
    UnavailableError,
    VicwError,
)
from vicw_shared.ports.embedder import Embedder, Lane
from vicw_shared.wrapper import WRAPPER_VERSION

Handler = Callable[[httpx.Request], httpx.Response]


@asynccontextmanager
async def embedder(handler: Handler, **options: Any) -> AsyncIterator[OpenAIEmbedder]:
    opened = OpenAIEmbedder(base_url="http://elsewhere/v1", **{"retry_seconds": 0.5, **options})
    await opened._client.aclose()
    opened._client = httpx.AsyncClient(base_url="http://elsewhere/v1", transport=httpx.MockTransport(handler))
    yield opened
    await opened.close()


def answer(request: httpx.Request, size: int = 3) -> httpx.Response:
    """Answer as a plain server does: floats, not normalised, in any order, without our additions."""
    if request.url.path.endswith("/models"):
        return httpx.Response(200, json={"object": "list", "data": [{"id": "other"}, {"id": "theirs"}]})
    texts = json.loads(request.content)["input"]
    rows = [{"index": at, "embedding": [float(len(text)), 4.0] + [0.0] * (size - 2)} for at, text in enumerate(texts)]
    return httpx.Response(
        200, json={"data": rows[::-1], "model": "theirs", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    )


async def test_vectors_are_put_in_order_and_normalised() -> None:
    async with embedder(answer) as client:
        rows = await client.embed(["abc", ""], Lane.QUERY)

    np.testing.assert_allclose(rows, np.array([[3 / 5, 4 / 5, 0], [0, 1, 0]]), rtol=1e-6)
    assert rows.dtype == np.float32


async def test_big_inputs_are_split_into_requests_and_joined_again() -> None:
    seen: list[httpx.Request] = []

    def recording(request: httpx.Request) -> httpx.Response:
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


async def test_no_texts_give_no_rows_of_the_models_size() -> None:
    async with embedder(answer, model="theirs") as client:
        assert (await client.embed([], Lane.BULK)).shape == (0, 3)


async def test_the_identity_of_a_foreign_server_is_probed() -> None:
    async with embedder(answer, model="theirs") as client:
        identity = await client.identity()

    assert (identity.name, identity.size, identity.wrapper_version) == ("theirs", 3, WRAPPER_VERSION)
    assert identity.digest == hashlib.sha256(b"theirs").hexdigest()


async def test_a_foreign_server_may_lack_the_page_of_models() -> None:
    def without(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404) if request.url.path.endswith("/models") else answer(request)

    async with embedder(without, model="mine") as client:
        assert (await client.identity()).name == "mine"
    async with embedder(without) as client:
        with pytest.raises(SettingsError):
            await client.identity()


async def test_our_own_server_tells_size_and_digest() -> None:
    def ours(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"data": [{"id": "m", "size": 1024, "digest": "d"}]})

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
        (413, TooLargeError),
        (422, InvalidInputError),
        (429, OverloadedError),
        (500, UnavailableError),
        (503, UnavailableError),
        (302, UnavailableError),
    ],
)
async def test_every_refusal_becomes_an_error_of_ours(status: int, error: type[VicwError]) -> None:
    async with embedder(lambda _: httpx.Response(status, json={"error": {"message": "because"}})) as client:
        with pytest.raises(error, match="because"):
            await client.embed(["x"], Lane.BULK)


TRANSPORT_ERRORS = [
    httpx.ConnectError,
    httpx.ReadError,
    httpx.WriteError,
    httpx.CloseError,
    httpx.ConnectTimeout,
    httpx.ReadTimeout,
    httpx.WriteTimeout,
    httpx.PoolTimeout,
    httpx.RemoteProtocolError,
    httpx.LocalProtocolError,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.TooManyRedirects,
    httpx.DecodingError,
]


@pytest.mark.parametrize("kind", TRANSPORT_ERRORS)
async def test_every_transport_error_becomes_unavailable(kind: type[httpx.HTTPError]) -> None:
    def failing(request: httpx.Request) -> httpx.Response:
        raise kind("gone")

    async with embedder(failing) as client:
        started = time.perf_counter()
        with pytest.raises(UnavailableError, match="embedding"):
            await client.embed(["x"], Lane.BULK)
        assert time.perf_counter() - started < 3


@pytest.mark.parametrize("trouble", [httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError, 503])
async def test_a_server_that_comes_back_costs_time_and_no_texts(trouble: type[httpx.HTTPError] | int) -> None:
    failures = iter(range(3))

    def recovering(request: httpx.Request) -> httpx.Response:
        if next(failures, None) is None:
            return answer(request)
        if isinstance(trouble, int):
            return httpx.Response(trouble)
        raise trouble("gone")

    async with embedder(recovering, retry_seconds=5) as client:
        assert (await client.embed(["abc"], Lane.BULK)).shape == (1, 3)


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
async def test_nonsense_is_never_passed_on(content: bytes) -> None:
    async with embedder(lambda _: httpx.Response(200, content=content)) as client:
        with pytest.raises(UnavailableError, match="not a vector"):
            await client.embed(["x"], Lane.BULK)


async def test_a_server_that_changes_its_size_is_refused() -> None:
    sizes = iter([3, 5])

    async with embedder(lambda request: answer(request, next(sizes))) as client:
        await client.embed(["x"], Lane.BULK)
        with pytest.raises(UnavailableError, match="5 dimensions"):
            await client.embed(["x"], Lane.BULK)


async def test_it_is_an_embedder_and_closes_twice() -> None:
    client: Embedder = OpenAIEmbedder(base_url="http://elsewhere/v1", api_key="k")
    await client.close()
    await client.close()
    with pytest.raises(ValueError, match="either"):
        OpenAIEmbedder()
