"""The platform's stores as the source of an export and the target of an import."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from vicw_shared.errors import StateConflictError, UnavailableError
from vicw_shared.ports import ModelIdentity, VectorStore
from vicw_sleep.archive.exporter import ExportSource
from vicw_sleep.archive.importer import ImportTarget
from vicw_standalone.platform_stores import named_engines, open_graph, read_platform

if TYPE_CHECKING:
    from vicw_stores.neo4j.key_ring import Neo4jKeyRing


@asynccontextmanager
async def open_source() -> AsyncIterator[tuple[ExportSource, Neo4jKeyRing]]:
    """Open the source of an export: the graph, and the collection of the model in use if there is one."""
    settings = read_platform()
    from vicw_stores.qdrant import QdrantCollections, QdrantVectorStore, connect

    async with AsyncExitStack() as stack:
        graph = await stack.enter_async_context(open_graph())
        client = connect(settings.qdrant)
        stack.push_async_callback(client.close)
        with named_engines(settings):
            current = await QdrantCollections(client, settings.qdrant.alias).current()
        vectors = None
        if current is not None and current.model == (await graph.record.models()).used:
            vectors = QdrantVectorStore(client, current.name, timeout_seconds=settings.qdrant.timeout_seconds)
            stack.push_async_callback(vectors.close)
        yield ExportSource(graph=graph, vectors=vectors, model=(await graph.record.models()).used), graph.key_ring


@asynccontextmanager
async def open_target() -> AsyncIterator[ImportTarget]:
    """Open the target of an import."""
    settings = read_platform()
    from vicw_stores.qdrant import QdrantCollections, QdrantVectorStore, connect

    async with AsyncExitStack() as stack:
        graph = await stack.enter_async_context(open_graph())
        if (await graph.record.models()).change is not None:
            raise StateConflictError("A model change is in progress: let `vicw reindex --platform` finish it first")
        client = connect(settings.qdrant)
        stack.push_async_callback(client.close)
        collections = QdrantCollections(client, settings.qdrant.alias)

        async def open_vectors(model: ModelIdentity) -> VectorStore | None:
            used = (await graph.record.models()).used
            if used not in {None, model} or not model.has_vectors:
                return None
            if used is not None and await collections.current() is None:
                raise UnavailableError("vectors", "the collection was lost; start the platform, which rebuilds it")
            collection = await collections.open(model)
            await graph.record.set_model(model)
            vectors = QdrantVectorStore(client, collection.name, timeout_seconds=settings.qdrant.timeout_seconds)
            stack.push_async_callback(vectors.close)
            return vectors

        with named_engines(settings):
            await collections.current()
        yield ImportTarget(graph=graph, open_vectors=open_vectors, keys=graph.key_ring)
