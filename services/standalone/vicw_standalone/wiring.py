"""Wiring of the one-process server from its settings; tests pass their own embedder."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping

import structlog

from vicw_core.archive.import_marker import require_no_import
from vicw_core.background import in_thread
from vicw_embedding.process.supervisor import EmbeddingProcess
from vicw_ingest.erasure.jobs import ErasureWorker
from vicw_ingest.erasure.proof import FinishedErasure
from vicw_ingest.expiry.service import Expiry
from vicw_ingest.file_import.service import ImportJobs
from vicw_ingest.index.service import Indexer
from vicw_ingest.knowledge.bridges.builder import bridges_of
from vicw_ingest.llm_queue.requests import ExtractionBackend
from vicw_ingest.llm_queue.service import PendingExtractor
from vicw_ingest.pipeline import IngestPorts
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.webhooks.sender import WebhookSender
from vicw_retrieval.webhooks.service import WebhookPorts
from vicw_runtime.background_throttle import BackgroundThrottle, throttled
from vicw_runtime.indexes import Index, Indexes, store_status
from vicw_runtime.schedule.cron import Schedule
from vicw_runtime.schedule.jobs import ScheduledJob, schedules
from vicw_runtime.schedule.plans import blocked_by
from vicw_runtime.throttled_indexes import throttled_indexes
from vicw_runtime.upkeep.service import RunPorts, UndoPorts, UpkeepPorts
from vicw_runtime.webhooks.http_receiver import HttpWebhookReceiver
from vicw_shared.clock import now
from vicw_shared.errors import StorageFullError
from vicw_shared.extensions import NOTHING_EXTRACTED, load_extractor, load_registries
from vicw_shared.ports import Embedder, MaintenanceStep, ModelIdentity, VectorStore
from vicw_shared.progress import Progress
from vicw_sleep.mirror.service import Mirror
from vicw_sleep.reconcile.receipts import forget_receipts
from vicw_sleep.reindex.background import BackgroundReindexing
from vicw_sleep.reindex.service import Reindexing
from vicw_standalone.embedding_model.embedders import Embedders
from vicw_standalone.index_engines.closed import CLOSED_VECTORS
from vicw_standalone.index_engines.edge import EdgeIndexes, IndexFolders
from vicw_standalone.lifecycle.background_work import BackgroundWork
from vicw_standalone.lifecycle.job_runner import JobRunner, Work
from vicw_standalone.lifecycle.language_model import open_extractor, open_language_model
from vicw_standalone.lifecycle.read_path import ReadPath
from vicw_standalone.lifecycle.store_gate import StoreGate
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.stores.agreement import reconcile_points, require_agreement
from vicw_standalone.stores.engine_files import EmbeddedFiles
from vicw_standalone.stores.memory import ServedMemory
from vicw_stores.data_dir import DataDir
from vicw_stores.edge.rewrite import recover_all
from vicw_stores.null_engines import NullQueue
from vicw_stores.sqlite import GRAPH, SqliteGraphStore
from vicw_stores.sqlite.database import MAPPED_MB
from vicw_stores.sqlite.keys import SqliteKeyRing

_log = structlog.get_logger()
_INDEX_SECONDS = 60.0
"""Longest time that an erasure waits for what is queued for the index."""
_RECEIPT_CLEANUP_SECONDS = 1.0
_MAPPED_WITHOUT_VECTORS_MB = 32
"""Mapped memory of the graph in a store without vectors, to keep resident memory under 512 MB."""


class Standalone:
    """The open stores, the embedder and the indexer. Opened and closed by one event loop."""

    def __init__(
        self, settings: StandaloneSettings, *embedders: Embedder | None, process: EmbeddingProcess | None = None
    ) -> None:
        """``embedders`` replace those of the settings; the first one is used first.

        ``process``: that of the settings' model, if it has begun already.
        """
        self.settings = settings
        self.gate = StoreGate()
        self.registry = load_registries().edges
        self.embedders = Embedders(settings, *filter(None, embedders), process=process)
        self._stack = contextlib.AsyncExitStack()
        self._receiver = HttpWebhookReceiver(settings.webhooks)
        self._throttle = BackgroundThrottle(settings.sleep.rest_factor)
        self._read_path = ReadPath(settings, self.registry)
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
        self._background: BackgroundWork
        self._index_lock = asyncio.Lock()
        self._first_model: ModelIdentity
        self._ingest: IngestPorts
        self.import_jobs: ImportJobs
        self._erasures: ErasureWorker

    async def open(self, *, half: bool = False) -> None:
        """Open everything, with the model loaded, or nothing.

        ``half``: also after an interrupted import; such a store must not be served. Raises StateConflictError,
        DataDirError, ModelMismatchError, SchemaVersionError, SettingsError, UnavailableError or StorageFullError; each
        says what to do.
        """
        try:
            await self._open(half=half)
            await self.open_index()
            await self.embedders.loaded()
        except BaseException:
            await self.close()
            raise

    async def open_graph(self) -> None:
        """Open everything but the index, or nothing, while the model loads. Words answer from then on.

        Raises the errors of ``open`` that need neither the index nor the loaded model.
        """
        try:
            await self._open(half=False)
        except BaseException:
            await self.close()
            raise

    async def open_index(self) -> None:
        """Open the index of the model in use, unless it is open. Raises DataDirError, StorageFullError."""
        async with self._index_lock:
            if self.indexes.is_open:
                return
            await in_thread(recover_all, self.data_dir.path)
            await self.indexes.open()
            await reconcile_points(self.graph, self.folders, self.indexes)
        before = self.settings.ingest.receipts_before(now())
        with contextlib.suppress(StorageFullError):  # deleting needs disk space first, too
            await forget_receipts(self.graph.record, before, seconds=_RECEIPT_CLEANUP_SECONDS)
        if (change := self.indexes.models.change) is not None:
            _log.warning("a model change is in progress; `vicw reindex` resumes it", model=str(change.model))

    async def _open(self, *, half: bool) -> None:
        storage = self.settings.storage
        self.schedules = schedules(self.settings, now())
        self.data_dir = self._stack.enter_context(DataDir(storage.data_dir, min_free_mb=storage.min_free_mb))
        mapped = MAPPED_MB if storage.embedder == "model" else _MAPPED_WITHOUT_VECTORS_MB
        self.graph = SqliteGraphStore(self.data_dir, self.registry, mapped_mb=mapped, cached_nodes=storage.cached_nodes)
        self._stack.push_async_callback(self.graph.close)
        if not half:
            await require_no_import(self.graph.archive)
        self._stack.push_async_callback(self.embedders.close)
        paths = self.data_dir.path, self.settings.models_dir
        self._first_model = await require_agreement(self.graph, self.embedders, *paths)
        self.folders = IndexFolders(self.settings, self.data_dir, self.graph, self.embedders)
        self.indexes = Indexes(self.graph.record, self.folders.open)
        self._stack.push_async_callback(self.folders.close_all)
        if not self._first_model.has_vectors:  # there is nothing to open, and no words to answer meanwhile
            await self.open_index()
        self.indexer = Indexer(
            self.graph.outbox,
            self.indexes,
            self.settings.ingest.batch,
            self.settings.ingest.max_tries,
            require_room=self.data_dir.require_room_to_index,
            bridges=bridges_of(self.graph, self.registry, self.settings.ingest),
        )
        self.expiry = Expiry(self.graph, self.registry, self.indexer)
        self._read_path.open(self._stack)
        self._stack.push_async_callback(self._receiver.close)
        self._model = await open_language_model(self.settings.llm, self._stack)
        self.extractor = open_extractor(self.graph, self._model, self.registry, self.settings, self._stack)
        self._erasures = ErasureWorker(self.graph, self._erase_all, files=True)
        self._ingest = IngestPorts.of(
            self.graph,
            self.indexer,
            self.registry,
            self.settings.limits,
            self.settings.ingest,
            extractor=load_extractor(self.settings.ingest.extractor),
            erasure_queue=self._erasures,
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
        self._background = BackgroundWork(
            self.graph,
            self.indexes,
            self.folders,
            self.indexer,
            self._throttle,
            JobRunner(self.graph.archive, self._job_work),
            uses=self._read_path.uses,
            extractor=self.extractor,
            erasures=self._erasures,
        )
        self._stack.push_async_callback(self._background.close)
        folder = self.data_dir.path / "imports"
        self.import_jobs = ImportJobs(
            self._ingest, self.settings.imports, folder, alone=True, require_room=self.data_dir.require_room
        )
        self._stack.push_async_callback(self.import_jobs.close)
        await self.import_jobs.places.open()
        self.gate.open()

    @property
    def _index(self) -> Index:
        """The index in use, or while that is being opened one that refuses."""
        if self.indexes.is_open:
            return self.indexes.read_index
        return Index(self._first_model, CLOSED_VECTORS, self.embedders.of(self._first_model))

    @property
    def vectors(self) -> VectorStore:
        """The index in use."""
        return self.indexes.read_index.vectors

    @property
    def embedder(self) -> Embedder:
        """The embedder of the index in use."""
        return self.indexes.read_index.embedder

    def start_indexer(self) -> None:
        """Start the indexer, the scheduled jobs and the rebuilding of a lost index, until ``close``."""
        if self._ingest.extractor is None:
            _log.info(NOTHING_EXTRACTED)
        sender = WebhookSender(self.graph.webhooks, self.retrieval_ports, self._receiver, holder="vicw serve")
        self._background.start(sender if self.settings.webhooks.enabled else None)

    def _job_work(self) -> Iterator[Work]:
        from vicw_standalone import scheduled_jobs  # slow to import

        yield "expiry", self.expiry.run(self.settings.ingest.expiry_seconds)
        yield from scheduled_jobs.work(self.memory(), self.schedules)

    async def close(self) -> None:
        """Close everything in reverse order. Safe to call twice."""
        self.gate.end()
        await self._stack.aclose()

    def ingest_ports(self) -> IngestPorts:
        """Return the ports of the write path. Raises UnavailableError until the stores are open."""
        self.gate.require()
        return self._ingest

    def imports(self) -> ImportJobs:
        """Return the imports of uploaded files. Raises UnavailableError until the stores are open."""
        self.gate.require()
        return self.import_jobs

    def retrieval_ports(self) -> RetrievalPorts:
        """Return the ports of the read path. Raises UnavailableError until the stores are open."""
        self.gate.require()
        index = self._index
        loading = not self.indexes.is_open or self.embedders.is_loading(index.model)
        return self._read_path.ports(
            self.graph, self.indexes, index, self._throttle, loading=loading, data_dir=self.data_dir
        )

    def webhooks(self) -> WebhookPorts:
        """Return what makes and lists webhooks. Raises UnavailableError until the stores are open."""
        self.gate.require()
        return WebhookPorts(self.graph, self._receiver, self.settings.webhooks)

    async def probe_embedder(self) -> None:
        """Raise if the embedder does not answer, or still loads its model."""
        await self.embedders.probe(self._index.model)

    async def embedding_metrics(self) -> bytes:
        """Return the metrics of the embedding process; empty while there is none or it does not answer."""
        return await self.embedders.metrics(self._index.model) if self.gate.is_open else b""

    def memory(self, *, alone: bool = False) -> ServedMemory:
        """Return the open stores for operations, throttled so that questions run first.

        Raises UnavailableError until they are open.
        """
        self.gate.require()
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
            without_jobs=self._background.without_jobs,
            index_queued=self._index_queued,
            files=EmbeddedFiles(self.data_dir.path, self.graph, self.folders),
            mirror=Mirror.of(self.graph, self.settings.mirror),
        )

    async def _erase_all(self, progress: Progress) -> list[FinishedErasure]:
        from vicw_ingest.erasure.api import forgetting_of  # slow to import, and seldom needed

        await self.open_index()
        _, finished = await forgetting_of(self.memory(), progress).forget([])
        return finished

    async def _index_queued(self) -> None:
        await self.indexer.drain(seconds=_INDEX_SECONDS)

    def upkeep(self) -> UpkeepPorts:
        """Return what tells of the sleep cycle and the two stores. Raises UnavailableError until they are open."""
        self.gate.require()
        rebuilding = self.indexes.rebuilding if self.indexes.is_open else None
        return UpkeepPorts(self.graph, self.settings, self._first_model.has_vectors, rebuilding)

    def undo(self) -> UndoPorts:
        """Return what undoes steps of the sleep cycle. Raises UnavailableError until the stores are open."""
        memory = self.memory()

        async def undo(step: MaintenanceStep, key: str | None) -> MaintenanceStep:
            from vicw_sleep.history.service import undo_step  # slow to import, and seldom needed

            await self.open_index()
            await undo_step(memory, step.id, key=key)
            return await self.graph.log.step(step.id) or step

        return UndoPorts(self.graph, self.settings.sleep.grace, undo)

    def runs(self) -> RunPorts:
        """Return what starts jobs of the sleep cycle. Raises UnavailableError until the stores are open."""
        self.gate.require()

        async def start(job: ScheduledJob) -> None:
            self.schedules[job].demand()

        vectors = self._first_model.has_vectors
        tenant = self.settings.server.tenant
        return RunPorts(self.graph, tenant, lambda job: blocked_by(self.settings, job, vectors=vectors), start)

    @property
    def keys(self) -> SqliteKeyRing:
        """The API keys. Raises UnavailableError until the stores are open."""
        self.gate.require()
        return SqliteKeyRing(self.settings.storage.data_dir / GRAPH)

    @property
    def owner_token(self) -> str | None:
        """What the owner of the data directory sends. Raises UnavailableError until the stores are open."""
        self.gate.require()
        return self.data_dir.owner_token

    async def describe(self, tenant: str | None) -> dict[str, object]:
        """Return the store's status, for the readiness endpoint."""
        return await store_status(self.graph.record, self.graph.outbox, self.indexes, tenant)
