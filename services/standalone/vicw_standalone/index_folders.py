"""The open vector indexes of one process, each in its own folder."""

from __future__ import annotations

import asyncio

from vicw_shared.adapters.data_dir import DataDir
from vicw_shared.adapters.edge import EdgeVectorStore
from vicw_shared.adapters.embedders import query_prefix
from vicw_shared.adapters.null_vector_store import NullVectorStore
from vicw_shared.indexes import Index
from vicw_shared.ports import ModelIdentity, StoreRecord
from vicw_standalone.embedders import Embedders
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.vector_folders import folder_of, open_folder


class IndexFolders:
    """Opens and closes the index of a model. ``Indexes`` decides which of them are read and written."""

    def __init__(
        self, settings: StandaloneSettings, data_dir: DataDir, record: StoreRecord, embedders: Embedders
    ) -> None:
        self._settings = settings
        self._data_dir = data_dir
        self._record = record
        self._embedders = embedders
        self._open: dict[ModelIdentity, EdgeVectorStore] = {}

    def of(self, model: ModelIdentity) -> EdgeVectorStore | None:
        """Return the open index of a model; None if it is not open, or the model has no vectors."""
        return self._open.get(model)

    async def open(self, model: ModelIdentity) -> Index:
        """Open a model's index. Raises ModelMismatchError if no embedder of the model runs."""
        embedder, store = self._embedders.of(model), self._open.get(model)
        if not model.has_vectors:
            return Index(model, NullVectorStore(), embedder)
        if store is None:
            used = (await self._record.models()).used
            path = folder_of(self._data_dir.path, model, used)
            if not EdgeVectorStore.closed_cleanly(path):
                self._data_dir.require_room_to_index()  # on a full disk its memory maps would crash the process
            store = self._open[model] = await asyncio.to_thread(open_folder, path, model, anew=model != used)
        return Index(model, store, embedder, query_prefix(self._settings.embedding, model))

    async def close(self, model: ModelIdentity) -> None:
        """Close an index that is no longer in use, and end its embedder; the folder stays."""
        store = self._open.pop(model, None)
        if store is not None:
            await store.close()
        await self._embedders.end(model)

    async def close_all(self) -> None:
        """Close all open indexes, including one that is being filled, which is neither read nor written yet."""
        for store in self._open.values():
            await store.close()
