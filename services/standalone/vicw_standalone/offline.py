"""Stores opened without an embedder, exclusively or beside a running server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from vicw_shared.extensions import load_registries
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.edge.folders import folder_of
from vicw_stores.sqlite import SqliteGraphStore, require_store


@asynccontextmanager
async def open_offline(settings: StandaloneSettings) -> AsyncIterator[tuple[SqliteGraphStore, EdgeVectorStore | None]]:
    """Open a data directory's graph and, if it exists, the vector index in use.

    Raises DataDirError if there is no store or another process has it open.
    """
    path = settings.storage.data_dir
    require_store(path)
    async with AsyncExitStack() as stack:
        data_dir = stack.enter_context(DataDir(path))
        graph = SqliteGraphStore(data_dir, load_registries().edges)
        stack.push_async_callback(graph.close)
        vectors: EdgeVectorStore | None = None
        model = (await graph.record.models()).used
        folder = folder_of(path, model, model) if model is not None and model.has_vectors else None
        if model is not None and folder is not None and EdgeVectorStore.exists(folder):
            vectors = EdgeVectorStore(folder, model.size)
            stack.push_async_callback(vectors.close)
        yield graph, vectors


@asynccontextmanager
async def open_beside(path: Path) -> AsyncIterator[SqliteGraphStore]:
    """Open the graph of a data directory that a server may have open, for its receipts and failed entries.

    Raises DataDirError if there is no store, SchemaVersionError if its schema is of another version.
    """
    require_store(path)
    graph = SqliteGraphStore(DataDir(path), load_registries().edges, beside=True)
    try:
        yield graph
    finally:
        await graph.close()
