"""What a server does beside its answers, from its start to its end."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING

import structlog

from vicw_core.background import start_background_task
from vicw_core.index.conversion import WordConversion
from vicw_runtime.background_throttle import BackgroundThrottle, throttled
from vicw_runtime.throttled_indexes import throttled_indexes
from vicw_shared.errors import VicwError
from vicw_sleep.reindex.rebuild import rebuild

if TYPE_CHECKING:
    from vicw_ingest.erasure.jobs import ErasureWorker
    from vicw_ingest.index.service import Indexer
    from vicw_ingest.llm_queue.service import PendingExtractor
    from vicw_retrieval.request.usage_counter import UsageCounter
    from vicw_retrieval.webhooks.sender import WebhookSender
    from vicw_runtime.indexes import Index, Indexes
    from vicw_standalone.index_engines.edge import IndexFolders
    from vicw_standalone.lifecycle.job_runner import JobRunner
    from vicw_stores.sqlite import SqliteGraphStore

_log = structlog.get_logger()


class BackgroundWork:
    """The loops of the indexer and its like, and the scheduled ``jobs``; all over open stores.

    ``uses`` and ``extractor``: None if uses are not counted, or no language model extracts.
    """

    def __init__(
        self,
        graph: SqliteGraphStore,
        indexes: Indexes,
        folders: IndexFolders,
        indexer: Indexer,
        throttle: BackgroundThrottle,
        jobs: JobRunner,
        *,
        uses: UsageCounter | None,
        extractor: PendingExtractor | None,
        erasures: ErasureWorker,
    ) -> None:
        self._graph = graph
        self._indexes = indexes
        self._folders = folders
        self._indexer = indexer
        self._throttle = throttle
        self._jobs = jobs
        self._uses = uses
        self._extractor = extractor
        self._erasures = erasures
        self._running = AsyncExitStack()

    def start(self, webhooks: WebhookSender | None) -> None:
        """Start all of it, until ``close``. ``webhooks``: None if none are sent."""
        start_background_task(self._indexer.run(), self._running, "indexer")
        if self._uses is not None:
            start_background_task(self._uses.keep_flushing(self._graph.uses), self._running, "uses")
        if self._extractor is not None:
            start_background_task(self._extractor.run(), self._running, "extractor")
        if webhooks is not None:
            start_background_task(webhooks.run(), self._running, "webhooks")
        start_background_task(self._erasures.run(), self._running, "erasures")
        rebuilding = rebuild(self._graph, self._indexes, self._mark_compared)
        start_background_task(rebuilding, self._running, "rebuilding")
        start_background_task(self._word_conversion().run(), self._running, "words")
        start_background_task(self._renew_index(), self._running, "index of an earlier version")
        self._running.push_async_callback(self._jobs.close)
        self._jobs.start()

    def without_jobs(self) -> AbstractAsyncContextManager[None]:
        """Stop the jobs for the block; the loops go on."""
        return self._jobs.stopped()

    async def close(self) -> None:
        """End all of it. Safe to call twice."""
        await self._running.aclose()

    def _word_conversion(self) -> WordConversion:
        indexes = throttled_indexes(self._indexes, self._throttle)
        return WordConversion(throttled(self._graph, self._throttle), indexes.open_vectors, self._indexes.refresh)

    async def _renew_index(self) -> None:
        await self._indexes.write_index()  # when it is open
        try:
            await self._folders.renew()
        except VicwError as error:
            _log.warning("the index of an earlier version stays as it is until the next start", error=error.detail)

    def _mark_compared(self, index: Index) -> None:
        folder = self._folders.of(index.model)
        if folder is not None:
            folder.mark_compared()
