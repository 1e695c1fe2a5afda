"""The model of a data directory that no server has open, changed as `vicw reindex` does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from vicw_shared.extensions import load_registries
from vicw_shared.ports import Embedder
from vicw_sleep.reindex.model import ReindexReport
from vicw_sleep.reindex.service import Reindexing
from vicw_standalone.index_engines.edge import open_engine
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore


@asynccontextmanager
async def open_reindexing(settings: StandaloneSettings, *embedders: Embedder) -> AsyncIterator[Reindexing]:
    async with AsyncExitStack() as stack:
        data_dir = stack.enter_context(DataDir(settings.storage.data_dir))
        graph = SqliteGraphStore(data_dir, load_registries().edges)
        stack.push_async_callback(graph.close)
        yield Reindexing(graph, open_engine(settings, graph, stack, *embedders))


async def reindexed(settings: StandaloneSettings, model: str | None, *embedders: Embedder) -> ReindexReport:
    async with open_reindexing(settings, *embedders) as reindexing:
        return await reindexing.run(model, lambda *_: None)
