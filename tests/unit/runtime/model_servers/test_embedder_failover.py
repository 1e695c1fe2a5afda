"""What embeds for a model goes to another server that has it, when its own is away or has another model by now."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from support.fakes.embedding_server import serve_embeddings
from support.servers.machine import free_port
from unit.runtime.model_servers.test_embedders import open_servers
from vicw_runtime.model_servers.embedders import EmbeddingServers
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import InvalidInputError, SettingsError, UnavailableError
from vicw_shared.ports import Lane

A, B = "a" * 64, "b" * 64
QUESTION_SECONDS = 0.5


@dataclass
class FakeOwnServer:
    """A server of ours that can be stopped, be started again with another model, and hang."""

    port: int
    model: str
    digest: str
    asked: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    _hang: asyncio.Event | None = None
    _server: TestServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/embeddings", self._embeddings)
        self._server = TestServer(app, port=self.port)
        await self._server.start_server()

    async def stop(self) -> None:
        if self._hang is not None:
            self._hang.set()
        if self._server is not None:
            await self._server.close()

    def hang(self) -> None:
        """Answer nothing any more."""
        self._hang = asyncio.Event()

    async def _models(self, _: web.Request) -> web.Response:
        await self._answer_late("models")
        return web.json_response({"data": [{"id": self.model, "size": 2, "digest": self.digest}]})

    async def _embeddings(self, request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        await self._answer_late("embeddings")
        self.texts += texts
        rows = [{"index": at, "embedding": [1.0, 0.0]} for at in range(len(texts))]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"data": rows, "model": self.model, "usage": usage})

    async def _answer_late(self, what: str) -> None:
        self.asked.append(what)
        if self._hang is not None:
            await self._hang.wait()


@asynccontextmanager
async def servers(*models: tuple[str, str]) -> AsyncIterator[list[FakeOwnServer]]:
    """Start a server of each model and digest."""
    started = [FakeOwnServer(free_port(), *each) for each in models]
    for each in started:
        await each.start()
    try:
        yield started
    finally:
        for each in started:
            await each.stop()


async def embedder_of_first(opened: EmbeddingServers, first: FakeOwnServer) -> OpenAIEmbedder:
    """Return the embedder of the model that the first server has, which is the one that is asked."""
    async with open_servers(first.url) as alone:
        _, model = await alone.find_by_name(first.model)
    embedder = await opened.find(model)
    await embedder.embed(["to begin with"], Lane.BULK)
    assert first.texts == ["to begin with"]
    return embedder


async def ask(embedder: OpenAIEmbedder, question: str = "a question") -> None:
    """Ask as a question does: it has little time."""
    async with asyncio.timeout(QUESTION_SECONDS):
        await embedder.embed([question], Lane.QUERY)


def searching() -> bool:
    return "embedding-servers" in {task.get_name() for task in asyncio.all_tasks()}


async def ask_until_answered(embedder: OpenAIEmbedder) -> None:
    until = time.monotonic() + 10
    while True:
        try:
            return await ask(embedder)
        except (UnavailableError, SettingsError, TimeoutError):
            assert time.monotonic() < until, "another server has the model"
            await asyncio.sleep(0.02)


async def test_a_query_is_embedded_by_another_server_when_its_own_stopped() -> None:
    async with servers(("m", A), ("m", A)) as (first, second), open_servers(first.url, second.url) as opened:
        embedder = await embedder_of_first(opened, first)
        await first.stop()
        await ask(embedder)
        assert second.texts == ["a question"], "the very question that has met the failure"


async def test_a_bulk_call_waits_until_another_server_has_the_model() -> None:
    async with servers(("m", A), ("n", B)) as (first, second), open_servers(first.url, second.url) as opened:
        embedder = await embedder_of_first(opened, first)
        await first.stop()
        batch = asyncio.create_task(embedder.embed(["a passage"], Lane.BULK))
        await asyncio.sleep(0.3)
        assert not batch.done()
        second.model, second.digest = "m", A
        await asyncio.wait_for(batch, 10)
        assert second.texts == ["a passage"]


async def test_a_server_restarted_with_another_model_is_abandoned() -> None:
    async with servers(("m", A), ("m", A)) as (first, second), open_servers(first.url, second.url) as opened:
        embedder = await embedder_of_first(opened, first)
        first.model, first.digest = "n", B
        with pytest.raises(UnavailableError, match="has n now, not m"):
            await ask(embedder)
        await ask_until_answered(embedder)
        assert second.texts == ["a question"]


async def test_two_servers_may_swap_their_models_while_in_use() -> None:
    async with servers(("m", A), ("n", B)) as (first, second), open_servers(first.url, second.url) as opened:
        embedder = await embedder_of_first(opened, first)
        first.model, first.digest, second.model, second.digest = "n", B, "m", A
        await ask_until_answered(embedder)
        other = await opened.find_by_name("n")
        await ask(other[0], "of the other model")
        assert (first.texts[-1], second.texts) == ("of the other model", ["a question"])


async def test_hanging_servers_do_not_delay_the_search_for_another() -> None:
    async with (
        servers(("m", A), ("m", A), ("m", A)) as (first, second, third),
        open_servers(first.url, second.url, third.url) as opened,
    ):
        embedder = await embedder_of_first(opened, first)
        first.hang()
        second.hang()
        asked = len(second.asked)
        with pytest.raises(TimeoutError):
            await ask(embedder)
        await asyncio.sleep(QUESTION_SECONDS)
        await ask(embedder)
        assert third.texts == ["a question"]
        assert second.asked[asked:] == ["models"], "it was asked, and nobody has waited for it"


async def test_a_server_with_another_file_of_that_name_is_not_used() -> None:
    async with servers(("m", A), ("m", B)) as (first, second), open_servers(first.url, second.url) as opened:
        embedder = await embedder_of_first(opened, first)
        await first.stop()
        asked = len(second.asked)
        with pytest.raises(TimeoutError):
            await ask(embedder)
        assert (second.asked[asked : asked + 2], second.texts) == (["models", "models"], [])
        await first.start()
        await ask(embedder)
        assert first.texts[-1] == "a question"


async def test_a_foreign_server_that_lost_the_model_is_abandoned() -> None:
    async with (
        serve_embeddings("m") as second,
        serve_embeddings("m") as first,
        open_servers(first.url, second.url) as opened,
    ):
        embedder, _ = await opened.find_by_name("m")
        await ask(embedder)
        first.refuses, first.models = "question", ["n"]
        asked = len(second.texts)
        with pytest.raises(InvalidInputError):
            await ask(embedder)
        await asyncio.sleep(QUESTION_SECONDS)
        await ask(embedder)
        assert second.texts[asked:] == ["size", "a question"]


async def test_no_search_for_servers_starts_when_only_one_is_configured() -> None:
    async with servers(("m", A)) as (only,), open_servers(only.url) as opened:
        embedder = await embedder_of_first(opened, only)
        asked = len(only.asked)
        only.hang()
        with pytest.raises(TimeoutError):
            await ask(embedder)
        assert not searching()
        assert only.asked[asked:] == ["embeddings"]


async def test_a_search_for_servers_ends_when_the_embedders_close() -> None:
    async with servers(("m", A), ("m", A)) as (first, second):
        async with open_servers(first.url, second.url) as opened:
            embedder = await embedder_of_first(opened, first)
            second.hang()
            await first.stop()
            with pytest.raises(TimeoutError):
                await ask(embedder)
            assert searching()
        with pytest.raises(UnavailableError):
            await ask(embedder)
        assert not searching()


async def test_identity_refuses_a_server_that_changed_its_model() -> None:
    async with servers(("m", A)) as (only,), open_servers(only.url) as opened:
        embedder = await embedder_of_first(opened, only)
        only.model, only.digest = "n", B
        with pytest.raises(UnavailableError, match="has n now, not m"):
            await embedder.identity()
        with pytest.raises(UnavailableError, match="has n now, not m"):
            await ask(embedder)
        only.model, only.digest = "m", B
        with pytest.raises(UnavailableError, match=r"has m .*file bbb.* now, not m .*file aaa"):
            await embedder.identity()


async def test_a_late_failure_of_the_old_server_keeps_the_new_one() -> None:
    async with servers(("m", A), ("m", A)) as (first, second), open_servers(first.url, second.url) as opened:
        embedder = await embedder_of_first(opened, first)
        first.hang()
        late = asyncio.create_task(embedder.embed(["late"], Lane.QUERY))
        with pytest.raises(TimeoutError):
            await ask(embedder)
        await asyncio.sleep(0.3)
        asked = len(first.asked), len(second.asked)
        late.cancel()
        await asyncio.wait({late})
        await asyncio.sleep(0.2)
        await ask(embedder)
        assert (first.asked[asked[0] :], second.asked[asked[1] :]) == ([], ["embeddings"])
