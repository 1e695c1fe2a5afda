"""Opens the stores for commands that run background jobs by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from vicw_runtime.logs import configure_logs
from vicw_runtime.operations.console import fail
from vicw_shared.errors import DataDirError
from vicw_shared.settings import LogSettings
from vicw_standalone.settings import StandaloneSettings

if TYPE_CHECKING:
    from vicw_runtime.operations import Memory
    from vicw_standalone.wiring import Standalone


def run_maintenance(
    settings: StandaloneSettings, platform: bool, work: Callable[[Memory], Awaitable[None]], *, schedule: str | None
) -> None:
    """Run ``work`` over the stores. A server that has them open ends the command.

    The message names ``schedule``, the setting by which a server runs the job; None: a server never does.
    """
    _run(
        work, _sleep_worker() if platform else _on_directory(settings, schedule, lambda standalone: standalone.memory())
    )


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
    from vicw_standalone.wiring import Standalone
    from vicw_stores.sqlite import require_store

    require_store(settings.storage.data_dir)
    async with AsyncExitStack() as stack:
        try:
            standalone = Standalone(settings)
            stack.push_async_callback(standalone.close)
            await standalone.open()
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
