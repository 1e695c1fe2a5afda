"""The run's Neo4j and Qdrant as a platform without services: an alias of the test's own, nothing stored."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from support.servers.neo4j.server import Neo4jServer
from support.servers.qdrant import QdrantServer
from support.stores.graph_records import edge, node, put
from support.stores.neo4j import empty_neo4j
from vicw_ingest.index.service import Indexer
from vicw_runtime.platform.engines import Engines, open_engines
from vicw_runtime.platform.settings import PlatformSettings
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.settings import QdrantSettings
from vicw_stores.qdrant import QdrantCollections, connect


@pytest.fixture(autouse=True)
async def environment(
    neo4j_server: Neo4jServer, qdrant_server: QdrantServer, embedding_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[None]:
    """Where the engines are; ``embedding_url`` is the test's own."""
    empty_neo4j(neo4j_server)
    variables = {
        "VICW_NEO4J_URL": neo4j_server.url,
        "VICW_NEO4J_USER": neo4j_server.user,
        "VICW_NEO4J_PASSWORD": neo4j_server.password,
        "VICW_QDRANT_URL": f"{qdrant_server.url.rpartition(':')[0]}:{qdrant_server.grpc_port}",
        "VICW_QDRANT_ALIAS": f"test-{uuid.uuid4().hex[:8]}",
        "VICW_EMBEDDING_URL": embedding_url,
        "VICW_REINDEX_POLL_SECONDS": "0.05",
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
    """Store an item of each name, with a passage that waits for its vectors."""
    for name in names:
        chunk = node(f"chunk of {name}", Label.CHUNK, text=f"text of {name}")
        item = node(name, content_hash="h", qdrant_id=chunk.uid)
        await put(opened.graph, [item, chunk], [edge("EVIDENCED_BY", name, chunk.name)])


async def index(opened: Engines) -> None:
    await Indexer(opened.graph.outbox, opened.indexes, 16, 30).drain()


async def fill(opened: Engines, *names: str) -> None:
    await store(opened, *names)
    await index(opened)


async def lose() -> None:
    """Remove what there is behind the alias, as if the volume were gone."""
    settings = QdrantSettings()
    client = connect(settings)
    for each in await QdrantCollections(client, settings.alias).all():
        await client.delete_collection(each.name)
    await client.close()
