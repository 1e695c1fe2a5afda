"""An event loop and open engines in each of a worker's processes, for tasks that are doors to async use cases."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import structlog
from celery import Celery, bootsteps
from celery.signals import setup_logging, worker_process_shutdown, worker_ready

from vicw_shared.adapters.celery_queue import REQUEST_ID
from vicw_shared.alive import TOUCH_SECONDS, touch
from vicw_shared.http.serve import Opened
from vicw_shared.logs import bind_request_id, configure_logs
from vicw_shared.settings import LogSettings, WorkerSettings

_log = structlog.get_logger()
_KIB_PER_MIB = 1024


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


def prepare_worker(app: Celery, settings: WorkerSettings, log: LogSettings, runtime: Runtime[Any]) -> None:
    """Let a worker log as services do, say when it waits for tasks and that it is alive, and keep within its bounds.

    What its processes opened is closed when they end.
    """
    app.conf.update(
        worker_concurrency=settings.concurrency, worker_max_memory_per_child=settings.max_memory_mb * _KIB_PER_MIB
    )
    if settings.alive_file is not None:
        app.steps["consumer"].add(_alive(settings.alive_file))
    setup_logging.connect(lambda **_: configure_logs(log), weak=False)
    worker_ready.connect(lambda **_: _log.info("worker waits for tasks"), weak=False)
    worker_process_shutdown.connect(lambda **_: runtime.close(), weak=False)


def _alive(file: Path) -> type[bootsteps.StartStopStep]:
    """Return the step of a consumer that touches ``file`` in the consumer's own loop, as long as it consumes."""

    class Alive(bootsteps.StartStopStep):
        requires = ("celery.worker.consumer.tasks:Tasks",)
        timer: Any = None

        def start(self, parent: Any) -> None:
            touch(file)
            self.timer = parent.timer.call_repeatedly(TOUCH_SECONDS, touch, (file,))

        def stop(self, parent: Any) -> None:
            if self.timer is not None:
                self.timer.cancel()

    return Alive


def bind_request(request: Any) -> None:
    """Bind the id of the request that sent the task, so that it is in every line of the log."""
    bind_request_id(getattr(request, REQUEST_ID, None) or request.id)
