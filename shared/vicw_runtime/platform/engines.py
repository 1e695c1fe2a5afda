"""Platform engines: opened from settings by the wiring of every platform service."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from vicw_runtime.indexes import Index, Indexes, store_status, wait_for_followers
from vicw_runtime.model_servers.embedders import EmbeddingServers
from vicw_runtime.model_servers.prefixes import query_prefix, with_passage_prefix
from vicw_runtime.platform.settings import PlatformSettings
from vicw_shared.clock import now
from vicw_shared.errors import ModelMismatchError
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import Embedder, ModelIdentity, Models
from vicw_stores.neo4j import Neo4jGraphStore
from vicw_stores.qdrant import QdrantCollections, QdrantVectorStore, connect

PROBED = ("embedding", "graph", "vectors")
_START_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Engines:
    """The open engines."""

    graph: Neo4jGraphStore
    indexes: Indexes
    platform: PlatformIndexes

    async def probe(self, name: str) -> None:
        """Raise if the engine of this name (``PROBED``) does not answer."""
        match name:
            case "graph":
                await self.graph.record.store_id()
            case "vectors":
                await self.indexes.read_index.vectors.ids(after=None, limit=1)
            case "embedding":
                await self.indexes.read_index.embedder.identity()

    async def describe(self, tenant: str | None) -> dict[str, object]:
        """Return ``store_status``, and the reason if the service cannot follow a change of the model."""
        facts = await store_status(self.graph.record, self.graph.outbox, self.indexes, tenant)
        if self.indexes.behind is not None:
            facts |= {"model": str(self.indexes.read_index.model), "behind": self.indexes.behind}
        return facts

    async def restore_index(self) -> None:
        """Recreate the collection in use if it was lost, and read the record. Raises the errors of opening it."""
        await self.platform.prepare()
        await self.indexes.refresh()


class PlatformIndexes:
    """Opens the platform's collections, each with the embedding server that has its model.

    Before it recreates the collection of the model in use for a graph that was indexed, it marks the index as being
    rebuilt (docs/decisions/0012), so that no answer treats the empty collection as complete.
    """

    def __init__(
        self,
        settings: PlatformSettings,
        servers: EmbeddingServers,
        graph: Neo4jGraphStore,
        stack: contextlib.AsyncExitStack,
    ) -> None:
        self.servers = servers
        client = connect(settings.qdrant)
        stack.push_async_callback(client.close)
        self.collections = QdrantCollections(client, settings.qdrant.alias, before_create=self._mark_lost)
        self._settings = settings
        self._graph = graph

    @classmethod
    async def open_with_graph(
        cls, settings: PlatformSettings, registry: EdgeRegistry, stack: contextlib.AsyncExitStack
    ) -> tuple[Neo4jGraphStore, PlatformIndexes]:
        """Open the graph; return it and the opener of its collections, both closed by ``stack``.

        Raises SettingsError, UnavailableError or SchemaVersionError.
        """
        # First, so that a missing VICW_EMBEDDING_URL is reported even if the graph is down.
        servers = EmbeddingServers(settings.embedding)
        stack.push_async_callback(servers.close)
        graph = await Neo4jGraphStore.open(settings.neo4j, registry, timeout_seconds=settings.graph_seconds)
        stack.push_async_callback(graph.close)
        return graph, cls(settings, servers, graph, stack)

    async def prepare(self) -> None:
        """Ensure that graph and alias have the same model; an empty store gets the first server's model.

        Raises ModelMismatchError if the models differ.
        """
        models = await self._graph.record.models()
        if models.used is None:
            _, model = await self.servers.first()
            await self._graph.record.set_model((await self.collections.open(model)).model)
        elif not await self._swapped(models):
            await self.collections.open(models.used)

    async def _mark_lost(self, model: ModelIdentity) -> None:
        """Mark the index as being rebuilt if the collection to be created replaces a lost one with points."""
        if (await self._graph.record.models()).used == model and await self._graph.outbox.any_indexed():
            await self._graph.record.mark_rebuilding(now())
            await wait_for_followers()

    async def _swapped(self, models: Models) -> bool:
        """Return whether a model change was interrupted between the swap of the alias and its record in the graph."""
        current = await self.collections.current()
        return current is not None and models.change is not None and current.model == models.change.model

    async def open(self, model: ModelIdentity, *, seconds: float = 0) -> Index:
        """Return a model's index, creating its collection if missing. Wait up to ``seconds`` for embedding servers.

        Raises ModelMismatchError if no server has the model.
        """
        try:
            embedder = await self.servers.find(model, seconds=seconds)
        except ModelMismatchError as error:
            raise ModelMismatchError(
                f"The store's vectors are of {model}. {error.detail}. Name a server that has it, too (several are "
                "separated by commas), or run `vicw reindex --platform --model NAME` to embed everything anew"
            ) from error
        return self.index(model, await self.collections.ensure(model), embedder)

    def index(self, model: ModelIdentity, collection: str, embedder: Embedder) -> Index:
        """Return a model's index over an existing collection."""
        qdrant = self._settings.qdrant
        # A separate connection, closed with the store.
        vectors = QdrantVectorStore(connect(qdrant), collection, timeout_seconds=qdrant.timeout_seconds)
        prefix = query_prefix(self._settings.embedding, model)
        return Index(model, vectors, with_passage_prefix(embedder, model), prefix)


async def open_engines(settings: PlatformSettings, registry: EdgeRegistry, stack: contextlib.AsyncExitStack) -> Engines:
    """Open all engines, each closed by ``stack``, and create the schema, collection and indexes as far as missing.

    Raises UnavailableError, ModelMismatchError, SchemaVersionError or SettingsError.
    """
    graph, opened = await PlatformIndexes.open_with_graph(settings, registry, stack)
    await opened.prepare()
    patience = [_START_SECONDS]

    async def open_index(model: ModelIdentity) -> Index:
        return await opened.open(model, seconds=patience.pop() if patience else 0)

    indexes = Indexes(graph.record, open_index, poll_seconds=settings.reindex.poll_seconds)
    stack.push_async_callback(indexes.close)
    await indexes.open()
    return Engines(graph, indexes, opened)
