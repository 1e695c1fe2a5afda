"""The collection in use was lost: whoever makes it anew has said so before, and says so until it has everything."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from contract.graphs import edge, node, put
from neo4j_graphs import empty_neo4j
from servers.neo4j.server import Neo4jServer
from servers.qdrant import QdrantServer
from unit.standalone.foreign_server import Foreign, serving
from vicw_ingest.indexing import Indexer
from vicw_shared.adapters.qdrant import QdrantCollections, connect
from vicw_shared.errors import UnavailableError
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.platform.engines import Engines, open_engines
from vicw_shared.platform.settings import PlatformSettings
from vicw_shared.settings import QdrantSettings
from vicw_sleep.reconcile import Place, reconcile
from vicw_standalone.reindexing.platform import open_platform, reindex


@pytest.fixture
async def model() -> AsyncIterator[Foreign]:
    async with serving("some-model") as foreign:
        yield foreign


@pytest.fixture(autouse=True)
async def environment(
    neo4j_server: Neo4jServer, qdrant_server: QdrantServer, model: Foreign, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[None]:
    empty_neo4j(neo4j_server)
    variables = {
        "VICW_NEO4J_URL": neo4j_server.url,
        "VICW_NEO4J_USER": neo4j_server.user,
        "VICW_NEO4J_PASSWORD": neo4j_server.password,
        "VICW_QDRANT_URL": f"{qdrant_server.url.rpartition(':')[0]}:{qdrant_server.grpc_port}",
        "VICW_QDRANT_ALIAS": f"test-{uuid.uuid4().hex[:8]}",
        "VICW_EMBEDDING_URL": model.url,
        "VICW_REINDEX_LOOK_SECONDS": "0.1",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    yield
    await lose()


@asynccontextmanager
async def engines() -> AsyncIterator[Engines]:
    async with AsyncExitStack() as stack:
        yield await open_engines(PlatformSettings.read(), EdgeRegistry.with_core_types(), stack)


async def store(opened: Engines, *names: str) -> None:
    for name in names:
        chunk = node(f"chunk of {name}", Label.CHUNK, text=f"text of {name}")
        item = node(name, content_hash="h", qdrant_id=chunk.uid)
        await put(opened.graph, [item, chunk], [edge("EVIDENCED_BY", name, chunk.name)])


async def index(opened: Engines) -> None:
    await Indexer(opened.graph, opened.indexes, 16, 30).drain()


async def lose() -> None:
    """Remove what there is behind the alias, as if the volume were gone."""
    settings = QdrantSettings()
    client = connect(settings)
    for each in await QdrantCollections(client, settings.alias).all():
        await client.delete_collection(each.name)
    await client.close()


async def test_a_service_that_starts_says_that_the_collection_was_lost() -> None:
    async with engines() as opened:
        assert "rebuilding" not in await opened.describe("t"), "there was nothing to lose"
        await store(opened, "a", "b")
        await index(opened)
    async with engines() as opened:
        assert opened.indexes.rebuilding is None
    await lose()
    async with engines() as opened:
        lost_at = opened.indexes.rebuilding
        assert lost_at is not None
        assert (await opened.describe("t"))["rebuilding"] == lost_at.isoformat()
        graph, vectors = opened.graph, opened.indexes.reading.vectors
        assert (await reconcile(graph, graph, vectors, start=Place(lost_at=lost_at))).missing == 2
        await index(opened)
        done = await reconcile(graph, graph, vectors, start=Place(lost_at=lost_at))
        assert (done.missing, done.rebuilt) == (0, lost_at)
        assert await graph.clear_rebuilding(lost_at)
        await opened.indexes.look()
        assert "rebuilding" not in await opened.describe("t")


async def test_who_runs_knows_of_the_loss_before_there_is_an_empty_collection() -> None:
    async with engines() as opened, engines() as other:
        await store(opened, "a")
        await index(opened)
        following = asyncio.create_task(other.indexes.follow())
        await lose()
        with pytest.raises(UnavailableError):
            await other.probe("vectors")
        restoring = asyncio.create_task(opened.restore_index())
        async with asyncio.timeout(20):
            while other.indexes.rebuilding is None:
                with pytest.raises(UnavailableError):
                    await other.probe("vectors")
                await asyncio.sleep(0)
        await restoring
        await other.probe("vectors")
        assert opened.indexes.rebuilding == other.indexes.rebuilding
        following.cancel()
        current = await opened.platform.collections.current()
        assert current is not None
        assert current.points == 0


async def test_a_collection_that_is_there_is_not_taken_for_lost() -> None:
    async with engines() as opened:
        await store(opened, "a")
        await opened.restore_index()
        await index(opened)
        await opened.restore_index()
        assert (await opened.graph.models()).rebuilding is None


async def test_what_was_never_indexed_is_not_lost() -> None:
    async with engines() as opened:
        await store(opened, "a")
        await lose()
        await opened.restore_index()
        assert (opened.indexes.rebuilding, (await opened.graph.backlog()).waiting) == (None, 1)


async def test_reindexing_by_hand_makes_a_lost_collection_whole() -> None:
    async with engines() as opened:
        await store(opened, "a", "b", "c")
        await index(opened)
        await lose()
        async with open_platform() as platform:
            done = await reindex(platform, None, lambda *_: None)
        assert (done.embedded, done.points) == (3, 3)
        await opened.restore_index()
        assert opened.indexes.rebuilding is None
