"""Builds everything from settings, once; tests call the same wiring with an embedder of their own."""

from __future__ import annotations

import asyncio
import contextlib
import re
from pathlib import Path

import httpx
import structlog

from vicw_embedding.supervisor import EmbeddingProcess
from vicw_ingest.indexing import Indexer
from vicw_ingest.pipeline import IngestPorts
from vicw_ingest.pressure import Pressure
from vicw_retrieval.search import RetrievalPorts
from vicw_shared.adapters.data_dir import DataDir
from vicw_shared.adapters.edge_vector_store import EdgeVectorStore
from vicw_shared.adapters.embedders import open_embedder, query_prefix
from vicw_shared.adapters.openai_embedder import OpenAIEmbedder
from vicw_shared.adapters.sqlite import SqliteGraphStore
from vicw_shared.adapters.sqlite.keys import SqliteKeyRing
from vicw_shared.embedding_models import MODELS
from vicw_shared.errors import DataDirError, ModelMismatchError, UnavailableError
from vicw_shared.extensions import load_registries
from vicw_shared.ports import Embedder, ModelIdentity
from vicw_sleep.reconcile import reconcile
from vicw_standalone.settings import Settings

_log = structlog.get_logger()
GRAPH, VECTORS = "graph.sqlite3", "vectors"
_STOP_SECONDS = 1.0
_METRICS_SECONDS = 2.0
_OF_THE_MODEL = re.compile("(# (HELP|TYPE) )?vicw_embedding_")


class Standalone:
    """The open stores, the embedder and the indexer. Opened and closed by one event loop."""

    def __init__(self, settings: Settings, embedder: Embedder | None = None) -> None:
        self.settings = settings
        self.registry = load_registries().edges
        self._given = embedder
        self._query_prefix = ""
        self._stack = contextlib.AsyncExitStack()
        self.process: EmbeddingProcess | None = None
        self.graph: SqliteGraphStore
        self.vectors: EdgeVectorStore
        self.embedder: Embedder
        self.indexer: Indexer
        self._ingest: IngestPorts

    async def open(self, *, rebuild: bool = False) -> None:
        """Open everything, or nothing.

        With ``rebuild`` the vector index is thrown away, the model is accepted whatever it is, and every
        passage is queued. Raises DataDirError, ModelMismatchError, SchemaVersionError, SettingsError or
        UnavailableError, StorageFullError; each says what to do.
        """
        try:
            await self._open(rebuild)
        except BaseException:
            await self.close()
            raise

    async def _open(self, rebuild: bool) -> None:
        storage = self.settings.storage
        data_dir = self._stack.enter_context(DataDir(storage.data_dir, min_free_mb=storage.min_free_mb))
        self.graph = SqliteGraphStore(data_dir)
        self._stack.push_async_callback(self.graph.close)
        self.embedder = self._given or await self._start_embedder()
        self._stack.push_async_callback(self.embedder.close)
        identity = await self.embedder.identity()
        self._query_prefix = query_prefix(self.settings.embedding, identity)
        path = data_dir.path / VECTORS
        if rebuild:
            # In this order: killed at any point, the next start finds vectors of the remembered model or none.
            EdgeVectorStore.destroy(path)
            await self.graph.set_model(identity)
        await self._require_agreement(identity, path, rebuild)
        if not EdgeVectorStore.closed_in_order(path):
            data_dir.require_room_to_index()  # on a full disk its memory maps would kill us without a word
        self.vectors = await asyncio.to_thread(EdgeVectorStore, path, identity.size)
        self._stack.push_async_callback(self.vectors.close)
        await self._agree_on_points(rebuild)
        self.indexer = Indexer(
            self.graph,
            self.vectors,
            self.embedder,
            self.settings.ingest.batch,
            self.settings.ingest.max_tries,
            require_room=data_dir.require_room_to_index,
        )
        self._ingest = IngestPorts(
            graph=self.graph,
            record=self.graph,
            outbox=self.graph,
            indexer=self.indexer,
            queue=self.indexer,
            pressure=Pressure(self.graph, self.settings.ingest.max_backlog),
            registry=self.registry,
            limits=self.settings.limits,
            settings=self.settings.ingest,
        )

    async def _start_embedder(self) -> Embedder:
        settings = self.settings.embedding
        if settings.url is not None:
            return open_embedder(settings)
        self.process = EmbeddingProcess(settings, self.settings.models_dir, stop_seconds=_STOP_SECONDS)
        self._stack.push_async_callback(self.process.close)
        await self.process.start()
        return OpenAIEmbedder(
            uds=self.process.uds, dimensions=settings.dimensions, timeout_seconds=settings.timeout_seconds
        )

    async def _require_agreement(self, identity: ModelIdentity, path: Path, rebuild: bool) -> None:
        known = await self.graph.model()
        if known is None:
            await self.graph.set_model(identity)
        elif known != identity:
            raise ModelMismatchError(
                f"The store was filled by {known}, the embedder is {identity}. {remedy(known, identity)}"
            )
        if not rebuild and not EdgeVectorStore.exists(path) and await self.graph.any_indexed():
            raise DataDirError(f"The vector index {path} is missing. `vicw reindex` rebuilds it from the graph")

    async def _agree_on_points(self, rebuild: bool) -> None:
        if rebuild:
            count = await self.graph.requeue()
            _log.info("rebuilding the vector index", passages=count)
        elif self.vectors.unclean:
            result = await reconcile(self.graph, self.graph, self.vectors)
            self.vectors.agreed()
            _log.info("compared the stores after an unclean end", missing=result.missing, orphaned=result.orphaned)

    def start_indexer(self) -> None:
        """Index in the background until ``close``."""
        task = asyncio.create_task(self.indexer.run(), name="indexer")

        async def stop() -> None:
            task.cancel()
            await asyncio.wait({task})

        self._stack.push_async_callback(stop)

    async def close(self) -> None:
        """Close everything in reverse order. Safe to call twice."""
        await self._stack.aclose()

    def ingest_ports(self) -> IngestPorts:
        """Return what the write path works with."""
        return self._ingest

    def retrieval_ports(self) -> RetrievalPorts:
        """Return what the read path works with."""
        return RetrievalPorts(
            self.graph,
            self.vectors,
            self.embedder,
            self._query_prefix,
            self.settings.limits,
            self.settings.retrieval,
        )

    async def probe_embedding(self) -> None:
        """Raise if the embedder does not answer."""
        if self.process is not None and not self.process.ready:
            raise UnavailableError("embedding", "the embedding process is starting")
        await self.embedder.identity()

    async def embedding_metrics(self) -> bytes:
        """Return what the embedding process counts of its own; nothing while there is none, or it does not answer."""
        if self.process is None or not self.process.ready:
            return b""
        transport = httpx.AsyncHTTPTransport(uds=str(self.process.uds))
        try:
            async with httpx.AsyncClient(transport=transport, timeout=_METRICS_SECONDS) as client:
                told = (await client.get("http://embedding/metrics")).text
        except httpx.HTTPError:
            return b""
        # The rest (requests, memory …) goes by the same names here, and would be told twice.
        return "".join(line for line in told.splitlines(keepends=True) if _OF_THE_MODEL.match(line)).encode()

    @property
    def keys(self) -> SqliteKeyRing:
        """Who may ask."""
        return SqliteKeyRing(self.settings.storage.data_dir / GRAPH)

    async def describe(self, tenant: str) -> dict[str, object]:
        """Return what a client may want to know of a store that answers: its name, the passages not found yet."""
        return {"store": await self.graph.store_id(), "passages_waiting": (await self.graph.backlog(tenant)).waiting}

    async def probe_graph(self) -> None:
        """Raise if the graph does not answer."""
        await self.graph.model()

    async def probe_vectors(self) -> None:
        """Raise if the vector index does not answer."""
        await self.vectors.ids(after=None, limit=1)


def remedy(known: ModelIdentity, wanted: ModelIdentity) -> str:
    """Say what to do about a store that ``known`` has filled when ``wanted`` is to go on with it."""
    again = "Run `vicw reindex` to embed everything anew"
    by_name = known.name != wanted.name and known.name in MODELS
    return f"{again}, or set VICW_EMBEDDING_MODEL={known.name}" if by_name else again
