"""Builds the ingest service and its worker over the platform's engines."""

from __future__ import annotations

import asyncio
import contextlib

from vicw_ingest.indexing import Indexer
from vicw_ingest.pipeline import IngestPorts
from vicw_ingest.pressure import Pressure
from vicw_ingest.settings import Settings
from vicw_shared.adapters.celery_queue import CeleryQueue
from vicw_shared.adapters.platform import Engines, open_engines
from vicw_shared.extensions import load_registries


class Wiring:
    """The open engines, and what works with them. Opened and closed by one event loop."""

    def __init__(self, settings: Settings, *, everything: bool = False) -> None:
        """With ``everything`` the indexer works the whole outbox off, else only what a request waits for."""
        self.settings = settings
        self.registry = load_registries().edges
        self.engines: Engines
        self.indexer: Indexer
        self.ports: IngestPorts
        self.queue = CeleryQueue(settings.redis)
        self._everything = everything
        self._stack = contextlib.AsyncExitStack()

    async def open(self) -> None:
        """Open everything, or nothing."""
        try:
            self._stack.push_async_callback(self.queue.close)
            self.engines = await open_engines(self.settings.platform, self.registry, self._stack)
        except BaseException:
            await self.close()
            raise
        engines = self.engines
        self.indexer = Indexer(
            engines.graph,
            engines.vectors,
            engines.embedder,
            self.settings.ingest.batch,
            everything=self._everything,
        )
        self.ports = IngestPorts(
            graph=engines.graph,
            record=engines.graph,
            outbox=engines.graph,
            indexer=self.indexer,
            queue=self.queue,
            pressure=Pressure(engines.graph, self.settings.ingest.max_backlog),
            registry=self.registry,
            limits=self.settings.limits,
            settings=self.settings.ingest,
        )

    def start_indexer(self) -> None:
        """Index in the background until ``close``."""
        task = asyncio.create_task(self.indexer.run(), name="indexer")

        async def stop() -> None:
            task.cancel()
            await asyncio.wait({task})

        self._stack.push_async_callback(stop)

    async def close(self) -> None:
        """Close everything in reverse order. Safe to call twice."""
        await self._stack.aclose()
