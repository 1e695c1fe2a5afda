"""Change of the model in a data directory that no server has open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from vicw_ingest.index.indexer import Indexer
from vicw_runtime.indexes import Index, Indexes
from vicw_shared.errors import DataDirError, ModelMismatchError, SettingsError
from vicw_shared.extensions import load_registries
from vicw_shared.ports import Embedder, ModelIdentity
from vicw_shared.progress import Progress
from vicw_standalone.embedders import Embedders, RunningEmbedder
from vicw_standalone.model_choice import choose
from vicw_standalone.offline import require_store
from vicw_standalone.reindex.change import Reindexer, ReindexReport, mark_lost
from vicw_standalone.reindex.online import NAME_A_MODEL
from vicw_standalone.reindex.status import IndexStatus
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.vector_folders import drop_others, folder_of, open_folder, status_of
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.sqlite import SqliteGraphStore


@asynccontextmanager
async def _opened(settings: StandaloneSettings) -> AsyncIterator[tuple[DataDir, SqliteGraphStore]]:
    storage = settings.storage
    require_store(storage.data_dir)
    with DataDir(storage.data_dir, min_free_mb=storage.min_free_mb) as data_dir:
        graph = SqliteGraphStore(data_dir, load_registries().edges)
        try:
            yield data_dir, graph
        finally:
            await graph.close()


async def reindex(
    settings: StandaloneSettings, model: str | None, progress: Progress, *given: Embedder
) -> ReindexReport:
    """Change to ``model``; without one, resume the change in progress, else change to the model of the settings.

    Raises DataDirError, SettingsError and the errors of ``Reindex.run``.
    """
    async with AsyncExitStack() as stack:
        data_dir, graph = await stack.enter_async_context(_opened(settings))
        models, embedders = await graph.record.models(), Embedders(settings, *given)
        stack.push_async_callback(embedders.close)
        if model is None and models.change is not None:
            model = models.change.source or models.change.model.name
        started = await _start(embedders, model, models.used)
        data_dir.require_room_to_index()
        store = await _open(graph, folder_of(data_dir.path, started.model, models.used), started.model, models.used)
        stack.push_async_callback(store.close)
        target = Index(started.model, store, started.embedder)

        async def opener(_: ModelIdentity) -> Index:
            return target

        async def swap() -> None:
            choose(settings.storage.data_dir, started.source)

        indexes, ingest = Indexes(graph.record, opener), settings.ingest
        indexer = Indexer(
            graph.outbox, indexes, ingest.batch, ingest.max_tries, require_room=data_dir.require_room_to_index
        )
        done = await Reindexer(graph, target, indexer, progress, indexes.refresh, swap, source=started.source).run()
        store.mark_compared()
        return done


async def status(settings: StandaloneSettings) -> IndexStatus:
    """Return the index in use, and the progress of a change."""
    async with _opened(settings) as (data_dir, graph):
        return await status_of(graph, data_dir.path)


async def drop_old(settings: StandaloneSettings) -> list[ModelIdentity]:
    """Remove unused indexes; return their models. Raises StateConflictError during a model change."""
    async with _opened(settings) as (data_dir, graph):
        return await drop_others(graph, data_dir.path)


async def _open(
    graph: SqliteGraphStore, folder: Path, model: ModelIdentity, used: ModelIdentity | None
) -> EdgeVectorStore:
    """Open the index to fill. An unreadable one is replaced; that of the model in use is then marked as lost."""
    if model == used:
        if not EdgeVectorStore.exists(folder):
            await mark_lost(graph)
        try:
            return await asyncio.to_thread(open_folder, folder, model, anew=False)
        except DataDirError:
            await mark_lost(graph)
    return await asyncio.to_thread(open_folder, folder, model, anew=True)


async def _start(embedders: Embedders, model: str | None, used: ModelIdentity | None) -> RunningEmbedder:
    if model is not None:
        return await embedders.another(model, used)
    try:
        started = await embedders.first(used)
    except ModelMismatchError:  # then the servers' present model is meant
        started = await embedders.first(None)
    if not started.model.has_vectors:
        raise SettingsError(f"VICW_EMBEDDER is none: there are no vectors to compute. {NAME_A_MODEL}")
    return started
