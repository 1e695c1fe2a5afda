"""An event loop and open engines in each of a worker's processes, for tasks that are doors to async use cases."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from vicw_shared.adapters.celery_queue import REQUEST_ID
from vicw_shared.http.serve import Opened
from vicw_shared.logs import bind_request_id

_log = structlog.get_logger()


class Runtime[W: Opened]:
    """Opens what tasks work with at the first task: after the fork, which no connection survives."""

    def __init__(self, build: Callable[[], W]) -> None:
        self._build = build
        self._runner: asyncio.Runner | None = None
        self._wiring: W | None = None

    def run[T](self, work: Callable[[W], Awaitable[T]]) -> T:
        """Run ``work`` to its end."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self._work(work))

    async def _work[T](self, work: Callable[[W], Awaitable[T]]) -> T:
        if self._wiring is None:
            wiring = self._build()
            await wiring.open()
            self._wiring = wiring
        try:
            return await work(self._wiring)
        except Exception as error:
            _log.warning("a task failed", error=str(error) or type(error).__name__)
            raise

    def close(self) -> None:
        """Close everything. Safe to call twice."""
        if self._runner is not None:
            if self._wiring is not None:
                self._runner.run(self._wiring.close())
            self._runner.close()
            self._runner = self._wiring = None


def bind_request(request: Any) -> None:
    """Bind the id of the request that sent the task, so that it is in every line of the log."""
    bind_request_id(getattr(request, REQUEST_ID, None) or request.id)
