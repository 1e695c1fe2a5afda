"""The same on a data directory that no server has open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from vicw_ingest.indexing import Indexer
from vicw_ingest.reindexing import Reindex, Reindexed, Steps
from vicw_shared.adapters.data_dir import DataDir
from vicw_shared.adapters.edge import EdgeVectorStore
from vicw_shared.adapters.sqlite import SqliteGraphStore
from vicw_shared.errors import ConflictError, DataDirError, ModelMismatchError, SettingsError
from vicw_shared.extensions import load_registries
from vicw_shared.indexes import Index, Indexes
from vicw_shared.model import Label
from vicw_shared.ports import Embedder, ModelChange, ModelIdentity
from vicw_shared.progress import Progress
from vicw_standalone.changed_model import settle_change
from vicw_standalone.choices import keep_choice
from vicw_standalone.embedders import Embedders, Started
from vicw_standalone.folders import folder_of, noted_in, open_folder, others
from vicw_standalone.offline import require_store
from vicw_standalone.rebuilding import mark_lost
from vicw_standalone.reindexing.serving import NAME_IT, remove
from vicw_standalone.reindexing.status import Status, known
from vicw_standalone.settings import Settings


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[tuple[DataDir, SqliteGraphStore]]:
    storage = settings.storage
    require_store(storage.data_dir)
    with DataDir(storage.data_dir, min_free_mb=storage.min_free_mb) as data_dir:
        graph = SqliteGraphStore(data_dir, load_registries().edges)
        try:
            yield data_dir, graph
        finally:
            await graph.close()


async def reindex(settings: Settings, model: str | None, progress: Progress, *given: Embedder) -> Reindexed:
    """Change to ``model``; without one, go on with the change under way, or to the model that the settings name.

    Nobody serves meanwhile, so only the index to come is written. Raises DataDirError, SettingsError and what a
    Reindex raises.
    """
    async with AsyncExitStack() as stack:
        data_dir, graph = await stack.enter_async_context(_opened(settings))
        used, _ = await settle_change(graph, settings)
        embedders = Embedders(settings, *given)
        stack.push_async_callback(embedders.close)
        started = await _start(embedders, graph, model, used)
        data_dir.require_room_to_index()
        store = await _open(graph, folder_of(data_dir.path, started.model, used), started.model, used)
        stack.push_async_callback(store.close)
        target = Index(started.model, store, started.embedder)

        async def opener(_: ModelIdentity) -> Index:
            return target

        async def swapped(change: ModelChange) -> None:
            keep_choice(settings, change)

        indexes = Indexes(graph, opener, alone=lambda other: other != started.model)
        ingest = settings.ingest
        indexer = Indexer(graph, indexes, ingest.batch, ingest.max_tries, require_room=data_dir.require_room_to_index)
        steps = Steps(indexes.look, swapped=swapped)
        done = await Reindex(graph, target, indexer, steps, progress, source=started.source).run()
        store.agreed()
        return done


async def _open(
    graph: SqliteGraphStore, folder: Path, model: ModelIdentity, used: ModelIdentity | None
) -> EdgeVectorStore:
    """Open the index to fill. One that cannot be opened is made anew; that of the model in use is then a lost one."""
    if model == used:
        if not EdgeVectorStore.exists(folder):
            await mark_lost(graph)
        try:
            return await asyncio.to_thread(open_folder, folder, model, anew=False)
        except DataDirError:
            await mark_lost(graph)
    return await asyncio.to_thread(open_folder, folder, model, anew=True)


async def _start(
    embedders: Embedders, graph: SqliteGraphStore, model: str | None, used: ModelIdentity | None
) -> Started:
    change = (await graph.models()).change
    if model is None and change is not None:
        model = change.source or change.model.name
    if model is not None:
        return await embedders.another(model, used)
    try:
        started = await embedders.first(used)
    except ModelMismatchError:  # whatever the servers have now is what was meant
        started = await embedders.first(None)
    if not started.model.has_vectors:
        raise SettingsError(f"VICW_EMBEDDER is none: there are no vectors to make. {NAME_IT}")
    return started


async def status(settings: Settings) -> Status:
    """Return which index is in use, and how far a change is."""
    async with _opened(settings) as (data_dir, graph):
        models, folders = await graph.models(), others(data_dir.path, ())
        return Status(models, await graph.count(Label.CHUNK), known(models, map(noted_in, folders)))


async def drop_old(settings: Settings) -> list[ModelIdentity]:
    """Remove the indexes that are not in use; return their models. Raises ConflictError before a change is over."""
    async with _opened(settings) as (data_dir, graph):
        models = await graph.models()
        if models.change is not None or models.used is None:
            raise ConflictError("A change of the model is not over yet: `vicw reindex` goes on with it")
        return remove(others(data_dir.path, {folder_of(data_dir.path, models.used, models.used)}))
