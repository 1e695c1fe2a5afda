"""Runner of the jobs that change what is stored, from the start of the server to its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from typing import NoReturn, Protocol

from vicw_core.background import finish, start_background_task

type Work = tuple[str, Coroutine[None, None, NoReturn]]
_IMPORT_POLL_SECONDS = 5.0


class Imports(Protocol):
    """The record of an import that is not complete."""

    async def import_mark(self) -> str | None:
        """Return the mark; None if no import is under way or interrupted."""
        ...


class JobRunner:
    """Runs the jobs that change what is stored, once no import is incomplete: they must not meet half of one."""

    def __init__(self, imports: Imports, jobs: Callable[[], Iterable[Work]]) -> None:
        self._imports = imports
        self._jobs = jobs
        self._running = contextlib.AsyncExitStack()
        self._lock = asyncio.Lock()
        self._is_started = False

    def start(self) -> None:
        """Start the jobs, until ``close``."""
        self._is_started = True
        start_background_task(self._run(), self._running, "jobs")

    @contextlib.asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """Stop the jobs for the block, one block at a time; they start again after it if they were started."""
        async with self._lock:
            try:
                await finish(self._running.aclose())
                yield
            finally:
                if self._is_started:
                    self.start()

    async def close(self) -> None:
        """End the jobs. Safe to call twice."""
        self._is_started = False
        await self._running.aclose()

    async def _run(self) -> None:
        while await self._imports.import_mark() is not None:  # noqa: ASYNC110 - another process may end it
            await asyncio.sleep(_IMPORT_POLL_SECONDS)
        async with contextlib.AsyncExitStack() as running:
            for name, work in self._jobs():
                start_background_task(work, running, name)
            await asyncio.Event().wait()
