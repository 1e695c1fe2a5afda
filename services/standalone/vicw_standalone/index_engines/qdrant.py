"""Vector indexes in the collections of the platform's Qdrant."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from vicw_ingest.index.service import Indexer
from vicw_runtime.indexes import Index, Indexes, wait_for_followers
from vicw_runtime.model_servers.embedders import EmbeddingServers
from vicw_runtime.platform.engines import PlatformIndexes
from vicw_runtime.platform.settings import PlatformSettings
from vicw_shared.errors import MissingRecordError, UnavailableError
from vicw_shared.ports import ModelIdentity, Models, VectorStore
from vicw_shared.settings import IngestSettings
from vicw_sleep.reindex.model import ReindexReport
from vicw_sleep.reindex.port import NewIndex
from vicw_standalone.stores.platform import named_engines
from vicw_stores.neo4j import Neo4jGraphStore
from vicw_stores.qdrant import QdrantCollections, QdrantVectorStore, VectorCollection, connect

_START_SECONDS = 20.0


class QdrantIndexes:
    """IndexEngine of the platform. ``wait`` returns when all services have read the record.

    It connects to the engines, and is closed by ``stack``.
    """

    command = "vicw reindex --platform"

    def __init__(
        self,
        settings: PlatformSettings,
        graph: Neo4jGraphStore,
        ingest: IngestSettings,
        stack: AsyncExitStack,
        wait: Callable[[], Awaitable[None]] = wait_for_followers,
    ) -> None:
        self._settings = settings
        self._graph = graph
        self._ingest = ingest
        self._stack = stack
        self._wait = wait
        self._opened: PlatformIndexes | None = None
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

    @property
    def _platform(self) -> PlatformIndexes:
        """The collections and the embedding servers. Raises SettingsError without VICW_EMBEDDING_URL."""
        if self._opened is None:
            servers = EmbeddingServers(self._settings.embedding)
            self._stack.push_async_callback(servers.close)
            self._opened = PlatformIndexes(self._settings, servers, self._graph, self._stack)
        return self._opened

    async def _open(self, name: str | None, models: Models) -> Index:
        platform = self._platform
        if name is not None:
            embedder, identity = await platform.servers.find_by_name(name, but=models.used)
            return platform.index(identity, await platform.collections.ensure(identity), embedder)
        model = models.change.model if models.change is not None else models.used
        if model is None:
            raise MissingRecordError("Nothing is stored yet: there is nothing to index")
        return await platform.open(model, seconds=_START_SECONDS)


class QdrantArchive:
    """The collection in use, as an export and an import need it: without an embedding server.

    It connects when it is first used, and is closed by ``stack``.
    """

    def __init__(self, settings: PlatformSettings, graph: Neo4jGraphStore, stack: AsyncExitStack) -> None:
        self._settings = settings
        self._graph = graph
        self._stack = stack
        self._opened: QdrantCollections | None = None
        self._vectors: dict[str, QdrantVectorStore] = {}

    async def open_vectors(self) -> VectorStore:
        """Return the vectors behind the alias. Raises UnavailableError if there is no collection yet."""
        current = await self._current()
        if current is None:
            raise UnavailableError("vectors", f"there is no collection behind {self._settings.qdrant.alias!r} yet")
        return self._of(current)

    async def require_engine(self) -> None:
        """Raise UnavailableError if the server does not answer."""
        await self._current()

    async def read(self, model: ModelIdentity) -> VectorStore | None:
        """Return the vectors of the model in use; None without a collection of it."""
        current = await self._current()
        return self._of(current) if current is not None and current.model == model else None

    async def fill(self, model: ModelIdentity) -> VectorStore | None:
        """Return the collection for vectors of a model; None if another model is in use, or without vectors."""
        current, used = await self._current(), (await self._graph.record.models()).used
        if used not in {None, model} or not model.has_vectors:
            return None
        if used is not None and current is None:
            raise UnavailableError("vectors", "the collection was lost; start the platform, which rebuilds it")
        collection = await self._collections.open(model)
        await self._graph.record.set_model(model)
        return self._of(collection)

    async def _current(self) -> VectorCollection | None:
        with named_engines(self._settings):
            return await self._collections.current()

    def _of(self, collection: VectorCollection) -> QdrantVectorStore:
        if collection.name not in self._vectors:
            client, seconds = connect(self._settings.qdrant), self._settings.qdrant.timeout_seconds
            vectors = QdrantVectorStore(client, collection.name, timeout_seconds=seconds)
            self._stack.push_async_callback(vectors.close)
            self._vectors[collection.name] = vectors
        return self._vectors[collection.name]

    @property
    def _collections(self) -> QdrantCollections:
        if self._opened is None:
            client = connect(self._settings.qdrant)
            self._stack.push_async_callback(client.close)
            self._opened = QdrantCollections(client, self._settings.qdrant.alias)
        return self._opened
