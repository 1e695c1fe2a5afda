"""Vector indexes in the folders of a data directory, for a server or for a directory that no server has open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from vicw_ingest.index.service import Indexer
from vicw_runtime.indexes import Index, Indexes
from vicw_runtime.model_servers.prefixes import query_prefix, with_passage_prefix
from vicw_shared.errors import DataDirError, ModelMismatchError, SettingsError
from vicw_shared.ports import Embedder, ModelIdentity, Models, Store, VectorStore
from vicw_sleep.reindex.model import ReindexReport
from vicw_sleep.reindex.port import NAME_A_MODEL, NewIndex
from vicw_sleep.reindex.rebuild import mark_lost
from vicw_standalone.embedding_model.choice import choose
from vicw_standalone.embedding_model.embedders import Embedders
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.edge.folders import folder_of, noted_in, open_folder, others
from vicw_stores.null_engines import NullVectorStore


class IndexFolders:
    """Opens and closes the index of a model. ``Indexes`` decides which of them are read and written."""

    def __init__(self, settings: StandaloneSettings, data_dir: DataDir, graph: Store, embedders: Embedders) -> None:
        self._settings = settings
        self._data_dir = data_dir
        self._graph = graph
        self._embedders = embedders
        self._open: dict[ModelIdentity, EdgeVectorStore] = {}
        self._lock = asyncio.Lock()

    def of(self, model: ModelIdentity) -> EdgeVectorStore | None:
        """Return the open index of a model; None if it is not open, or the model has no vectors."""
        return self._open.get(model)

    async def open(self, model: ModelIdentity) -> Index:
        """Open a model's index. Raises ModelMismatchError if no embedder of the model runs."""
        embedder = self._embedders.of(model)
        if not model.has_vectors:
            return Index(model, NullVectorStore(), embedder)
        store = await self.open_vectors(model)
        prefix = query_prefix(self._settings.embedding, model)
        return Index(model, store, with_passage_prefix(embedder, model), prefix)

    async def _open_store(self, model: ModelIdentity) -> EdgeVectorStore:
        used = (await self._graph.record.models()).used
        path = folder_of(self._data_dir.path, model, used)
        if not EdgeVectorStore.closed_cleanly(path):
            self._data_dir.require_room_to_index()  # on a full disk its memory maps would crash the process
        store = self._open[model] = await asyncio.to_thread(open_folder, path, model, anew=model != used)
        return store

    async def open_vectors(self, model: ModelIdentity) -> EdgeVectorStore:
        """Open a model's vectors, without an embedder. Raises StorageFullError, DataDirError."""
        async with self._lock:
            return self._open.get(model) or await self._open_store(model)

    async def open_to_read(self, model: ModelIdentity) -> EdgeVectorStore:
        """Open a model's vectors without an embedder, whatever room there is: nothing is written. Raises DataDirError.

        Their folder has to exist.
        """
        async with self._lock:
            if model not in self._open:
                path = folder_of(self._data_dir.path, model, model)
                self._open[model] = await asyncio.to_thread(EdgeVectorStore, path, model.size)
            return self._open[model]

    def require_room(self) -> None:
        """Raise StorageFullError if the disk has no room for an index to grow."""
        self._data_dir.require_room_to_index()

    async def rewrite(self) -> None:
        """Write the index of every model anew, so that no file has deleted points. Open ones answer meanwhile."""
        async with self._lock:
            used = (await self._graph.record.models()).used
            stores = {store.path: store for store in self._open.values()}
            for folder in others(self._data_dir.path, ()):
                model = noted_in(folder) or used
                # On a full disk the memory maps of the copy would crash the process.
                await asyncio.to_thread(self._data_dir.require_room_to_copy, folder)
                if folder in stores:
                    await stores[folder].rewrite()
                elif model is not None and model.has_vectors and EdgeVectorStore.exists(folder):
                    closed = await asyncio.to_thread(EdgeVectorStore, folder, model.size)
                    try:
                        await closed.rewrite()
                    finally:
                        await closed.close()

    async def renew(self) -> None:
        """Rewrite the open indexes of an earlier program, which weigh terms themselves. They answer meanwhile.

        Raises StorageFullError if there is no room for a copy: they stay as they are.
        """
        for store in list(self._open.values()):
            if store.weighs_terms:
                async with self._lock:
                    await asyncio.to_thread(self._data_dir.require_room_to_copy, store.path)
                    await store.rewrite()

    async def open_or_replace(self, model: ModelIdentity, used: ModelIdentity | None) -> Index:
        """Open a model's index; replace it if it cannot be read. That of the model in use is then marked as lost."""
        if model != used or model in self._open:
            return await self.open(model)
        folder = folder_of(self._data_dir.path, model, used)
        if not EdgeVectorStore.exists(folder):
            await mark_lost(self._graph)
        try:
            return await self.open(model)
        except DataDirError:
            await mark_lost(self._graph)
            await self.remove(folder)
        return await self.open(model)

    async def remove(self, folder: Path) -> None:
        """Remove an index that is not open."""
        async with self._lock:
            await asyncio.to_thread(EdgeVectorStore.destroy, folder)

    async def close(self, model: ModelIdentity) -> None:
        """Close an index that is no longer in use, and end its embedder; the folder stays."""
        async with self._lock:
            store = self._open.pop(model, None)
            if store is not None:
                await store.close()
        await self._embedders.end(model)

    async def close_all(self) -> None:
        """Close all open indexes, including one that is being filled, which is neither read nor written yet."""
        for store in self._open.values():
            await store.close()


class EdgeIndexes:
    """IndexEngine of a data directory. ``indexer`` writes to ``indexes``."""

    command = "vicw reindex"
    grace_seconds = 10.0
    """Time for questions that began before the swap to finish with the old index."""

    def __init__(
        self,
        data_dir: Path,
        folders: IndexFolders,
        embedders: Embedders,
        indexes: Indexes,
        indexer: Indexer,
        graph: Store,
        throttle: Callable[[VectorStore], VectorStore] = lambda vectors: vectors,
    ) -> None:
        self._graph = graph
        self._throttle = throttle
        self._data_dir = data_dir
        self._folders = folders
        self._embedders = embedders
        self._indexes = indexes
        self._indexer = indexer
        self._retiring: asyncio.Task[None] | None = None
        self.made: Index | None = None
        """The index that ``make`` opened last."""

    async def require(self, name: str | None, models: Models) -> None:
        """Raise the errors of ``Embedders.require``, or SettingsError if there are no vectors and no name."""
        if name is not None:
            await self._embedders.require(name)
        elif models.change is None and (models.used is None or not models.used.has_vectors):
            raise SettingsError("there are no vectors to compute (VICW_EMBEDDER=none)")

    async def make(self, name: str | None, models: Models) -> NewIndex:
        """Open the index of a model, with its embedder."""
        await self._retired()  # the model may be the one to return to
        model = await self._start(name, models)
        self.made = index = await self._folders.open_or_replace(model, models.used)
        return NewIndex(index, self._indexer, self._embedders.source(model))

    async def known(self) -> None:
        """Read the record: no other process reads or writes these indexes."""
        await self._indexes.refresh()

    async def swap(self, new: NewIndex) -> None:
        """Make the model the choice of this data directory."""
        await asyncio.to_thread(choose, self._data_dir, new.source)

    async def ended(self, new: NewIndex, report: ReindexReport | None) -> None:
        """Close what is no longer used: after a change the old index, after a failure the new one."""
        model, store = new.index.model, self._folders.of(new.index.model)
        await self._indexes.refresh()
        if report is None and model != self._indexes.models.used:
            await self._close(model)
        if report is not None and store is not None:
            store.mark_compared()
        if report is not None and report.before is not None:
            self._retiring = asyncio.create_task(self._retire(report.before), name="retiring")

    async def sizes(self, models: Models) -> dict[ModelIdentity, int | None]:
        """Return the models that have an index."""
        # The model in use comes first: an old folder has no record.
        models_with_index = (models.used, *map(noted_in, others(self._data_dir, ())))
        return {model: None for model in models_with_index if model is not None}

    async def drop_unused(self, models: Models) -> list[ModelIdentity]:
        """Remove the other folders."""
        if models.used is None:
            return []
        await self._retired()
        folders = others(self._data_dir, {folder_of(self._data_dir, models.used, models.used)})
        dropped = [noted_in(folder) for folder in folders]
        for folder in folders:
            await self._folders.remove(folder)
        return [model for model in dropped if model is not None]

    async def require_engine(self) -> None:
        """Do nothing: the engine is in this process."""

    async def read(self, model: ModelIdentity) -> VectorStore | None:
        """Return the vectors of the model in use, opened without its embedder; None if the folder is missing."""
        if not EdgeVectorStore.exists(folder_of(self._data_dir, model, model)):
            return None
        return self._throttle(await self._folders.open_to_read(model))

    async def fill(self, model: ModelIdentity) -> VectorStore | None:
        """Return the index for vectors of a model, opened without its embedder; None if another model is in use."""
        used = (await self._graph.record.models()).used
        if used not in {None, model}:
            return None
        if used is None:
            await self._graph.record.set_model(model)
        if not model.has_vectors:
            return NullVectorStore()
        self._folders.require_room()
        if used is not None and not EdgeVectorStore.exists(folder_of(self._data_dir, model, model)):
            await mark_lost(self._graph)
        return self._throttle(await self._folders.open_vectors(model))

    async def close(self) -> None:
        """Stop waiting for questions."""
        if self._retiring is not None:
            self._retiring.cancel()
            await self._retired()

    async def _start(self, name: str | None, models: Models) -> ModelIdentity:
        if name is None and models.change is not None:
            name = models.change.source or models.change.model.name
        if name is not None:
            return (await self._embedders.another(name, models.used)).model
        if models.used is not None and self._folders.of(models.used) is not None:
            return models.used
        try:
            started = await self._embedders.first(models.used)
        except ModelMismatchError:  # then the servers' present model is meant
            started = await self._embedders.first(None)
        if not started.model.has_vectors:
            raise SettingsError(f"VICW_EMBEDDER is none: there are no vectors to compute. {NAME_A_MODEL}")
        return started.model

    async def _retire(self, model: ModelIdentity) -> None:
        await asyncio.sleep(self.grace_seconds)
        await self._close(model)

    async def _close(self, model: ModelIdentity) -> None:
        self._indexes.forget(model)
        await self._folders.close(model)

    async def _retired(self) -> None:
        if self._retiring is not None:
            await asyncio.wait({self._retiring})


def open_engine(settings: StandaloneSettings, graph: Store, stack: AsyncExitStack, *given: Embedder) -> EdgeIndexes:
    """Return the engine of a data directory that this process alone has open. It opens nothing yet."""
    storage, ingest = settings.storage, settings.ingest
    data_dir = DataDir(storage.data_dir, min_free_mb=storage.min_free_mb)  # for its path and its limits
    embedders = Embedders(settings, *given)
    stack.push_async_callback(embedders.close)
    folders = IndexFolders(settings, data_dir, graph, embedders)
    stack.push_async_callback(folders.close_all)

    async def filled(model: ModelIdentity) -> Index:
        """Return the new index, which is the only one to be written; the one in use stays closed."""
        return engine.made or await folders.open(model)

    indexes = Indexes(graph.record, filled)
    indexer = Indexer(
        graph.outbox, indexes, ingest.batch, ingest.max_tries, require_room=data_dir.require_room_to_index
    )
    engine = EdgeIndexes(storage.data_dir, folders, embedders, indexes, indexer, graph)
    stack.push_async_callback(engine.close)
    return engine
