"""Opens the stores for commands that run background jobs by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vicw_runtime.logs import configure_logs
from vicw_shared.errors import DataDirError
from vicw_shared.settings import LogSettings
from vicw_standalone.cli.console import fail
from vicw_standalone.settings import StandaloneSettings

if TYPE_CHECKING:
    from vicw_ingest.eviction.service import Eviction
    from vicw_ingest.expiry.service import Expiry
    from vicw_runtime.operations import Memory
    from vicw_shared.ports import GraphStore
    from vicw_standalone.wiring import Standalone


@dataclass(frozen=True, slots=True)
class ItemRemoval:
    """Expiry and eviction over open stores."""

    graph: GraphStore
    expiry: Expiry
    capacity: Eviction


def run_maintenance(
    settings: StandaloneSettings, platform: bool, work: Callable[[Memory], Awaitable[None]], *, schedule: str | None
) -> None:
    """Run ``work`` over the stores. A server that has them open ends the command.

    The message names ``schedule``, the setting by which a server runs the job; None: a server never does.
    """
    _run(
        work, _sleep_worker() if platform else _on_directory(settings, schedule, lambda standalone: standalone.memory())
    )


def run_item_removal(
    settings: StandaloneSettings, platform: bool, work: Callable[[ItemRemoval], Awaitable[None]], *, schedule: str
) -> None:
    """Run ``work`` with expiry and eviction, as ``run_maintenance`` does."""

    from vicw_standalone.scheduled_jobs import eviction_of

    def removal(standalone: Standalone) -> ItemRemoval:
        return ItemRemoval(standalone.graph, standalone.expiry, eviction_of(standalone.memory()))

    _run(work, _ingest_worker() if platform else _on_directory(settings, schedule, removal))


def _run[T](work: Callable[[T], Awaitable[None]], stores: AbstractAsyncContextManager[T]) -> None:
    async def run() -> None:
        async with stores as opened:
            await work(opened)

    configure_logs(LogSettings(level="warning"))
    asyncio.run(run())


@asynccontextmanager
async def _on_directory[T](
    settings: StandaloneSettings, schedule: str | None, use: Callable[[Standalone], T]
) -> AsyncIterator[T]:
    from vicw_standalone.erasure.embedded import opened
    from vicw_stores.sqlite import require_store

    require_store(settings.storage.data_dir)
    async with AsyncExitStack() as stack:
        try:
            standalone, _ = await stack.enter_async_context(opened(settings))
        except DataDirError as error:
            reason = (
                f"runs this automatically ({schedule})" if schedule is not None else "does not run this automatically"
            )
            fail(f"{error.detail}. A server {reason}; stop it to run this now", code=2)
        yield use(standalone)
        await standalone.indexer.drain()


@asynccontextmanager
async def _sleep_worker() -> AsyncIterator[Memory]:
    from vicw_sleep.settings import SleepServiceSettings as SleepSettings
    from vicw_sleep.wiring import SleepWiring

    wiring = SleepWiring(SleepSettings.read())
    await wiring.open()
    try:
        yield wiring.memory
    finally:
        await wiring.close()


@asynccontextmanager
async def _ingest_worker() -> AsyncIterator[ItemRemoval]:
    from vicw_ingest.settings import IngestServiceSettings as IngestSettings
    from vicw_ingest.wiring import IngestWiring

    wiring = IngestWiring(IngestSettings.read())
    await wiring.open()
    try:
        workers = replace(wiring.expiry, queue=wiring.queue)  # no indexer runs in this process
        yield ItemRemoval(wiring.engines.graph, workers, wiring.eviction())
    finally:
        await wiring.close()
