"""Change the embedding model of a store: make the new index, put it into use, drop what is no longer used."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_shared.errors import StateConflictError
from vicw_shared.model import Label
from vicw_shared.ports import ModelIdentity, Store
from vicw_shared.progress import Progress
from vicw_sleep.reindex.change import Reindexer
from vicw_sleep.reindex.model import IndexStatus, ReindexProgress, ReindexReport
from vicw_sleep.reindex.port import IndexEngine


@dataclass(frozen=True, slots=True)
class Reindexing:
    """The change of the model of a store, whose indexes ``engine`` holds."""

    graph: Store
    engine: IndexEngine

    @property
    def work(self) -> ReindexProgress:
        """No run goes on after ``run`` has returned."""
        return ReindexProgress()

    async def run(self, name: str | None, progress: Progress) -> ReindexReport:
        """Change to the model ``name``; without one, resume the change in progress, or repair the index in use.

        Raises the errors of ``IndexEngine.make`` and of ``Reindexer.run``. The index in use stays unless the new one
        has everything.
        """
        new = await self.engine.make(name, await self.graph.record.models())
        report: ReindexReport | None = None
        try:
            report = await Reindexer(self.graph, self.engine, new, progress).run()
        finally:
            await self.engine.ended(new, report)
        return report

    async def require(self, name: str | None) -> None:
        """Raise the error of ``run`` if the model is not available."""
        await self.engine.require(name, await self.graph.record.models())

    async def status(self) -> IndexStatus:
        """Return the index in use, and the progress of a change."""
        models = await self.graph.record.models()
        return IndexStatus(models, await self.graph.audit.count(Label.CHUNK), await self.engine.sizes(models))

    async def drop_old(self) -> list[ModelIdentity]:
        """Remove unused indexes; return their models. Raises StateConflictError during a model change."""
        models = await self.graph.record.models()
        if models.change is not None:
            raise StateConflictError(f"A model change is in progress: `{self.engine.command}` resumes it")
        return await self.engine.drop_unused(models)
