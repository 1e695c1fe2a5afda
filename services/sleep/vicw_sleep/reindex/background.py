"""Change of the model in the background of a running server."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import structlog

from vicw_core.archive.import_marker import require_no_import
from vicw_shared.errors import FatalError, FieldProblem, InvalidInputError, StateConflictError, VicwError
from vicw_shared.ports import ModelIdentity
from vicw_shared.progress import Progress
from vicw_sleep.reindex.model import IndexStatus, ReindexProgress, ReindexReport
from vicw_sleep.reindex.port import NAME_A_MODEL
from vicw_sleep.reindex.service import Reindexing

_log = structlog.get_logger()
_POLL_SECONDS = 0.2


class BackgroundReindexing:
    """Runs one change at a time. ``work`` is the state of the last one."""

    def __init__(self, reindexing: Reindexing) -> None:
        self.work = ReindexProgress()
        self._reindexing = reindexing
        self._task: asyncio.Task[None] | None = None

    async def start(self, name: str | None) -> None:
        """Begin to change to a model; without a name, resume the change in progress, or repair the index in use.

        Raises InvalidInputError for an unavailable model, StateConflictError during another run or an import: that
        fills the index which the change would close.
        """
        self._require_idle()
        await require_no_import(self._reindexing.graph.archive)
        try:
            await self._reindexing.require(name)
        except FatalError as error:
            fix = "Name an available model" if name is not None else NAME_A_MODEL
            raise InvalidInputError(FieldProblem("model", error.detail, fix)) from error
        self._require_idle()
        self.work = ReindexProgress(running=True, phase="starting the model")
        self._task = asyncio.create_task(self._run(name), name="reindexing")

    async def run(self, name: str | None, progress: Progress) -> ReindexReport:
        """Run a change to its end, which does not depend on the caller. Raises as ``start`` does, and FatalError."""
        await self.start(name)
        while self.work.running:
            progress(self.work.phase, self.work.done, self.work.total)
            await asyncio.sleep(_POLL_SECONDS)
        if self.work.result is None:
            raise FatalError(self.work.error or "The server is being stopped; run the command again to continue")
        return self.work.result

    async def status(self) -> IndexStatus:
        """Return the index in use, and the progress of a change."""
        return await self._reindexing.status()

    async def drop_old(self) -> list[ModelIdentity]:
        """Remove unused indexes; return their models. Raises StateConflictError during a model change."""
        self._require_idle()
        return await self._reindexing.drop_old()

    async def close(self) -> None:
        """Stop the run; the next start can resume it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def _require_idle(self) -> None:
        if self.work.running:
            raise StateConflictError("A reindexing is already running: `vicw reindex --status` shows its progress")

    async def _run(self, name: str | None) -> None:
        try:
            result = await self._reindexing.run(name, self._report)
        except Exception as error:
            message = error.detail if isinstance(error, VicwError) else type(error).__name__
            _log.error("reindexing has failed", error=message, exc_info=None if isinstance(error, VicwError) else error)
            self.work = replace(self.work, running=False, error=message)
            return
        self.work = replace(self.work, running=False, result=result)

    def _report(self, phase: str, done: int, total: int) -> None:
        self.work = replace(self.work, phase=phase, done=done, total=total)
