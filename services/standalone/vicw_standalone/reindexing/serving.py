"""The change of the model of a server that goes on serving."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from vicw_ingest.indexing import Indexer
from vicw_ingest.reindexing import Reindex, Reindexed, Steps
from vicw_shared.adapters.edge import EdgeVectorStore
from vicw_shared.adapters.sqlite import SqliteGraphStore
from vicw_shared.errors import ConflictError, FatalError, FieldProblem, InvalidInputError, VicwError
from vicw_shared.indexes import Index, Indexes
from vicw_shared.model import Label
from vicw_shared.ports import ChangePhase, ModelChange, ModelIdentity
from vicw_standalone.choices import keep_choice
from vicw_standalone.embedders import Embedders
from vicw_standalone.folders import folder_of, noted_in, others
from vicw_standalone.index_folders import IndexFolders
from vicw_standalone.reindexing.status import Status, known
from vicw_standalone.settings import Settings

_log = structlog.get_logger()
NAME_IT = "Name the model that is to make them: `vicw reindex --model NAME`"
_GRACE_SECONDS = 10.0
"""How long questions that have begun before the swap may go on with the old index."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the last run does, or has done: ``done`` of ``total`` passages are past ``phase``."""

    running: bool = False
    phase: str = ""
    done: int = 0
    total: int = 0
    result: Reindexed | None = None
    error: str | None = None


class Reindexing:
    """Runs one change at a time, in the background."""

    grace_seconds = _GRACE_SECONDS

    def __init__(
        self,
        settings: Settings,
        graph: SqliteGraphStore,
        embedders: Embedders,
        folders: IndexFolders,
        indexes: Indexes,
        indexer: Indexer,
    ) -> None:
        self.work = Work()
        self._settings = settings
        self._graph = graph
        self._embedders = embedders
        self._folders = folders
        self._indexes = indexes
        self._indexer = indexer
        self._task: asyncio.Task[None] | None = None
        self._retiring: asyncio.Task[None] | None = None

    async def start(self, name: str | None) -> None:
        """Begin to change to a model; without a name, go on with the change under way, or mend the index in use.

        Raises InvalidInputError for a model that cannot be had, ConflictError while a run is at work.
        """
        self._require_idle()
        if name is not None:
            try:
                await self._embedders.require(name)
            except FatalError as error:
                raise InvalidInputError(FieldProblem("model", error.detail, "Name one that is there")) from error
        elif not await self._any_vectors():
            raise InvalidInputError(FieldProblem("model", "there are no vectors to make (VICW_EMBEDDER=none)", NAME_IT))
        self._require_idle()
        self.work = Work(running=True, phase="starting the model")
        self._task = asyncio.create_task(self._run(name), name="reindexing")

    async def status(self) -> Status:
        """Return which index is in use, and how far a change is."""
        models, folders = await self._graph.models(), others(self._settings.storage.data_dir, ())
        return Status(models, await self._graph.count(Label.CHUNK), known(models, map(noted_in, folders)))

    async def drop_old(self) -> list[ModelIdentity]:
        """Remove the indexes that are not in use; return their models. Raises ConflictError before a change is over."""
        self._require_idle()
        models = await self._graph.models()
        if models.change is not None or models.used is None:
            raise ConflictError("A change of the model is not over yet: `vicw reindex` goes on with it")
        await self._retire_now()
        path = self._settings.storage.data_dir
        return await asyncio.to_thread(remove, others(path, {folder_of(path, models.used, models.used)}))

    async def close(self) -> None:
        """Stop what is under way; it goes on when it is started again."""
        for task in (self._task, self._retiring):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})

    async def _any_vectors(self) -> bool:
        """Tell whether an index is in use, or a change to one under way."""
        models = await self._graph.models()
        return models.change is not None or (models.used is not None and models.used.has_vectors)

    def _require_idle(self) -> None:
        if self.work.running:
            raise ConflictError("A reindexing is at work already: `vicw reindex --status` says how far it is")

    async def _run(self, name: str | None) -> None:
        target: Index | None = None
        try:
            target = await self._target(name)
            result = await self._reindex(target)
        except VicwError as error:
            _log.error("reindexing has failed; the index in use stays", error=error.detail)
            self.work = replace(self.work, running=False, error=error.detail)
            await self._give_up(target)
            return
        except Exception as error:
            _log.error("reindexing has failed; the index in use stays", exc_info=error)
            self.work = replace(self.work, running=False, error=type(error).__name__)
            await self._give_up(target)
            return
        if result.before is not None:
            self._retiring = asyncio.create_task(self._retire(result.before), name="retiring")
        self.work = replace(self.work, running=False, result=result)

    async def _target(self, name: str | None) -> Index:
        models = await self._graph.models()
        if name is None and models.change is not None and models.change.phase is not ChangePhase.LEAVING:
            name = models.change.source or models.change.model.name
        if name is None:
            return self._indexes.reading
        await self._retire_now()  # it may be the one to go back to
        started = await self._embedders.another(name, models.used)
        return await self._folders.open(started.model)

    async def _reindex(self, target: Index) -> Reindexed:

        async def swapped(change: ModelChange) -> None:
            await asyncio.to_thread(keep_choice, self._settings, change)

        return await Reindex(
            self._graph,
            target,
            self._indexer,
            Steps(self._indexes.look, swapped=swapped),
            self._report,
            source=self._embedders.source(target.model),
            patience_seconds=self._settings.reindex.patience_seconds,
        ).run()

    def _report(self, phase: str, done: int, total: int) -> None:
        self.work = replace(self.work, phase=phase, done=done, total=total)

    async def _give_up(self, target: Index | None) -> None:
        """Write to the index in use alone again, and end what was started for the other one."""
        models = await self._graph.models()
        if target is None or models.used is None or target.model == models.used:
            return
        if models.change is not None:
            await self._graph.set_model(models.used, replace(models.change, phase=ChangePhase.BUILDING))
        await self._indexes.look()
        await self._close(target.model)

    async def _retire(self, model: ModelIdentity) -> None:
        await asyncio.sleep(self.grace_seconds)
        await self._close(model)

    async def _close(self, model: ModelIdentity) -> None:
        self._indexes.forget(model)
        await self._folders.close(model)

    async def _retire_now(self) -> None:
        if self._retiring is not None:
            await asyncio.wait({self._retiring})


def remove(folders: list[Path]) -> list[ModelIdentity]:
    """Remove folders of indexes that no process has open; return their models."""
    models = [noted_in(folder) for folder in folders]
    for folder in folders:
        EdgeVectorStore.destroy(folder)
    return [model for model in models if model is not None]
