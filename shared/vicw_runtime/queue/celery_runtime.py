"""Worker runtime: an event loop and open engines per worker process, for tasks that call asynchronous use cases."""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import structlog
from celery import Celery, bootsteps
from celery.signals import celeryd_init, setup_logging, worker_process_init, worker_process_shutdown, worker_ready
from prometheus_client import Counter, Histogram

from vicw_runtime import exit_codes
from vicw_runtime.http.serve import Resources
from vicw_runtime.liveness import TOUCH_SECONDS, touch
from vicw_runtime.logs import bind_request_id, configure_logs
from vicw_runtime.queue.celery_queue import REQUEST_ID
from vicw_runtime.telemetry.serving import serve_metrics
from vicw_runtime.telemetry.tracing import require_traces, start_traces, stop_traces
from vicw_shared.errors import SettingsError
from vicw_shared.settings import LogSettings, MetricsSettings, TraceSettings, WorkerSettings
from vicw_shared.telemetry.engines import error_kind
from vicw_shared.telemetry.spans import TRACE_HEADERS, SpanRole, entry_span
from vicw_shared.telemetry.stages import SECONDS as BOUNDS

_log = structlog.get_logger()
_KIB_PER_MIB = 1024
SECONDS = Histogram("vicw_task_seconds", "Time of a task", ["task"], buckets=BOUNDS)
FAILURES = Counter("vicw_task_failures_total", "Tasks that failed", ["task", "error"])


class Runtime[W: Resources]:
    """Event loop and engines of one worker process. They open at the first task: no connection survives the fork."""

    def __init__(self, build: Callable[[], W]) -> None:
        self._build = build
        self._runner: asyncio.Runner | None = None
        self._wiring: W | None = None

    def run[T](self, request: Any, work: Callable[[W], Awaitable[T]]) -> T:
        """Run the ``work`` of a task to its end, as a part of the request that sent the task.

        Its log lines have the request's id, and its spans continue the request's trace.
        """
        bind_request_id(getattr(request, REQUEST_ID, None) or request.id)
        carrier = {name: value for name in TRACE_HEADERS if isinstance(value := getattr(request, name, None), str)}
        if self._runner is None:
            self._runner = asyncio.Runner()
        try:
            with entry_span(request.task, SpanRole.CONSUMER, carrier), SECONDS.labels(request.task).time():
                # The loop's own context would be that of the first task forever.
                return self._runner.run(self._work(work), context=contextvars.copy_context())
        except Exception as error:
            FAILURES.labels(request.task, error_kind(error)).inc()
            raise

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


def prepare_worker(
    app: Celery,
    runtime: Runtime[Any],
    *,
    service: str,
    worker: WorkerSettings,
    log: LogSettings,
    metrics: MetricsSettings,
    traces: TraceSettings,
    nice: int = 0,
) -> None:
    """Set up a worker's logs, metrics, traces, liveness file and limits.

    The resources of its processes are closed when they end; their niceness is at least ``nice``.
    """
    app.conf.update(
        worker_concurrency=worker.concurrency, worker_max_memory_per_child=worker.max_memory_mb * _KIB_PER_MIB
    )
    if worker.liveness_file is not None:
        app.steps["consumer"].add(_liveness_step(worker.liveness_file))

    def start(**_: object) -> None:
        try:
            require_traces(traces)
            release_port = serve_metrics(metrics)
        except SettingsError as error:
            print(f"error: {error.detail}", file=sys.stderr, flush=True)
            sys.exit(exit_codes.FATAL)  # Celery would log the exception and go on
        worker_process_init.connect(lambda **_: release_port(), weak=False)

    def stop(**_: object) -> None:
        runtime.close()
        stop_traces()

    celeryd_init.connect(start, weak=False)
    setup_logging.connect(lambda **_: configure_logs(log), weak=False)
    worker_process_init.connect(lambda **_: start_traces(traces, service), weak=False)
    worker_process_init.connect(lambda **_: _lower_priority(nice), weak=False)
    worker_ready.connect(lambda **_: _log.info("worker waits for tasks"), weak=False)
    worker_process_shutdown.connect(stop, weak=False)


def _lower_priority(nice: int) -> None:
    if os.getpriority(os.PRIO_PROCESS, 0) < nice:
        os.setpriority(os.PRIO_PROCESS, 0, nice)


def _liveness_step(file: Path) -> type[bootsteps.StartStopStep]:
    """Return a consumer step that touches ``file`` from the consumer's own loop while it consumes."""

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
