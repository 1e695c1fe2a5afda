"""Change of the model in a running server, and rebuilding of a lost index."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace

import structlog

from vicw_ingest.index.indexer import Indexer
from vicw_runtime.indexes import Index, Indexes
from vicw_shared.errors import FatalError, FieldProblem, InvalidInputError, StateConflictError, VicwError
from vicw_shared.ports import ModelIdentity
from vicw_standalone.embedders import Embedders
from vicw_standalone.model_choice import choose
from vicw_standalone.reindex.change import Reindexer, ReindexReport, bring_to_agreement
from vicw_standalone.reindex.status import IndexStatus
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.vector_folders import IndexFolders, drop_others, status_of
from vicw_stores.sqlite import SqliteGraphStore

_log = structlog.get_logger()
NAME_A_MODEL = "Name the model that computes them: `vicw reindex --model NAME`"
_GRACE_SECONDS = 10.0
"""Time for questions that began before the swap to finish with the old index."""
_POLL_SECONDS = 1.0
_REST_SECONDS = 300.0
"""Longest pause between two comparisons while passages wait: they would only find those."""


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """State of the last run: ``done`` of ``total`` passages in ``phase``."""

    running: bool = False
    phase: str = ""
    done: int = 0
    total: int = 0
    result: ReindexReport | None = None
    error: str | None = None


class OnlineReindex:
    """Runs one change at a time, in the background."""

    grace_seconds = _GRACE_SECONDS

    def __init__(
        self,
        settings: StandaloneSettings,
        graph: SqliteGraphStore,
        embedders: Embedders,
        folders: IndexFolders,
        indexes: Indexes,
        indexer: Indexer,
    ) -> None:
        self.work = ReindexProgress()
        self._settings = settings
        self._graph = graph
        self._embedders = embedders
        self._folders = folders
        self._indexes = indexes
        self._indexer = indexer
        self._task: asyncio.Task[None] | None = None
        self._retiring: asyncio.Task[None] | None = None

    async def start(self, name: str | None) -> None:
        """Begin to change to a model; without a name, resume the change in progress, or repair the index in use.

        Raises InvalidInputError for an unavailable model, StateConflictError during another run.
        """
        self._require_idle()
        if name is not None:
            try:
                await self._embedders.require(name)
            except FatalError as error:
                raise InvalidInputError(FieldProblem("model", error.detail, "Name an available model")) from error
        elif not await self._any_vectors():
            raise InvalidInputError(
                FieldProblem("model", "there are no vectors to compute (VICW_EMBEDDER=none)", NAME_A_MODEL)
            )
        self._require_idle()
        self.work = ReindexProgress(running=True, phase="starting the model")
        self._task = asyncio.create_task(self._run(name), name="reindexing")

    async def status(self) -> IndexStatus:
        """Return the index in use, and the progress of a change."""
        return await status_of(self._graph, self._settings.storage.data_dir)

    async def drop_old(self) -> list[ModelIdentity]:
        """Remove unused indexes; return their models. Raises StateConflictError during a model change."""
        self._require_idle()
        await self._retire_now()
        return await drop_others(self._graph, self._settings.storage.data_dir)

    async def rebuild(self) -> None:
        """Reconcile the lost index in use until it is complete.

        The indexer runs meanwhile. Errors are logged and the work is retried.
        """
        while self._indexes.rebuilding is not None and (folder := self._folders.of(self._indexes.read_index.model)):
            try:
                await bring_to_agreement(self._graph, self._indexes.read_index, self._rest)
                folder.mark_compared()
                await self._indexes.refresh()
            except Exception as error:
                level = _log.warning if isinstance(error, VicwError) else _log.error
                level("rebuilding the vector index failed, will be tried again", error=str(error))
                await asyncio.sleep(_POLL_SECONDS)

    async def close(self) -> None:
        """Stop the run; the next start can resume it."""
        for task in (self._task, self._retiring):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})

    async def _any_vectors(self) -> bool:
        """Return whether an index is in use, or a change to one is in progress."""
        models = await self._graph.record.models()
        return models.change is not None or (models.used is not None and models.used.has_vectors)

    def _require_idle(self) -> None:
        if self.work.running:
            raise StateConflictError("A reindexing is already running: `vicw reindex --status` shows its progress")

    async def _run(self, name: str | None) -> None:
        target: Index | None = None
        try:
            target = await self._target(name)
            result = await self._reindex(target)
        except Exception as error:
            message = error.detail if isinstance(error, VicwError) else type(error).__name__
            _log.error("reindexing has failed", error=message, exc_info=None if isinstance(error, VicwError) else error)
            self.work = replace(self.work, running=False, error=message)
            await self._indexes.refresh()
            if target is not None and target.model != self._indexes.models.used:
                await self._close(target.model)
            return
        if result.before is not None:
            self._retiring = asyncio.create_task(self._retire(result.before), name="retiring")
        self.work = replace(self.work, running=False, result=result)

    async def _target(self, name: str | None) -> Index:
        models = await self._graph.record.models()
        if name is None and models.change is not None:
            name = models.change.source or models.change.model.name
        if name is None:
            return self._indexes.read_index
        await self._retire_now()  # the model may be the one to return to
        started = await self._embedders.another(name, models.used)
        return await self._folders.open(started.model)

    async def _reindex(self, target: Index) -> ReindexReport:
        source = self._embedders.source(target.model)

        async def swap() -> None:
            await asyncio.to_thread(choose, self._settings.storage.data_dir, source)

        done = await Reindexer(
            self._graph,
            target,
            self._indexer,
            self._report,
            self._indexes.refresh,
            swap,
            source=source,
        ).run()
        await self._indexes.refresh()
        return done

    def _report(self, phase: str, done: int, total: int) -> None:
        self.work = replace(self.work, phase=phase, done=done, total=total)

    async def _retire(self, model: ModelIdentity) -> None:
        await asyncio.sleep(self.grace_seconds)
        await self._close(model)

    async def _close(self, model: ModelIdentity) -> None:
        self._indexes.forget(model)
        await self._folders.close(model)

    async def _retire_now(self) -> None:
        if self._retiring is not None:
            await asyncio.wait({self._retiring})

    async def _rest(self, _: int) -> None:
        """Return when no passage is waiting, or after ``_REST_SECONDS``."""
        waiting, until = True, time.monotonic() + _REST_SECONDS
        while waiting and time.monotonic() < until:
            await asyncio.sleep(_POLL_SECONDS)
            waiting = (await self._graph.outbox.backlog()).waiting > 0
