"""Several embedding servers: the one that has a model is found, and what each has is told where none does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from support.fakes.embedding_server import EmbeddingServer, serve_embeddings
from support.servers.machine import free_port
from vicw_runtime.model_servers.embedders import EmbeddingServers
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import ModelMismatchError, SettingsError, UnavailableError
from vicw_shared.ports import Lane
from vicw_shared.settings import EmbeddingSettings


@asynccontextmanager
async def open_servers(*urls: str, model: str | None = None) -> AsyncIterator[EmbeddingServers]:
    settings = EmbeddingSettings(url=" , ".join(urls))
    settings = settings if model is None else settings.model_copy(update={"model": model})
    opened = EmbeddingServers(settings, pause_seconds=0.05)
    try:
        yield opened
    finally:
        await opened.close()


def unused_url() -> str:
    return f"http://127.0.0.1:{free_port()}/v1"


@pytest.fixture
async def small() -> AsyncIterator[EmbeddingServer]:
    async with serve_embeddings("small") as foreign:
        yield foreign


@pytest.fixture
async def large() -> AsyncIterator[EmbeddingServer]:
    async with serve_embeddings("larger", "large") as foreign:
        yield foreign


async def test_an_empty_store_gets_the_model_of_the_first_server(
    small: EmbeddingServer, large: EmbeddingServer
) -> None:
    async with open_servers(small.url, large.url) as servers:
        assert (await servers.first())[1].name == "small"
    async with open_servers(large.url, model="large") as servers:
        assert (await servers.first())[1].name == "large"


async def test_the_server_that_has_the_model_is_asked_for_it(small: EmbeddingServer, large: EmbeddingServer) -> None:
    async with open_servers(small.url, large.url) as servers:
        embedder, model = await servers.find_by_name("large")
        found = await servers.find(model)
        await found.embed(["a text"], Lane.BULK)
        assert (set(large.asked_for), small.asked_for) == ({"large"}, [])
        assert found is embedder, "one connection a model"


async def test_a_missing_model_error_lists_the_models_of_each_server(
    small: EmbeddingServer, large: EmbeddingServer
) -> None:
    async with open_servers(small.url, large.url) as servers:
        with pytest.raises(ModelMismatchError) as raised:
            await servers.find_by_name("medium")
    assert f"{small.url} has small" in raised.value.detail
    assert f"{large.url} has larger, large" in raised.value.detail


async def test_a_server_with_an_unresolvable_host_is_not_waited_for(small: EmbeddingServer) -> None:
    nowhere = "http://nowhere.invalid/v1"
    async with open_servers(small.url, nowhere) as servers:
        _, model = await servers.find_by_name("small")
        with pytest.raises(ModelMismatchError, match="has small"):
            await servers.find_by_name("medium")
    async with open_servers(nowhere) as servers:
        with pytest.raises(UnavailableError):  # nor can any other be found: then it is the network that is away
            await servers.find(model, seconds=0)


async def test_find_waits_for_a_server_that_is_unavailable(small: EmbeddingServer) -> None:
    async with open_servers(small.url) as servers:
        _, model = await servers.find_by_name("small")
    away = unused_url()
    async with open_servers(away, small.url) as servers:
        await servers.find(model)  # that another is away is no matter
    async with open_servers(away) as servers:
        with pytest.raises(UnavailableError, match="VICW_EMBEDDING_URL"):
            await servers.find(model, seconds=0)
        looking = asyncio.create_task(servers.find(model, seconds=20))
        await asyncio.sleep(0.3)
        async with serving_at(away, small):
            await looking


@asynccontextmanager
async def serving_at(url: str, foreign: EmbeddingServer) -> AsyncIterator[None]:
    """Let another address answer as a server does."""

    async def forward(request: web.Request) -> web.Response:
        from aiohttp import ClientSession

        async with (
            ClientSession() as session,
            session.request(
                request.method, foreign.url.removesuffix("/v1") + request.path, data=await request.read()
            ) as answer,
        ):
            return web.Response(body=await answer.read(), content_type="application/json")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", forward)
    async with TestServer(app, port=int(url.split(":")[2].split("/")[0])):
        yield


async def test_find_by_name_but_returns_another_file_of_that_name() -> None:
    async with (
        own_server("m", "a" * 64) as first,
        own_server("m", "b" * 64) as second,
        open_servers(first, second) as servers,
    ):
        _, one = await servers.find_by_name("m")
        _, other = await servers.find_by_name("m", but=one)
        assert (one.digest, other.digest) == ("a" * 64, "b" * 64)
        assert (await servers.find_by_name("m", but=other))[1] == one
    async with own_server("m", "a" * 64) as first, open_servers(first, unused_url()) as servers:
        _, only = await servers.find_by_name("m", but=one)
        assert only == one, "it is the one in use"


@asynccontextmanager
async def own_server(name: str, digest: str, now: str | None = None) -> AsyncIterator[str]:
    """A server that tells the digest of its model, and has ``now`` another one when it embeds."""

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": name, "size": 2, "digest": digest}]})

    async def embeddings(request: web.Request) -> web.Response:
        rows = [{"index": at, "embedding": [1.0, 0.0]} for at in range(len((await request.json())["input"]))]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"data": rows, "model": now or name, "usage": usage})

    app = web.Application()
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/embeddings", embeddings)
    async with TestServer(app) as server:
        yield str(server.make_url("/v1"))


async def test_vectors_of_a_server_that_changed_its_model_are_refused() -> None:
    async with own_server("m", "a" * 64, now="n") as url:
        embedder = OpenAIEmbedder(base_url=url, model="m", retry_seconds=0)
        await embedder.identity()
        with pytest.raises(UnavailableError, match="has n now, not m"):
            await embedder.embed(["a text"], Lane.BULK)
        await embedder.close()


def test_an_empty_list_of_embedding_urls_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match="VICW_EMBEDDING_URL"):
        EmbeddingServers(EmbeddingSettings(url=" , "))
