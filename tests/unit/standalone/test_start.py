"""The order in which a server loads what its first answers can do without."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from vicw_shared.errors import UnavailableError
from vicw_standalone.lifecycle.start import Start


class _Server:
    """What ``Start`` loads, as a list of what was done."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.model: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.embedders = SimpleNamespace(loaded=self._loaded)
        self.data_dir = SimpleNamespace(record_address=lambda _: self.done.append("address"))

    async def _loaded(self) -> None:
        await asyncio.shield(self.model)
        self.done.append("model")

    async def open_index(self) -> None:
        self.done.append("index")

    def start_indexer(self) -> None:
        self.done.append("indexer")

    def start(self) -> asyncio.Task[None]:
        start = Start(cast("Any", self), lambda: self.done.append("operations"))
        return asyncio.create_task(start.load("http://127.0.0.1:8080"))


async def test_the_index_and_slow_imports_come_after_a_model_that_is_loaded_soon() -> None:
    server = _Server()
    server.model.set_result(None)
    await server.start()
    assert server.done == ["model", "index", "operations", "address", "indexer"]


async def test_they_come_before_a_model_that_takes_longer() -> None:
    server = _Server()
    loading = server.start()
    async with asyncio.timeout(60):
        while "address" not in server.done:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert server.done == ["index", "operations", "address"]
    server.model.set_result(None)
    await loading
    assert server.done[3:] == ["model", "indexer"]


async def test_a_model_that_cannot_be_loaded_ends_the_start_at_once() -> None:
    server = _Server()
    server.model.set_exception(UnavailableError("embedding", "gone"))
    with pytest.raises(UnavailableError):
        await server.start()
    assert server.done == []


async def test_a_start_that_is_cancelled_leaves_no_task() -> None:
    server = _Server()
    loading = server.start()
    await asyncio.sleep(0)
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading
    assert {task.get_name() for task in asyncio.all_tasks()}.isdisjoint({"model", "index"})
    server.model.set_result(None)
