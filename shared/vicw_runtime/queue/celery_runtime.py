"""Celery workers: the application of a service's worker, its tasks, and the engines of a worker's process.

A task is a function declared under its name in a module ``tasks``. It may be lost or run twice, and its message says at
most where to continue.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import update_wrapper
from pathlib import Path
from typing import Any, Concatenate, Protocol, cast

import structlog
from celery import Celery, Task, bootsteps, shared_task
from celery.signals import celeryd_init, setup_logging, worker_process_init, worker_process_shutdown, worker_ready
from prometheus_client import Counter, Histogram

from vicw_runtime import exit_codes
from vicw_runtime.http.serve import Resources
from vicw_runtime.liveness import TOUCH_SECONDS, touch
from vicw_runtime.logs import bind_request_id, configure_logs
from vicw_runtime.queue.celery_queue import REQUEST_ID, connect, send, use_broker
from vicw_runtime.telemetry.serving import serve_metrics
from vicw_runtime.telemetry.tracing import require_traces, start_traces, stop_traces
from vicw_shared.errors import RetryableError, SettingsError, VicwError
from vicw_shared.settings import (
    LogSettings,
    MetricsSettings,
    RedisSettings,
    ServerSettings,
    TraceSettings,
    WorkerSettings,
)
from vicw_shared.telemetry.engines import error_kind
from vicw_shared.telemetry.spans import TRACE_HEADERS, SpanRole, entry_span
from vicw_shared.telemetry.stages import SECONDS as BOUNDS

_log = structlog.get_logger()
_KIB_PER_MIB = 1024
SLICE_SECONDS = 10.0
"""Seconds that a task works before it ends and is sent again: well below a container's stop timeout."""
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


class WorkerServiceSettings(Protocol):
    """The settings of a worker, among the others of its service."""

    @property
    def server(self) -> ServerSettings: ...
    @property
    def redis(self) -> RedisSettings: ...
    @property
    def worker(self) -> WorkerSettings: ...
    @property
    def log(self) -> LogSettings: ...
    @property
    def metrics(self) -> MetricsSettings: ...
    @property
    def traces(self) -> TraceSettings: ...


class Worker[S: WorkerServiceSettings, W: Resources](Celery):
    """Celery application of a service's worker. Its tasks have its settings, a Redis client, and the engines of their
    process.

    ``tasks`` are the modules that declare the tasks: they import no application, so that whoever imports one reads no
    settings. Logs, metrics, traces and the liveness file start with the worker; the processes have at least the
    niceness ``nice``.
    """

    def __init__(self, name: str, settings: S, build: Callable[[], W], tasks: Sequence[str], *, nice: int = 0) -> None:
        super().__init__(name, include=list(tasks), set_as_current=False)
        self.settings = settings
        self.runtime = Runtime(build)
        self.redis = connect(settings.redis)
        use_broker(self, settings.redis)
        limits = settings.worker
        self.conf.update(
            worker_concurrency=limits.concurrency, worker_max_memory_per_child=limits.max_memory_mb * _KIB_PER_MIB
        )
        if limits.liveness_file is not None:
            self.steps["consumer"].add(_liveness_step(limits.liveness_file))
        self._connect_signals(f"{name.replace('_', '-')}-worker", nice)

    def _connect_signals(self, service: str, nice: int) -> None:
        settings = self.settings

        def start(**_: object) -> None:
            try:
                require_traces(settings.traces)
                release_port = serve_metrics(settings.metrics, settings.server)
            except SettingsError as error:
                print(f"error: {error.detail}", file=sys.stderr, flush=True)
                sys.exit(exit_codes.FATAL)  # Celery would log the exception and go on
            worker_process_init.connect(lambda **_: release_port(), weak=False)

        def stop(**_: object) -> None:
            self.runtime.close()
            stop_traces()

        celeryd_init.connect(start, weak=False)
        setup_logging.connect(lambda **_: configure_logs(settings.log), weak=False)
        worker_process_init.connect(lambda **_: start_traces(settings.traces, service), weak=False)
        worker_process_init.connect(lambda **_: _lower_priority(nice), weak=False)
        worker_ready.connect(lambda **_: _log.info("worker waits for tasks"), weak=False)
        worker_process_shutdown.connect(stop, weak=False)


def worker_of(task: Task[Any, Any]) -> Worker[Any, Any]:
    """Return the worker that runs a task."""
    return cast(Worker[Any, Any], task.app)


def task[W: Resources](
    name: str, what: str, *, expected: tuple[type[VicwError], ...] = (RetryableError,)
) -> Callable[[Callable[[W], Awaitable[bool]]], Task[[], None]]:
    """Decorator: the function is the task ``name`` of the worker whose engines it takes.

    It returns whether work is left; then the task is sent again, whatever else is queued, so that the number of working
    workers stays the same. An ``expected`` error is logged as one of ``what``, and left to the next run.
    """

    def declare(work: Callable[[W], Awaitable[bool]]) -> Task[[], None]:
        def run(self: Task[[], None]) -> None:
            try:
                more = worker_of(self).runtime.run(self.request, work)
            except expected as error:
                _log.warning(f"{what} failed; the next run tries again", error=error.detail)
                return
            if more:
                send(self.app, name)

        return declared(name, run, work)

    return declare


def declared[**P](
    name: str, run: Callable[Concatenate[Task[P, None], P], None], function: Callable[..., object]
) -> Task[P, None]:
    """Return the task ``name`` that calls ``run``, for every application; it is told apart as ``function``."""
    return shared_task(name=name, bind=True)(update_wrapper(run, function))


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
