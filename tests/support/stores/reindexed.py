"""The model of a data directory that no server has open, changed as `vicw reindex` does."""

from __future__ import annotations

from vicw_shared.ports import Embedder
from vicw_sleep.reindex.model import ReindexReport
from vicw_standalone.index_engines.edge import open_reindexing
from vicw_standalone.settings import StandaloneSettings


async def reindexed(settings: StandaloneSettings, model: str | None, *embedders: Embedder) -> ReindexReport:
    async with open_reindexing(settings, *embedders) as reindexing:
        return await reindexing.run(model, lambda *_: None)
