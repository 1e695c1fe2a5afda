"""The platform's engines, opened from settings: what the wiring of every service apart has in common."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from vicw_shared.adapters.embedders import open_embedder, query_prefix
from vicw_shared.adapters.neo4j import Neo4jGraphStore
from vicw_shared.adapters.openai_embedder import OpenAIEmbedder
from vicw_shared.adapters.qdrant import QdrantCollections, QdrantVectorStore, connect
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import ModelIdentity
from vicw_shared.settings import EmbeddingSettings, Neo4jSettings, QdrantSettings

PROBED = ("embedding", "graph", "vectors")


@dataclass(frozen=True, slots=True)
class PlatformSettings:
    """Where the engines are."""

    neo4j: Neo4jSettings
    qdrant: QdrantSettings
    embedding: EmbeddingSettings

    @classmethod
    def read(cls) -> PlatformSettings:
        """Read the environment."""
        return cls(Neo4jSettings(), QdrantSettings(), EmbeddingSettings())


@dataclass(frozen=True, slots=True)
class Engines:
    """The open engines. ``query_prefix`` is what the model wants before a question."""

    graph: Neo4jGraphStore
    vectors: QdrantVectorStore
    embedder: OpenAIEmbedder
    model: ModelIdentity
    query_prefix: str

    async def probe(self, name: str) -> None:
        """Raise if the engine of this name (``PROBED``) does not answer."""
        match name:
            case "graph":
                await self.graph.store_id()
            case "vectors":
                await self.vectors.ids(after=None, limit=1)
            case "embedding":
                await self.embedder.identity()

    async def describe(self, tenant: str) -> dict[str, object]:
        """Return what a client may want to know of a store that answers: its name, the passages not found yet."""
        waiting = (await self.graph.backlog(tenant)).waiting
        return {"store": await self.graph.store_id(), "passages_waiting": waiting}


async def open_engines(settings: PlatformSettings, registry: EdgeRegistry, stack: contextlib.AsyncExitStack) -> Engines:
    """Open all engines, each closed by ``stack``; schema, collection and indexes are there afterwards.

    Raises UnavailableError, ModelMismatchError, SchemaVersionError or SettingsError.
    """
    embedder = open_embedder(settings.embedding)
    stack.push_async_callback(embedder.close)
    graph = await Neo4jGraphStore.open(settings.neo4j, registry)
    stack.push_async_callback(graph.close)
    model = await embedder.identity()
    client = connect(settings.qdrant)
    stack.push_async_callback(client.close)
    collection = await QdrantCollections(client, settings.qdrant.alias).open(model)
    vectors = QdrantVectorStore(client, collection.name, timeout_seconds=settings.qdrant.timeout_seconds)
    stack.push_async_callback(vectors.close)
    if await graph.model() is None:
        await graph.set_model(model)
    return Engines(graph, vectors, embedder, model, query_prefix(settings.embedding, model))
