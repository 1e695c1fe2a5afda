"""A data directory as the source of an export and the target of an import."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain, count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vicw_shared.errors import StateConflictError
from vicw_shared.extensions import load_registries
from vicw_shared.ports import ModelIdentity, VectorStore
from vicw_sleep.archive.exporter import ExportSource
from vicw_sleep.archive.importer import ImportTarget
from vicw_sleep.reindex.rebuild import mark_lost
from vicw_standalone.offline import open_beside, open_offline
from vicw_standalone.remote import Remote
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.edge.folders import folder_of, open_folder
from vicw_stores.null_engines import NullVectorStore
from vicw_stores.sqlite import GRAPH, SqliteGraphStore
from vicw_stores.sqlite.keys import SqliteKeyRing


class RemoteVectors:
    """Vectors of a model, fetched from a server."""

    def __init__(self, remote: Remote, model: ModelIdentity) -> None:
        self._remote = remote
        self._model = model

    async def dense(self, ids: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the vectors of at most 1000 points, by id; points without one are omitted.

        Raises StateConflictError if the server has changed its model, UnavailableError, FatalError on a refusal.
        """
        answer = await asyncio.to_thread(self._remote.vectors, ids)
        if answer.model != self._model.key:
            raise StateConflictError("The server's model has changed meanwhile: run the export again")
        return {uid: np.frombuffer(base64.b64decode(row), "<f4") for uid, row in answer.vectors.items()}


CHANGING = "A model change is in progress: let `vicw reindex` finish it first"


@asynccontextmanager
async def open_source(settings: StandaloneSettings) -> AsyncIterator[tuple[ExportSource, SqliteKeyRing]]:
    """Open the source of an export. A running server supplies the vectors: only its process can open the index.

    Raises DataDirError if there is no store, or a process other than a server has it open.
    """
    path = settings.storage.data_dir
    ring = SqliteKeyRing(path / GRAPH)
    if (server := DataDir.read_address(path)) is not None:
        async with open_beside(path) as beside:
            model = (await beside.record.models()).used
            with Remote(server) as remote:
                vectors_of_server = RemoteVectors(remote, model) if model is not None and model.has_vectors else None
                yield ExportSource(graph=beside, vectors=vectors_of_server, model=model), ring
        return
    async with open_offline(settings) as (graph, vectors):
        yield ExportSource(graph=graph, vectors=vectors, model=(await graph.record.models()).used), ring


@asynccontextmanager
async def open_target(settings: StandaloneSettings) -> AsyncIterator[ImportTarget]:
    """Open the target of an import; create it if it is missing. Raises DataDirError while a server has it open."""
    storage = settings.storage
    async with AsyncExitStack() as stack:
        data_dir = stack.enter_context(DataDir(storage.data_dir, min_free_mb=storage.min_free_mb))
        graph = SqliteGraphStore(data_dir, load_registries().edges)
        stack.push_async_callback(graph.close)
        if (await graph.record.models()).change is not None:
            raise StateConflictError(CHANGING)

        async def open_vectors(model: ModelIdentity) -> VectorStore | None:
            used = (await graph.record.models()).used
            if used not in {None, model}:
                return None
            if not model.has_vectors:
                await graph.record.set_model(model)
                return NullVectorStore()
            data_dir.require_room_to_index()
            folder = folder_of(data_dir.path, model, model)
            if used is not None and not EdgeVectorStore.exists(folder):
                await mark_lost(graph)
            store = await asyncio.to_thread(open_folder, folder, model, anew=False)
            stack.push_async_callback(store.close)
            await graph.record.set_model(model)
            return store

        yield ImportTarget(graph=graph, open_vectors=open_vectors, keys=SqliteKeyRing(data_dir.path / GRAPH))


def move_aside(data_dir: Path, name: str) -> Path:
    """Move the graph and the indexes of a data directory into a new folder inside it; return the folder.

    Raises DataDirError while another process has the directory open.
    """
    with DataDir(data_dir):
        names = chain([name], (f"{name}-{number}" for number in count(2)))
        aside = next(data_dir / candidate for candidate in names if not (data_dir / candidate).exists())
        aside.mkdir(mode=0o700)
        # The graph is moved last: without its indexes it gets new ones, but another graph must not find these.
        for path in sorted(data_dir.iterdir(), reverse=True):
            if path.name.startswith((GRAPH, "vectors")):
                path.rename(aside / path.name)
        return aside
