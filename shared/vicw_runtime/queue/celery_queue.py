"""Celery over Redis: wake-ups for workers. A message says only that there is work; the work itself is in the outbox.

So one waiting message is enough, from any sender: the worker that takes it finds all work committed until then.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import redis
import structlog
from celery import Celery
from celery.signals import after_task_publish
from prometheus_client import Counter
from redis.backoff import NoBackoff
from redis.retry import Retry

from vicw_runtime.logs import current_request_id
from vicw_runtime.schedule.jobs import ScheduledJob
from vicw_shared.errors import UnavailableError
from vicw_shared.settings import RedisSettings
from vicw_shared.telemetry.spans import SpanRole, span, trace_headers

INDEX = "vicw.ingest.index"
EVICT = "vicw.ingest.evict"
FORGET = "vicw.ingest.forget"
EXTRACT = "vicw.extract.read"
RECONCILE = "vicw.sleep.reconcile"
WATCH = "vicw.sleep.watch"
MIRROR = "vicw.sleep.mirror"
CONSOLIDATE = "vicw.sleep.consolidate"
CATCH_UP = "vicw.sleep.catch_up"
DREAM = "vicw.sleep.dream"
RESOLVE = "vicw.sleep.resolve"
UNDO = "vicw.sleep.undo"
JOB_TASKS = {ScheduledJob.CONSOLIDATION: CONSOLIDATE, ScheduledJob.DREAM: DREAM, ScheduledJob.RESOLVE: RESOLVE}
"""The tasks of jobs that can be started by hand."""
INGEST_QUEUE, EXTRACT_QUEUE, SLEEP_QUEUE = "ingest", "extract", "sleep"
REQUEST_ID = "vicw_request_id"

_log = structlog.get_logger()
SENT = Counter("vicw_queue_sent_total", "Messages sent to workers", ["task"])
SEND_FAILURES = Counter("vicw_queue_send_failures_total", "Messages to workers that could not be sent")
_SOCKET_SECONDS = 30  # a worker's own waits for messages are shorter
_QUIET_SECONDS = 3.0
_NOT_TOLD = "no worker could be told; send the request again"
EXPIRES_SECONDS = 3600.0
"""A message older than this is dropped: later ones ask for the same work."""


def make_celery(name: str, settings: RedisSettings) -> Celery:
    """Return an application on the broker that only sends."""
    app = Celery(name, set_as_current=False)
    use_broker(app, settings)
    return app


def use_broker(app: Celery, settings: RedisSettings) -> None:
    """Put an application on the broker; tasks are routed by name to the queue of their service."""
    app.conf.update(
        broker_url=broker_url(settings),
        task_routes={
            "vicw.ingest.*": {"queue": INGEST_QUEUE},
            "vicw.extract.*": {"queue": EXTRACT_QUEUE},
            "vicw.sleep.*": {"queue": SLEEP_QUEUE},
        },
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        # Another worker repeats the task of a killed worker; every task may run twice.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,  # by default a worker exits after 46 minutes without Redis
        # A full Redis answers with errors of this kind: the worker waits for room instead of exiting.
        broker_channel_error_retry=True,
        broker_transport_options={
            "visibility_timeout": 3600,
            "socket_timeout": _SOCKET_SECONDS,
            "socket_connect_timeout": settings.timeout_seconds,
            "max_retries": 1,
        },
        timezone="UTC",
    )


def broker_url(settings: RedisSettings) -> str:
    """Return the broker's address with its password."""
    if settings.password is None:
        return settings.url
    parts = urlsplit(settings.url)
    secret = quote(settings.password.get_secret_value(), safe="")
    user = parts.username or ""  # still quoted, as in the address
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}:{secret}@{host}"))


def connect(settings: RedisSettings, *, at_most: float = float("inf")) -> redis.Redis:
    """Return a Redis client for calls other than messages, without retries and with the shorter of both timeouts."""
    seconds = min(settings.timeout_seconds, at_most)
    return redis.Redis.from_url(
        broker_url(settings),
        socket_timeout=seconds,
        socket_connect_timeout=seconds,
        retry=Retry(NoBackoff(), 0),
    )


def waiting(client: redis.Redis, queue: str) -> int:
    """Return the number of messages that no worker has taken yet: Celery keeps them in a list. Raises RedisError."""
    return int(client.llen(queue))


def send(app: Celery, task: str, *, expires: float = EXPIRES_SECONDS, **options: Any) -> bool:
    """Send a message. A failure is logged and returns False: the clock sends a later one for the same work."""
    try:
        app.send_task(task, retry=False, expires=expires, **options)
    except Exception as error:  # of Redis, of the connection, of Celery: none of them undoes a commit
        SEND_FAILURES.inc()
        _log.warning("a message could not be sent; the clock sends one later", task=task, error=str(error))
        return False
    return True


def begin(client: redis.Redis, task: str) -> None:
    """Note that a task begins: who asks for it from now on has it sent again. Raises RedisError."""
    client.delete(_asked(task))


def _asked(task: str) -> str:
    return f"vicw:asked:{task}"


def _count_sent(sender: str | None = None, **_: object) -> None:
    SENT.labels(sender or "").inc()


after_task_publish.connect(_count_sent, weak=False)


class CeleryQueue:
    """WorkQueue that sends a Celery ``task`` to the workers of a ``queue``, by default the indexing task.

    Celery's client blocks, so it runs in its own thread. A wake-up is skipped while another waits or is being sent, and
    for some seconds after a failed one: the workers also poll.
    """

    def __init__(
        self, settings: RedisSettings, *, task: str = INDEX, queue: str = INGEST_QUEUE, shared: bool = False
    ) -> None:
        """``shared``: messages of other tasks wait in the queue, too, so each wake-up is sent."""
        self._task = task
        self._queue = queue
        self._shared = shared
        self._app = make_celery("vicw", settings)
        self._redis = connect(settings)
        self._timeout = settings.timeout_seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="queue")
        self._sending = False
        self._quiet_until = float("-inf")

    async def wake(self) -> None:
        if self._sending or time.monotonic() < self._quiet_until:
            return
        self._sending = True
        with span(f"send {self._task}", SpanRole.PRODUCER):
            headers = {REQUEST_ID: current_request_id(), **trace_headers()}
            sent = asyncio.get_running_loop().run_in_executor(self._thread, self._send, headers)
            sent.add_done_callback(self._done)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._timeout):
                    await asyncio.wait({sent})

    async def send(self, *ids: str | None, task: str | None = None) -> None:
        """Send the task, or another of the same queue, with the ids of its work.

        Raises UnavailableError if the broker does not take it in time.
        """
        task = task or self._task
        with span(f"send {task}", SpanRole.PRODUCER):
            headers = {REQUEST_ID: current_request_id(), **trace_headers()}
            message = partial(self._app.send_task, task, ids, headers=headers, retry=False, expires=EXPIRES_SECONDS)
            try:
                async with asyncio.timeout(self._timeout):
                    await asyncio.get_running_loop().run_in_executor(self._thread, message)
            except Exception as error:  # of Redis, of the connection, of Celery
                SEND_FAILURES.inc()
                raise UnavailableError("queue", _NOT_TOLD) from error

    async def send_once(self, task: str) -> None:
        """Send a task of the same queue, unless one that was sent so has not begun: ``begin`` tells of that.

        Raises UnavailableError if the broker does not take it in time.
        """
        mark, seconds = _asked(task), int(EXPIRES_SECONDS)
        try:
            async with asyncio.timeout(self._timeout):
                first = await asyncio.to_thread(self._redis.set, mark, 1, nx=True, ex=seconds)
        except (TimeoutError, redis.RedisError) as error:
            raise UnavailableError("queue", _NOT_TOLD) from error
        if not first:
            return
        try:
            await self.send(task=task)
        except UnavailableError:
            with suppress(redis.RedisError):  # then it ends by itself
                await asyncio.to_thread(self._redis.delete, mark)
            raise

    def _send(self, headers: dict[str, Any]) -> None:
        if self._shared or not waiting(self._redis, self._queue):
            self._app.send_task(self._task, headers=headers, retry=False, expires=EXPIRES_SECONDS)

    def _done(self, sent: asyncio.Future[None]) -> None:
        self._sending = False
        error = None if sent.cancelled() else sent.exception()
        if error is not None:
            SEND_FAILURES.inc()
            self._quiet_until = time.monotonic() + _QUIET_SECONDS
            _log.warning("workers could not be woken; they find the work at their next poll", error=str(error))

    async def probe(self) -> None:
        """Raise RedisError if the broker does not answer."""
        await asyncio.to_thread(self._redis.ping)

    async def close(self) -> None:
        """Close connections. Safe to call twice."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._app.close)
        await asyncio.to_thread(self._redis.close)
