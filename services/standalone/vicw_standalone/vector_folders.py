"""Folders of the vector indexes in a data directory, one per model.

The first is ``vectors``; each further one is named after its model. A file in each folder records its model.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from vicw_runtime.indexes import Index
from vicw_runtime.model_servers.embedders import query_prefix
from vicw_shared.errors import DataDirError, StateConflictError
from vicw_shared.model import Label
from vicw_shared.ports import ModelIdentity, StoreRecord
from vicw_standalone.embedders import Embedders
from vicw_standalone.reindex.status import IndexStatus
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.null_engines import NullVectorStore
from vicw_stores.sqlite import SqliteGraphStore

FIRST = "vectors"
_NOTE = "model.json"
_NAMES = re.compile(rf"{FIRST}(-\d+-[0-9a-f]{{12}})?(\.new)?")


def folder_of(data_dir: Path, model: ModelIdentity, used: ModelIdentity | None) -> Path:
    """Return the folder of the index of ``model``, existing or not, in a store that uses ``used``."""
    own, first = data_dir / f"{FIRST}-{model.key}", data_dir / FIRST
    if EdgeVectorStore.exists(own):
        return own
    recorded = noted_in(first)
    # A folder without a record is older than the records, or lost it.
    return first if recorded == model or (recorded is None and model == used) else own


def open_folder(folder: Path, model: ModelIdentity, *, anew: bool) -> EdgeVectorStore:
    """Open a model's index. An unreadable one is replaced if ``anew``, else DataDirError is raised."""
    try:
        store = EdgeVectorStore(folder, model.size)
    except DataDirError:
        if not anew:
            raise
        EdgeVectorStore.destroy(folder)
        store = EdgeVectorStore(folder, model.size)
    if noted_in(folder) != model:
        (folder / _NOTE).write_text(json.dumps(asdict(model)), "utf-8")
    return store


def others(data_dir: Path, kept: Collection[Path]) -> list[Path]:
    """Return the index folders that are not among ``kept``."""
    folders = (path for path in data_dir.iterdir() if path.is_dir() and _NAMES.fullmatch(path.name))
    return sorted(path for path in folders if path not in kept)


def noted_in(folder: Path) -> ModelIdentity | None:
    """Return the model recorded in an index folder; None if there is no record."""
    try:
        return ModelIdentity(**json.loads((folder / _NOTE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


async def status_of(graph: SqliteGraphStore, data_dir: Path) -> IndexStatus:
    """Return the index in use, and the progress of a change."""
    models = await graph.record.models()
    # The model in use comes first: an old folder has no record.
    models_with_index = (models.used, *map(noted_in, others(data_dir, ())))
    return IndexStatus(
        models, await graph.audit.count(Label.CHUNK), {model: None for model in models_with_index if model is not None}
    )


async def drop_others(graph: SqliteGraphStore, data_dir: Path) -> list[ModelIdentity]:
    """Remove unused indexes; return their models. Raises StateConflictError during a model change."""
    models = await graph.record.models()
    if models.change is not None or models.used is None:
        raise StateConflictError("A model change is in progress: `vicw reindex` resumes it")
    folders = others(data_dir, {folder_of(data_dir, models.used, models.used)})
    dropped = [noted_in(folder) for folder in folders]
    for folder in folders:
        EdgeVectorStore.destroy(folder)
    return [model for model in dropped if model is not None]


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
        self._lock = asyncio.Lock()

    @property
    def data_dir(self) -> Path:
        """The data directory."""
        return self._data_dir.path

    def of(self, model: ModelIdentity) -> EdgeVectorStore | None:
        """Return the open index of a model; None if it is not open, or the model has no vectors."""
        return self._open.get(model)

    async def open(self, model: ModelIdentity) -> Index:
        """Open a model's index. Raises ModelMismatchError if no embedder of the model runs."""
        embedder = self._embedders.of(model)
        if not model.has_vectors:
            return Index(model, NullVectorStore(), embedder)
        async with self._lock:
            store = self._open.get(model) or await self._open_store(model)
        return Index(model, store, embedder, query_prefix(self._settings.embedding, model))

    async def _open_store(self, model: ModelIdentity) -> EdgeVectorStore:
        used = (await self._record.models()).used
        path = folder_of(self._data_dir.path, model, used)
        if not EdgeVectorStore.closed_cleanly(path):
            self._data_dir.require_room_to_index()  # on a full disk its memory maps would crash the process
        store = self._open[model] = await asyncio.to_thread(open_folder, path, model, anew=model != used)
        return store

    async def rewrite(self) -> None:
        """Write the index of every model anew, so that no file has deleted points. Open ones answer meanwhile."""
        async with self._lock:
            used = (await self._record.models()).used
            stores = {store.path: store for store in self._open.values()}
            for folder in others(self._data_dir.path, ()):
                model = noted_in(folder) or used
                if folder in stores:
                    await stores[folder].rewrite()
                elif model is not None and model.has_vectors and EdgeVectorStore.exists(folder):
                    closed = await asyncio.to_thread(EdgeVectorStore, folder, model.size)
                    try:
                        await closed.rewrite()
                    finally:
                        await closed.close()

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
