"""Vector indexes in the collections of the platform's Qdrant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from vicw_ingest.index.indexer import Indexer
from vicw_runtime.indexes import Index, Indexes, wait_for_followers
from vicw_shared.errors import MissingRecordError
from vicw_shared.extensions import load_registries
from vicw_shared.ports import ModelIdentity, Models, Store
from vicw_shared.settings import IngestSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_sleep.reindex.model import ReindexReport
from vicw_sleep.reindex.port import NewIndex
from vicw_sleep.reindex.service import Reindexing
from vicw_standalone.platform_stores import named_engines, read_platform

if TYPE_CHECKING:
    from vicw_runtime.platform.engines import PlatformIndexes

_START_SECONDS = 20.0


class QdrantIndexes:
    """IndexEngine of the platform. ``wait`` returns when all services have read the record."""

    command = "vicw reindex --platform"

    def __init__(
        self,
        graph: Store,
        indexes: PlatformIndexes,
        ingest: IngestSettings,
        wait: Callable[[], Awaitable[None]] = wait_for_followers,
    ) -> None:
        self._graph = graph
        self._platform = indexes
        self._ingest = ingest
        self._wait = wait
        self._written: Indexes

    async def require(self, name: str | None, models: Models) -> None:
        """Raise ModelMismatchError that lists the model of each embedding server, if none has this model."""
        if name is not None:
            await self._platform.servers.find_by_name(name, but=models.used)

    async def make(self, name: str | None, models: Models) -> NewIndex:
        """Open the collection of a model, with the embedding server that has it."""
        index = await self._open(name, models)

        async def opener(_: ModelIdentity) -> Index:
            return index

        self._written = Indexes(self._graph.record, opener)
        indexer = Indexer(self._graph.outbox, self._written, self._ingest.batch, self._ingest.max_tries)
        return NewIndex(index, indexer)

    async def known(self) -> None:
        """Wait until the services have read the record, and read it."""
        await self._wait()
        await self._written.refresh()

    async def swap(self, new: NewIndex) -> None:
        """Point the alias at the new collection."""
        collections = self._platform.collections
        await collections.swap(collections.name_of(new.index.model))

    async def ended(self, new: NewIndex, report: ReindexReport | None) -> None:
        """Close the connection to the new collection. The services close that to the old one."""
        await new.index.vectors.close()

    async def sizes(self, models: Models) -> dict[ModelIdentity, int | None]:
        """Return how many points each collection has."""
        return {each.model: each.points for each in await self._platform.collections.all()}

    async def drop_unused(self, models: Models) -> list[ModelIdentity]:
        """Remove the collections that are neither in use nor behind the alias."""
        collections = self._platform.collections
        old = [each for each in await collections.all() if not each.current and each.model != models.used]
        for each in old:
            await collections.drop(each.name)
        return [each.model for each in old]

    async def _open(self, name: str | None, models: Models) -> Index:
        platform = self._platform
        if name is not None:
            embedder, identity = await platform.servers.find_by_name(name, but=models.used)
            return platform.index(identity, await platform.collections.ensure(identity), embedder)
        model = models.change.model if models.change is not None else models.used
        if model is None:
            raise MissingRecordError("Nothing is stored yet: there is nothing to index")
        return await platform.open(model, seconds=_START_SECONDS)


@asynccontextmanager
async def open_reindexing(wait: Callable[[], Awaitable[None]] = wait_for_followers) -> AsyncIterator[Reindexing]:
    """Open the platform's engines for a change of its model."""
    settings = read_platform()
    from vicw_runtime.platform.engines import PlatformIndexes

    with named_by_variable():
        ingest = IngestSettings()
    async with AsyncExitStack() as stack:
        with named_engines(settings):
            graph, indexes = await PlatformIndexes.open_with_graph(settings, load_registries().edges, stack)
        yield Reindexing(graph, QdrantIndexes(graph, indexes, ingest, wait))
