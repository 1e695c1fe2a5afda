"""``open_stores``: the one way to open the stores of a closed data directory or of a platform, for operations."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vicw_runtime.operations import Memory, Opening, Stores
from vicw_shared.errors import UnavailableError, VicwError
from vicw_shared.extensions import load_registries
from vicw_shared.model import Label
from vicw_shared.ports import VectorStore
from vicw_shared.settings import RedisSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_sleep.reindex.service import Reindexing
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.stores.memory import OpenStores
from vicw_standalone.stores.platform import open_graph, read_platform

if TYPE_CHECKING:
    from vicw_runtime.queue.celery_queue import CeleryQueue


@asynccontextmanager
async def open_stores(
    settings: StandaloneSettings, opening: Opening, *, platform: bool = False
) -> AsyncIterator[Stores]:
    """Open what an operation needs: the data directory of the settings, or the platform's engines.

    Raises DataDirError if there is no store, DataDirInUseError if another process has it open, and the errors of
    opening the engines.
    """
    without_models = opening in {Opening.STORES, Opening.NEW}
    async with AsyncExitStack() as stack:
        if platform and without_models:
            yield await _platform_stores(settings, stack)
        elif platform:
            yield await _platform_memory(stack)
        elif without_models:
            create, is_new = opening is Opening.NEW, not settings.storage.data_dir.exists()
            stores = await _directory_stores(settings, stack, create=create)
            try:
                yield stores
            except VicwError:
                is_unused = is_new and not await stores.graph.audit.count(Label.CONTEXT)
                await stack.aclose()
                if is_unused:  # what was to be stored was refused
                    _remove(settings.storage.data_dir)
                raise
        else:
            async with _directory_memory(settings, half=opening is Opening.HALF) as memory:
                yield memory


def _remove(path: Path) -> None:
    """Remove a data directory, unless another process has opened it since."""
    from vicw_stores.data_dir import DataDir

    with suppress(VicwError), DataDir(path):
        shutil.rmtree(path, ignore_errors=True)


async def _directory_stores(settings: StandaloneSettings, stack: AsyncExitStack, *, create: bool) -> OpenStores:
    # The platform's image has no embedded stores.
    from vicw_standalone.index_engines.edge import open_engine
    from vicw_stores.data_dir import DataDir
    from vicw_stores.null_engines import NullQueue
    from vicw_stores.sqlite import GRAPH, SqliteGraphStore, require_store
    from vicw_stores.sqlite.keys import SqliteKeyRing

    storage, registry = settings.storage, load_registries().edges
    path = storage.data_dir
    if not create:
        require_store(path)
    data_dir = stack.enter_context(DataDir(path, min_free_mb=storage.min_free_mb if create else 0))
    graph = SqliteGraphStore(data_dir, registry)
    stack.push_async_callback(graph.close)
    engine = open_engine(settings, graph, stack)

    async def open_vectors() -> VectorStore | None:
        model = (await graph.record.models()).used
        if model is not None and not model.has_vectors:
            return None
        vectors = await engine.read(model) if model is not None else None
        if vectors is None:
            raise UnavailableError("vectors", "the index is missing. `vicw serve` or `vicw reindex` rebuilds it")
        return vectors

    return OpenStores(
        settings=settings,
        registry=registry,
        graph=graph,
        keys=SqliteKeyRing(path / GRAPH),
        open_vectors=open_vectors,
        queue=NullQueue(),
        extraction_queue=NullQueue(),
        data_dir=path,
        alone=True,
        has_vectors=settings.storage.embedder != "none",
        reindexing=Reindexing(graph, engine),
        archive_indexes=engine,
    )


@asynccontextmanager
async def _directory_memory(settings: StandaloneSettings, *, half: bool) -> AsyncIterator[Memory]:
    from vicw_standalone.wiring import Standalone
    from vicw_stores.sqlite import require_store

    require_store(settings.storage.data_dir)
    standalone = Standalone(settings)
    try:
        await standalone.open(half=half)
        yield standalone.memory(alone=True)
        await standalone.indexer.drain()
    finally:
        await standalone.close()


async def _platform_stores(settings: StandaloneSettings, stack: AsyncExitStack) -> OpenStores:
    engines = read_platform()
    from vicw_standalone.index_engines.qdrant import QdrantArchive, QdrantIndexes

    graph = await stack.enter_async_context(open_graph())
    archive = QdrantArchive(engines, graph, stack)
    return OpenStores(
        settings=settings,
        registry=load_registries().edges,
        graph=graph,
        keys=graph.key_ring,
        open_vectors=archive.open_vectors,
        queue=_Workers(),
        extraction_queue=_Workers(extraction=True),
        reindexing=Reindexing(graph, QdrantIndexes(engines, graph, settings.ingest, stack)),
        archive_indexes=archive,
    )


async def _platform_memory(stack: AsyncExitStack) -> Memory:
    from vicw_sleep.settings import SleepServiceSettings
    from vicw_sleep.wiring import SleepWiring

    wiring = SleepWiring(SleepServiceSettings.read())
    await wiring.open()
    stack.push_async_callback(wiring.close)
    return wiring.memory


def _celery_queue(settings: RedisSettings, *, extraction: bool = False) -> CeleryQueue:
    from vicw_runtime.queue.celery_queue import EXTRACT, EXTRACT_QUEUE, CeleryQueue

    return CeleryQueue(settings, task=EXTRACT, queue=EXTRACT_QUEUE) if extraction else CeleryQueue(settings)


class _Workers:
    """WorkQueue of the platform's workers that needs Redis only when it wakes them."""

    def __init__(self, *, extraction: bool = False) -> None:
        self._extraction = extraction

    async def wake(self) -> None:
        with named_by_variable():
            queue = _celery_queue(RedisSettings(), extraction=self._extraction)
        await queue.wake()
        await queue.close()
