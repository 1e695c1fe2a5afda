"""Wiring of the one-process server from its settings; tests pass their own embedder."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack

import structlog

from vicw_core.archive.import_marker import require_no_import
from vicw_core.background import finish, in_thread, start_background_task
from vicw_embedding.process.supervisor import ChatProcess
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.expiry.service import Expiry
from vicw_ingest.index.service import Indexer
from vicw_ingest.knowledge.bridges.builder import bridges_of
from vicw_ingest.llm_queue.requests import ExtractionBackend
from vicw_ingest.llm_queue.service import PendingExtractor
from vicw_ingest.pipeline import IngestPorts
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_retrieval.request.usage_counter import UsageCounter
from vicw_runtime.background_throttle import BackgroundThrottle, throttled
from vicw_runtime.indexes import Index, Indexes, store_status
from vicw_runtime.model_servers import openai_language
from vicw_runtime.model_servers.http_reranker import HttpReranker, open_reranker
from vicw_runtime.model_servers.openai_language import OpenAILanguageModel
from vicw_runtime.throttled_indexes import throttled_indexes
from vicw_shared.clock import now
from vicw_shared.errors import ModelMismatchError, StorageFullError, VicwError
from vicw_shared.extensions import NOTHING_EXTRACTED, load_extractor, load_registries
from vicw_shared.ports import NO_MODEL, Embedder, VectorStore
from vicw_shared.settings import LlmSettings
from vicw_sleep.mirror.service import Mirror
from vicw_sleep.reconcile.receipts import forget_receipts
from vicw_sleep.reconcile.service import reconcile
from vicw_sleep.reindex.background import BackgroundReindexing
from vicw_sleep.reindex.rebuild import mark_lost, rebuild
from vicw_sleep.reindex.service import Reindexing
from vicw_sleep.schedule.cron import Schedule
from vicw_sleep.schedule.jobs import ScheduledJob, schedules
from vicw_standalone import scheduled_jobs
from vicw_standalone.embedding_model.choice import REINDEX_ADVICE, remedy, vectors_of
from vicw_standalone.embedding_model.embedders import Embedders
from vicw_standalone.index_engines.edge import EdgeIndexes, IndexFolders
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.stores.engine_files import EmbeddedFiles
from vicw_standalone.stores.memory import ServedMemory
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.edge.folders import folder_of
from vicw_stores.edge.rewrite import recover_all
from vicw_stores.null_engines import NullQueue
from vicw_stores.sqlite import GRAPH, SqliteGraphStore
from vicw_stores.sqlite.database import MAPPED_MB
from vicw_stores.sqlite.keys import SqliteKeyRing

_START_SECONDS = 300.0
"""A large file may have to be read from a slow disk."""
_STOP_SECONDS = 1.0
_INDEX_SECONDS = 60.0
"""Longest time that an erasure waits for what is queued for the index."""


async def open_language_model(settings: LlmSettings, stack: AsyncExitStack) -> OpenAILanguageModel | None:
    """Return the model of the settings, closed by ``stack``; None if none is enabled.

    Raises SettingsError or UnavailableError.
    """
    if not settings.enabled:
        return None
    if settings.url is not None:
        model = openai_language.open_language_model(settings)
    else:
        process = ChatProcess(settings, start_seconds=_START_SECONDS, stop_seconds=_STOP_SECONDS)
        stack.push_async_callback(process.close)
        await process.start()
        model = OpenAILanguageModel(uds=process.uds, timeout_seconds=settings.timeout_seconds)
    stack.push_async_callback(model.close)
    return model


_log = structlog.get_logger()
_IMPORT_POLL_SECONDS = 5.0
_RECEIPT_CLEANUP_SECONDS = 1.0
_MAPPED_WITHOUT_VECTORS_MB = 32
"""Mapped memory of the graph in a store without vectors, to keep resident memory under 512 MB."""


class Standalone:
    """The open stores, the embedder and the indexer. Opened and closed by one event loop."""

    def __init__(self, settings: StandaloneSettings, *embedders: Embedder | None) -> None:
        """``embedders`` replace those of the settings; the first one is used first."""
        self.settings = settings
        self.registry = load_registries().edges
        self.embedders = Embedders(settings, *filter(None, embedders))
        self._stack = contextlib.AsyncExitStack()
        self._jobs = contextlib.AsyncExitStack()
        self._jobs_lock = asyncio.Lock()
        self._throttle = BackgroundThrottle(settings.sleep.rest_factor)
        self._outage = CircuitBreaker()
        self._uses = UsageCounter() if settings.retrieval.count_uses else None
        self.data_dir: DataDir
        self.graph: SqliteGraphStore
        self.folders: IndexFolders
        self.indexes: Indexes
        self.indexer: Indexer
        self.expiry: Expiry
        self.index_engine: EdgeIndexes
        self.reindexing: BackgroundReindexing
        self.extractor: PendingExtractor | None
        self.schedules: Mapping[ScheduledJob, Schedule]
        self._reranker: HttpReranker | None = None
        self._ingest: IngestPorts

    async def open(self, *, half: bool = False) -> None:
        """Open everything, or nothing. ``half``: also after an interrupted import; such a store must not be served.

        Raises StateConflictError, DataDirError, ModelMismatchError, SchemaVersionError, SettingsError,
        UnavailableError or StorageFullError; each says what to do.
        """
        try:
            await self._open(half=half)
        except BaseException:
            await self.close()
            raise

    async def _open(self, *, half: bool) -> None:
        storage = self.settings.storage
        self.schedules = schedules(self.settings, now())
        self.data_dir = self._stack.enter_context(DataDir(storage.data_dir, min_free_mb=storage.min_free_mb))
        await in_thread(recover_all, storage.data_dir)
        mapped = MAPPED_MB if storage.embedder == "model" else _MAPPED_WITHOUT_VECTORS_MB
        self.graph = SqliteGraphStore(self.data_dir, self.registry, mapped_mb=mapped, cached_nodes=storage.cached_nodes)
        self._stack.push_async_callback(self.graph.close)
        if not half:
            await require_no_import(self.graph.archive)
        self._stack.push_async_callback(self.embedders.close)
        await self._require_agreement()
        self.folders = IndexFolders(self.settings, self.data_dir, self.graph, self.embedders)
        self.indexes = Indexes(self.graph.record, self.folders.open)
        self._stack.push_async_callback(self.folders.close_all)
        await self.indexes.open()
        await self._reconcile_points()
        before = self.settings.ingest.receipts_before(now())
        with contextlib.suppress(StorageFullError):  # deleting needs disk space first, too
            await forget_receipts(self.graph.record, before, seconds=_RECEIPT_CLEANUP_SECONDS)
        if (change := self.indexes.models.change) is not None:
            _log.warning("a model change is in progress; `vicw reindex` resumes it", model=str(change.model))
        self.indexer = Indexer(
            self.graph.outbox,
            self.indexes,
            self.settings.ingest.batch,
            self.settings.ingest.max_tries,
            require_room=self.data_dir.require_room_to_index,
            bridges=bridges_of(self.graph, self.registry, self.settings.ingest),
        )
        self.expiry = Expiry(self.graph, self.registry, self.indexer)
        if self.settings.rerank.enabled:
            self._reranker = open_reranker(self.settings.rerank)
            self._stack.push_async_callback(self._reranker.close)
        self._model = await open_language_model(self.settings.llm, self._stack)
        self.extractor = self._open_extractor()
        self._ingest = IngestPorts.of(
            self.graph,
            self.indexer,
            self.registry,
            self.settings.limits,
            self.settings.ingest,
            extractor=load_extractor(self.settings.ingest.extractor),
            model=ExtractionBackend(self.extractor, self.extractor) if self.extractor is not None else None,
        )
        self.index_engine = EdgeIndexes(
            storage.data_dir,
            self.folders,
            self.embedders,
            self.indexes,
            self.indexer,
            self.graph,
            lambda vectors: throttled(vectors, self._throttle),
        )
        self._stack.push_async_callback(self.index_engine.close)
        self.reindexing = BackgroundReindexing(Reindexing(self.graph, self.index_engine))
        self._stack.push_async_callback(self.reindexing.close)

    def _open_extractor(self) -> PendingExtractor | None:
        settings, model = self.settings, self._model
        if model is None:
            return None
        extractor = PendingExtractor.of(
            self.graph, model, self.registry, settings.llm, settings.limits, settings.ingest
        )
        self._stack.push_async_callback(extractor.close)
        return extractor

    async def _require_agreement(self) -> None:
        used = (await self.graph.record.models()).used
        try:
            identity = (await self.embedders.first(used)).model
        except ModelMismatchError as error:
            raise ModelMismatchError(f"The store has {vectors_of(used)}. {error.detail}. {REINDEX_ADVICE}") from error
        if used is None:
            await self.graph.record.set_model(identity)
        elif used != identity and not identity.has_vectors:
            _log.warning("answers without vectors (VICW_EMBEDDER=none); the index stays as it is", model=str(used))
            await self.graph.record.set_model(identity)
        elif used != identity:
            raise ModelMismatchError(
                f"The store has {vectors_of(used)}, but the embedder is {identity}. "
                + remedy(used, identity, self.settings.models_dir)
            )
        if identity.has_vectors and not EdgeVectorStore.exists(folder_of(self.data_dir.path, identity, identity)):
            await mark_lost(self.graph)

    async def _reconcile_points(self) -> None:
        folder = self.folders.of(self.indexes.read_index.model)
        if folder is not None and folder.unclean and self.indexes.rebuilding is None:
            result = await reconcile(self.graph.outbox, self.graph.audit, folder, alone=True)
            folder.mark_compared()
            _log.info("compared the stores after an unclean stop", **result.counts)

    def _mark_compared(self, index: Index) -> None:
        folder = self.folders.of(index.model)
        if folder is not None:
            folder.mark_compared()

    @property
    def vectors(self) -> VectorStore:
        """The index in use."""
        return self.indexes.read_index.vectors

    @property
    def embedder(self) -> Embedder:
        """The embedder of the index in use."""
        return self.indexes.read_index.embedder

    async def finish_erasures(self) -> None:
        """Finish what interrupted erasures selected, before anything is answered. A failure is logged."""
        eraser = Eraser(self.graph, self.indexes, self.registry)
        try:
            if await eraser.pending():
                _log.warning("an erasure is not proven yet: `vicw forget resume` searches for what is left")
            await eraser.finish_interrupted()
        except VicwError as error:
            _log.warning("an interrupted erasure could not be finished: `vicw forget resume`", error=error.detail)

    def start_indexer(self) -> None:
        """Start the indexer, the scheduled jobs and the rebuilding of a lost index, until ``close``."""
        if self._ingest.extractor is None:
            _log.info(NOTHING_EXTRACTED)
        start_background_task(self.indexer.run(), self._stack, "indexer")
        if self._uses is not None:
            start_background_task(self._uses.keep_flushing(self.graph.uses), self._stack, "uses")
        if self.extractor is not None:
            start_background_task(self.extractor.run(), self._stack, "extractor")
        start_background_task(rebuild(self.graph, self.indexes, self._mark_compared), self._stack, "rebuilding")
        self._stack.push_async_callback(self._jobs.aclose)
        self._start_jobs()

    def _start_jobs(self) -> None:
        start_background_task(self._run_jobs(), self._jobs, "jobs")

    async def _run_jobs(self) -> None:
        """Run the jobs that change what is stored, once no import is incomplete: they must not meet half of one."""
        while await self.graph.archive.import_mark() is not None:  # noqa: ASYNC110 - another process may end it
            await asyncio.sleep(_IMPORT_POLL_SECONDS)
        async with contextlib.AsyncExitStack() as running:
            start_background_task(self.expiry.run(self.settings.ingest.expiry_seconds), running, "expiry")
            for name, work in scheduled_jobs.work(self.memory(), self.schedules):
                start_background_task(work, running, name)
            await asyncio.Event().wait()

    @contextlib.asynccontextmanager
    async def without_jobs(self) -> AsyncIterator[None]:
        """Stop the jobs for the block, one block at a time; they start again after it."""
        async with self._jobs_lock:
            try:
                await finish(self._jobs.aclose())
                yield
            finally:
                self._start_jobs()

    async def close(self) -> None:
        """Close everything in reverse order. Safe to call twice."""
        await self._stack.aclose()

    def ingest_ports(self) -> IngestPorts:
        """Return the ports of the write path."""
        return self._ingest

    def retrieval_ports(self) -> RetrievalPorts:
        """Return the ports of the read path."""
        index = self.indexes.read_index
        return RetrievalPorts(
            self.graph,
            index.vectors,
            index.embedder,
            index.query_prefix,
            self.settings.limits,
            self.settings.retrieval,
            self._outage,
            rebuilding=self.indexes.rebuilding is not None,
            words=self.graph if index.model == NO_MODEL else None,
            registry=self.registry,
            reranker=self._reranker,
            uses=self._uses,
            throttle=self._throttle,
        )

    async def probe_embedding(self) -> None:
        """Raise if the embedder does not answer."""
        await self.embedders.probe(self.indexes.read_index.model)

    async def embedding_metrics(self) -> bytes:
        """Return the metrics of the embedding process; empty while there is none or it does not answer."""
        return await self.embedders.metrics(self.indexes.read_index.model)

    def memory(self, *, alone: bool = False) -> ServedMemory:
        """Return the open stores for operations, throttled so that questions run first."""
        indexes = throttled_indexes(self.indexes, self._throttle)
        return ServedMemory(
            settings=self.settings,
            registry=self.registry,
            graph=throttled(self.graph, self._throttle),
            keys=self.keys,
            open_vectors=indexes.open_vectors,
            queue=self.indexer,
            extraction_queue=self.extractor or NullQueue(),
            data_dir=self.data_dir.path,
            alone=alone,
            has_vectors=self.settings.storage.embedder != "none",
            yield_to_foreground=self._throttle.yield_to_foreground,
            indexes=indexes,
            model=self._model,
            reindexing=self.reindexing,
            archive_indexes=self.index_engine,
            without_jobs=self.without_jobs,
            index_queued=self._index_queued,
            files=EmbeddedFiles(self.data_dir.path, self.graph, self.folders),
            mirror=Mirror.of(self.graph, self.settings.mirror),
        )

    async def _index_queued(self) -> None:
        await self.indexer.drain(seconds=_INDEX_SECONDS)

    @property
    def keys(self) -> SqliteKeyRing:
        """The API keys."""
        return SqliteKeyRing(self.settings.storage.data_dir / GRAPH)

    async def describe(self, tenant: str | None) -> dict[str, object]:
        """Return the store's status, for the readiness endpoint."""
        return await store_status(self.graph.record, self.graph.outbox, self.indexes, tenant)

    async def probe_graph(self) -> None:
        """Raise if the graph does not answer."""
        await self.graph.record.models()

    async def probe_vectors(self) -> None:
        """Raise if the vector index does not answer."""
        await self.vectors.ids(after=None, limit=1)
