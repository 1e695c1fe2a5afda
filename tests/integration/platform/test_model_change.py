"""What the platform's engines say of the model, before, during and after a change: real servers, no services."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import pytest

from integration.platform.conftest import engines, fill
from support.fakes.embedding_server import EmbeddingServer, serve_embeddings
from vicw_runtime.indexes import wait_for_followers
from vicw_runtime.platform.engines import Engines
from vicw_shared.errors import MissingRecordError, ModelMismatchError, StateConflictError
from vicw_shared.ports import ModelChange, ModelIdentity
from vicw_shared.settings import IngestSettings
from vicw_sleep.reindex.service import Reindexing
from vicw_standalone.index_engines.qdrant import QdrantIndexes
from vicw_standalone.stores.platform import open_graph, read_platform

KNOWN_SECONDS = 0.3


@pytest.fixture
async def old() -> AsyncIterator[EmbeddingServer]:
    async with serve_embeddings("old") as foreign:
        yield foreign


@pytest.fixture
async def new() -> AsyncIterator[EmbeddingServer]:
    async with serve_embeddings("new") as foreign:
        yield foreign


@pytest.fixture
def embedding_url(old: EmbeddingServer, new: EmbeddingServer) -> str:
    return f"{old.url},{new.url}"


@asynccontextmanager
async def open_platform() -> AsyncIterator[Reindexing]:
    async with AsyncExitStack() as stack:
        graph, wait = await stack.enter_async_context(open_graph()), partial(wait_for_followers, KNOWN_SECONDS)
        yield Reindexing(graph, QdrantIndexes(read_platform(), graph, IngestSettings(), stack, wait))


async def change(platform: Reindexing, model: str | None = None) -> Any:
    return await platform.run(model, lambda *_: None)


async def identity(opened: Engines, name: str) -> ModelIdentity:
    return (await opened.platform.servers.find_by_name(name))[1]


async def test_reindex_switches_the_model_and_drop_old_removes_the_previous_index(
    old: EmbeddingServer, new: EmbeddingServer
) -> None:
    async with engines() as opened, open_platform() as platform:
        await fill(opened, "a", "b", "c")
        began = time.monotonic()
        done = await change(platform, "new")
        assert time.monotonic() - began > 2 * KNOWN_SECONDS, "others may look more rarely than is set here"
        assert (done.embedded, done.passages, done.before.name) == (3, 3, "old")
        await opened.indexes.refresh()
        assert opened.indexes.read_index.model.name == "new"
        asked = len(old.texts)
        await fill(opened, "d")
        assert (len(old.texts), new.texts[-1]) == (asked, "[Domain: d] [Type: s] text of d")
        lines = "\n".join((await platform.status()).lines())
        assert "4 passages" in lines
        assert [model.name for model in await platform.drop_old()] == ["old"]
        assert (await change(platform)).embedded == 0, "the index in use has everything"


async def test_reindex_of_an_empty_store_raises_missing_record_error() -> None:
    async with open_platform() as platform:
        with pytest.raises(MissingRecordError):
            await change(platform)


async def test_a_reindex_killed_after_the_alias_swap_continues_without_mismatch() -> None:
    async with engines() as opened:
        await fill(opened, "a")
        other = await identity(opened, "new")
        used = opened.indexes.read_index.model
        collections = opened.platform.collections
        await collections.swap(await collections.ensure(other))
    async with open_platform() as platform:
        await platform.graph.record.set_model(used, ModelChange(other))
        async with engines() as opened:
            assert opened.indexes.read_index.model == used, "the graph's word counts"
            assert (await opened.indexes.write_index()).model == used
        with pytest.raises(StateConflictError, match="is in progress"):
            await platform.drop_old()
        assert (await change(platform)).model == other, "it goes on"
        assert (await platform.graph.record.models()).used == other


async def test_a_model_mismatch_of_graph_and_alias_names_the_reindex_command() -> None:
    async with engines() as opened:
        collections = opened.platform.collections
        await collections.swap(await collections.ensure(await identity(opened, "new")))
    with pytest.raises(ModelMismatchError, match="vicw reindex --platform"):
        async with engines():
            pass


async def test_reindex_leaves_a_model_whose_embedding_server_is_gone(
    new: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engines() as opened:
        await fill(opened, "a", "b")
    monkeypatch.setenv("VICW_EMBEDDING_URL", new.url)
    with pytest.raises(ModelMismatchError, match=r"are of old .* has new.*`vicw reindex --platform --model"):
        async with engines():
            pass
    async with open_platform() as platform:
        assert (await change(platform, "new")).embedded == 2
    async with engines() as opened:
        assert opened.indexes.read_index.model.name == "new"


async def test_reindex_to_the_model_in_use_cancels_a_started_change(
    new: EmbeddingServer, monkeypatch: pytest.MonkeyPatch, old: EmbeddingServer
) -> None:
    async with engines() as opened:
        await fill(opened, "a")
        used, other = opened.indexes.read_index.model, await identity(opened, "new")
        await opened.graph.record.set_model(used, ModelChange(other))
        monkeypatch.setenv("VICW_EMBEDDING_URL", old.url)
        async with open_platform() as platform:
            await change(platform, "old")
        assert (await opened.graph.record.models()).change is None
