"""Celery over Redis: wake-ups for workers. A message says that there is work, never what; that is in the outbox."""

from __future__ import annotations

import asyncio
import math
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import structlog
from celery import Celery

from vicw_shared.logs import current_request_id
from vicw_shared.settings import RedisSettings

INDEX = "vicw.ingest.index"
RECONCILE = "vicw.sleep.reconcile"
INGEST_QUEUE, SLEEP_QUEUE = "ingest", "sleep"
REQUEST_ID = "vicw_request_id"

_log = structlog.get_logger()
_EXPIRES_SECONDS = 3600  # a wake-up that waited for hours says nothing new


def make_celery(name: str, settings: RedisSettings) -> Celery:
    """Return an application on the broker; tasks are routed by name to the queue of their service."""
    app = Celery(name, broker=broker_url(settings), set_as_current=False)
    app.conf.update(
        task_routes={"vicw.ingest.*": {"queue": INGEST_QUEUE}, "vicw.sleep.*": {"queue": SLEEP_QUEUE}},
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        # A killed worker's task is done again by another; every task may run twice.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "visibility_timeout": 3600,
            "socket_timeout": 30,
            "socket_connect_timeout": settings.timeout_seconds,
            "max_retries": 1,
        },
        timezone="UTC",
    )
    return app


def broker_url(settings: RedisSettings) -> str:
    """Return the broker's address with its password."""
    if settings.password is None:
        return settings.url
    parts = urlsplit(settings.url)
    secret = quote(settings.password.get_secret_value(), safe="")
    user = quote(parts.username or "", safe="")
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}:{secret}@{host}"))


class CeleryQueue:
    """WorkQueue that sends Celery tasks to the ingest workers."""

    def __init__(self, settings: RedisSettings) -> None:
        self._app = make_celery("vicw", settings)
        self._timeout = settings.timeout_seconds

    async def wake(self) -> None:
        try:
            # In a thread: Celery's client blocks, for as long as a broker that is away takes to be given up.
            async with asyncio.timeout(self._timeout):
                await asyncio.to_thread(self._send)
        except Exception as error:
            _log.warning("workers could not be woken; they look by themselves", error=str(error) or "no answer in time")

    def _send(self) -> None:
        headers: dict[str, Any] = {REQUEST_ID: current_request_id()}
        self._app.send_task(INDEX, headers=headers, retry=False, expires=_EXPIRES_SECONDS)

    async def probe(self) -> None:
        """Raise if the broker does not answer."""
        async with asyncio.timeout(self._timeout):
            await asyncio.to_thread(self._ping)

    def _ping(self) -> None:
        with self._app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, timeout=math.ceil(self._timeout))

    async def close(self) -> None:
        """Close connections. Safe to call twice."""
        await asyncio.to_thread(self._app.close)
