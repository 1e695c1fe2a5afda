"""Opens the stores for a command that does by hand what the sleep cycle does by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from vicw_shared.errors import DataDirError
from vicw_shared.logs import configure_logs
from vicw_shared.settings import LogSettings
from vicw_standalone.cli.console import fail
from vicw_standalone.settings import Settings

if TYPE_CHECKING:
    from vicw_standalone.undoing import Sleeper


def run_asleep(
    settings: Settings, platform: bool, work: Callable[[Sleeper], Awaitable[None]], *, schedule: str
) -> None:
    """Do ``work`` over the stores; where a server has them open, it is said by which setting that does it by itself."""

    async def run() -> None:
        async with _on_platform() if platform else _on_directory(settings, schedule) as sleeper:
            await work(sleeper)

    configure_logs(LogSettings(level="warning"))
    asyncio.run(run())


@asynccontextmanager
async def _on_directory(settings: Settings, schedule: str) -> AsyncIterator[Sleeper]:
    from vicw_standalone.offline import require_store
    from vicw_standalone.wiring import Standalone

    require_store(settings.storage.data_dir)
    standalone = Standalone(settings)
    try:
        await standalone.open()
    except DataDirError as error:
        fail(f"{error.detail}. A server does this by itself ({schedule}); stop it to do it now", code=2)
    try:
        yield standalone.asleep
        await standalone.indexer.drain()
    finally:
        await standalone.close()


@asynccontextmanager
async def _on_platform() -> AsyncIterator[Sleeper]:
    from vicw_sleep.settings import Settings as SleepSettings
    from vicw_sleep.wiring import Wiring

    wiring = Wiring(SleepSettings.read())
    await wiring.open()
    try:
        yield wiring
    finally:
        await wiring.close()
