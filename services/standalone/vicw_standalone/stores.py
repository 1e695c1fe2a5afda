"""``open_stores``: the one way to open the stores of a closed data directory or of a platform, for operations."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from vicw_runtime.operations import Memory, Opening, Stores
from vicw_shared.errors import UnavailableError
from vicw_shared.extensions import load_registries
from vicw_shared.ports import VectorStore
from vicw_shared.settings import RedisSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_standalone.platform_stores import named_engines, open_graph, read_platform
from vicw_standalone.settings import StandaloneSettings

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
    async with AsyncExitStack() as stack:
        if platform and opening is Opening.STORES:
            yield await _platform_stores(settings, stack)
        elif platform:
            yield await _platform_memory(stack)
        elif opening is Opening.STORES:
            yield await _directory_stores(settings, stack)
        else:
            async with _directory_memory(settings, half=opening is Opening.HALF) as memory:
                yield memory


async def _directory_stores(settings: StandaloneSettings, stack: AsyncExitStack) -> Stores:
    # The platform's image has no embedded stores.
    from vicw_stores.data_dir import DataDir
    from vicw_stores.edge import EdgeVectorStore
    from vicw_stores.edge.folders import folder_of
    from vicw_stores.null_engines import NullQueue
    from vicw_stores.sqlite import GRAPH, SqliteGraphStore, require_store
    from vicw_stores.sqlite.keys import SqliteKeyRing

    path, registry = settings.storage.data_dir, load_registries().edges
    require_store(path)
    graph = SqliteGraphStore(stack.enter_context(DataDir(path)), registry)
    stack.push_async_callback(graph.close)

    async def open_vectors() -> VectorStore | None:
        model = (await graph.record.models()).used
        if model is not None and not model.has_vectors:
            return None
        folder = folder_of(path, model, model) if model is not None else None
        if model is None or folder is None or not EdgeVectorStore.exists(folder):
            raise UnavailableError("vectors", "the index is missing. `vicw serve` or `vicw reindex` rebuilds it")
        vectors = EdgeVectorStore(folder, model.size)
        stack.push_async_callback(vectors.close)
        return vectors

    return Stores(
        settings=settings,
        registry=registry,
        graph=graph,
        keys=SqliteKeyRing(path / GRAPH),
        open_vectors=_once(open_vectors),
        queue=NullQueue(),
        extraction_queue=NullQueue(),
        data_dir=path,
        alone=True,
        has_vectors=settings.storage.embedder != "none",
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


async def _platform_stores(settings: StandaloneSettings, stack: AsyncExitStack) -> Stores:
    engines = read_platform()
    graph = await stack.enter_async_context(open_graph())

    async def open_vectors() -> VectorStore | None:
        from vicw_stores.qdrant import QdrantCollections, QdrantVectorStore, connect

        client = connect(engines.qdrant)
        stack.push_async_callback(client.close)
        with named_engines(engines):
            current = await QdrantCollections(client, engines.qdrant.alias).current()
        if current is None:
            raise UnavailableError("vectors", f"there is no collection behind {engines.qdrant.alias!r} yet")
        vectors = QdrantVectorStore(client, current.name, timeout_seconds=engines.qdrant.timeout_seconds)
        stack.push_async_callback(vectors.close)
        return vectors

    return Stores(
        settings=settings,
        registry=load_registries().edges,
        graph=graph,
        keys=graph.key_ring,
        open_vectors=_once(open_vectors),
        queue=_Workers(),
        extraction_queue=_Workers(extraction=True),
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


def _once[T](work: Callable[[], Awaitable[T]]) -> Callable[[], Awaitable[T]]:
    """Return a function that calls ``work`` once and returns its result from then on."""
    done: list[T] = []

    async def result() -> T:
        if not done:
            done.append(await work())
        return done[0]

    return result
