"""Dependency wiring of the ingest service and its worker over the platform's engines."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import structlog

from vicw_core.background import start_background_task
from vicw_core.index.conversion import WordConversion
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.jobs import ErasureWorker
from vicw_ingest.erasure.proof import FinishedErasure
from vicw_ingest.erasure.service import WAIT_SECONDS, Forgetting
from vicw_ingest.eviction.service import Eviction
from vicw_ingest.expiry.service import Expiry
from vicw_ingest.file_import.service import ImportJobs
from vicw_ingest.index.service import Indexer
from vicw_ingest.knowledge.bridges.builder import bridges_of
from vicw_ingest.llm_queue.requests import ExtractionBackend
from vicw_ingest.llm_queue.service import PendingExtractor
from vicw_ingest.pipeline import IngestPorts
from vicw_ingest.settings import IngestServiceSettings
from vicw_runtime.background_throttle import RemoteLoadThrottle, throttled
from vicw_runtime.model_servers.openai_language import open_language_model
from vicw_runtime.platform.wiring import PlatformWiring
from vicw_runtime.queue.celery_queue import EXTRACT, EXTRACT_QUEUE, FORGET, JOB_TASKS, SLEEP_QUEUE, UNDO, CeleryQueue
from vicw_runtime.schedule.plans import PAUSED
from vicw_runtime.throttled_indexes import throttled_indexes
from vicw_runtime.upkeep.remote_undo import RemoteUndo
from vicw_runtime.upkeep.service import RunPorts, UndoPorts
from vicw_shared.extensions import NOTHING_EXTRACTED, load_extractor
from vicw_shared.progress import Progress

_log = structlog.get_logger()


class IngestWiring(PlatformWiring):
    """The open engines, the indexer and the ports of the write path."""

    def __init__(self, settings: IngestServiceSettings, *, everything: bool = False) -> None:
        """With ``everything``, the indexer empties the whole outbox; else only the entries that a request waits for."""
        super().__init__(settings.platform)
        self.settings = settings
        self.indexer: Indexer
        self.ports: IngestPorts
        self.imports: ImportJobs
        self.expiry: Expiry
        self.queue = CeleryQueue(settings.redis)
        self.erasure_queue = CeleryQueue(settings.redis, task=FORGET, shared=True)
        self.undo_queue = CeleryQueue(settings.redis, task=UNDO, queue=SLEEP_QUEUE, shared=True)
        self.extractor: PendingExtractor | None = None
        self._everything = everything
        self._stack.push_async_callback(self.queue.close)
        self._stack.push_async_callback(self.erasure_queue.close)
        self._stack.push_async_callback(self.undo_queue.close)

    async def _build(self) -> None:
        engines = self.engines
        self.indexer = Indexer(
            engines.graph.outbox,
            engines.indexes,
            self.settings.ingest.batch,
            self.settings.ingest.max_tries,
            everything=self._everything,
            bridges=bridges_of(engines.graph, self.registry, self.settings.ingest),
        )
        self.expiry = Expiry(engines.graph, self.registry, self.indexer)
        self.ports = IngestPorts.of(
            engines.graph,
            self.indexer,
            self.registry,
            self.settings.limits,
            self.settings.ingest,
            extractor=load_extractor(self.settings.ingest.extractor),
            queue=self.queue,
            erasure_queue=self.erasure_queue,
            model=self._open_model(),
        )
        folder = Path(tempfile.gettempdir()) / "vicw-imports"
        self.imports = ImportJobs(self.ports, self.settings.imports, folder, alone=False)
        self._stack.push_async_callback(self.imports.close)

    @property
    def undo(self) -> UndoPorts:
        """What has steps of the sleep cycle undone by its worker."""
        graph, settings = self.engines.graph, self.settings
        remote = RemoteUndo(graph, self.undo_queue.send, settings.ingest.wait_seconds)
        return UndoPorts(graph, settings.sleep.grace, remote.undo)

    @property
    def runs(self) -> RunPorts:
        """What has a job of the sleep cycle run by its worker."""
        paused = PAUSED if self.settings.sleep.paused else None
        tenant = self.settings.server.tenant
        return RunPorts(
            self.engines.graph, tenant, lambda job: paused, lambda job: self.undo_queue.send_once(JOB_TASKS[job])
        )

    def eviction(self) -> Eviction:
        """Return the service that erases items of tenants over their limit."""
        graph = self.engines.graph
        return Eviction(graph, Eraser(graph, self.engines.indexes, self.registry), self.queue)

    def erasure_worker(self) -> ErasureWorker:
        """Return what works off erasures. The engines are servers: their own files are out of reach."""

        async def run_all(progress: Progress) -> list[FinishedErasure]:
            eraser = replace(self.ports.erasures.eraser, on_progress=lambda erased: progress("erasing", erased, 0))
            forgetting = Forgetting(
                eraser=eraser,
                index_queued=self.queue.wake,
                files=None,
                mirror=None,
                wait_seconds=WAIT_SECONDS,
                progress=progress,
            )
            _, finished = await forgetting.forget([])
            return finished

        return ErasureWorker(self.engines.graph, run_all, files=False)

    def _open_model(self) -> ExtractionBackend | None:
        settings = self.settings
        if not settings.llm.enabled:
            return None
        model = open_language_model(settings.llm)
        self._stack.push_async_callback(model.close)
        graph = self.engines.graph
        extractor = PendingExtractor.of(graph, model, self.registry, settings.llm, settings.limits, settings.ingest)
        self._stack.push_async_callback(extractor.close)
        queue = CeleryQueue(settings.redis, task=EXTRACT, queue=EXTRACT_QUEUE)
        self._stack.push_async_callback(queue.close)
        self.extractor = extractor
        return ExtractionBackend(extractor, queue)

    async def start(self) -> None:
        """Run the indexer, and follow changes of the embedding model, in the background until ``close``."""
        await super().start()
        await self.imports.places.open()
        if self.ports.extractor is None:
            _log.info(NOTHING_EXTRACTED)
        start_background_task(self.indexer.run(), self._stack, "indexer")
        start_background_task(self._word_conversion().run(), self._stack, "words")

    def _word_conversion(self) -> WordConversion:
        graph, indexes = self.engines.graph, self.engines.indexes
        throttle = RemoteLoadThrottle(graph.uses.seconds_since_question)
        opener = throttled_indexes(indexes, throttle).open_vectors
        return WordConversion(throttled(graph, throttle), opener, indexes.refresh)
