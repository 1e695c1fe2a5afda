"""How a server begins: words answer once the stores are open, and the background work begins with the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module

import structlog

from vicw_core.background import in_thread
from vicw_ingest.erasure.eraser import Eraser
from vicw_runtime.http.serve import LateResources, freeze_loaded_objects
from vicw_shared.errors import UnavailableError, VicwError
from vicw_standalone.wiring import Standalone

_log = structlog.get_logger()
_LATE = ("httpx", "vicw_standalone.operations", "vicw_standalone.scheduled_jobs")
"""Modules that are slow to import, and that no question answered from words and no item needs."""
_FIRST_SECONDS = 0.3
"""Longest time that the index and these imports wait for the model: no question is answered while they hold the GIL."""


class Start(LateResources):
    """The start of a server over ``standalone``; ``needs_key``: its requests need a key.

    ``add_operations`` adds to the application what commands call.
    """

    def __init__(
        self, standalone: Standalone, add_operations: Callable[[], None] = lambda: None, *, needs_key: bool = False
    ) -> None:
        self._standalone = standalone
        self._add_operations = add_operations
        self._needs_key = needs_key

    async def open(self) -> None:
        """Open the graph, and finish what interrupted erasures selected, before anything is answered."""
        await self._standalone.open_graph()
        await self._finish_erasures()
        if self._needs_key and not await self._standalone.keys.keys():
            _log.warning("requests need a key and none exists yet: `vicw keys create` creates one")

    async def load(self, url: str) -> None:
        """Load the model, the index and what is imported late, then start the background work.

        Commands find the ``url`` in the data directory once their operations are there. Raises DataDirError,
        StorageFullError, SettingsError or UnavailableError.
        """
        model = asyncio.create_task(self._standalone.embedders.loaded(), name="model")
        try:
            for loaded in (await asyncio.wait({model}, timeout=_FIRST_SECONDS))[0]:
                loaded.result()
            await self._standalone.open_index()
            await self._load_operations(url)
            await model
        finally:
            model.cancel()
            await asyncio.wait({model})
        freeze_loaded_objects()
        self._standalone.start_indexer()

    async def close(self) -> None:
        """Close the stores, and end the model's process."""
        await self._standalone.close()

    async def _load_operations(self, url: str) -> None:
        for module in _LATE:
            await in_thread(import_module, module)
        self._add_operations()
        self._standalone.data_dir.record_address(url)

    async def _finish_erasures(self) -> None:
        standalone = self._standalone
        eraser = Eraser(standalone.graph, standalone.indexes, standalone.registry)
        try:
            if await eraser.pending():
                _log.warning("an erasure is not proven yet: `vicw forget resume` searches for what is left")
                await standalone.open_index()
            await eraser.finish_interrupted()
        except VicwError as error:
            _log.warning("an interrupted erasure could not be finished: `vicw forget resume`", error=error.detail)


class Probes:
    """Checks of the dependencies, for readiness: each raises if it does not work, also while the stores are opened."""

    def __init__(self, standalone: Standalone) -> None:
        self._standalone = standalone

    async def embedding(self) -> None:
        """Raise if the embedder does not answer, or still loads its model."""
        self._require_open("embedding")
        await self._standalone.probe_embedder()

    async def graph(self) -> None:
        """Raise if the graph does not answer."""
        self._require_open("graph")
        await self._standalone.graph.record.models()

    async def vectors(self) -> None:
        """Raise if the vector index does not answer."""
        self._require_open("vectors")
        if not self._standalone.indexes.is_open:
            raise UnavailableError("vectors", "the index is being opened; until then, answers come from words")
        await self._standalone.vectors.ids(after=None, limit=1)

    def _require_open(self, dependency: str) -> None:
        if not self._standalone.gate.is_open:
            raise UnavailableError(dependency, "is being opened")
