"""Tasks and messages, without a broker: what they tell, and whose request they belong to."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from support.metrics.counters import metric_increase
from support.servers.machine import free_port
from vicw_runtime.logs import current_request_id
from vicw_runtime.queue.celery_queue import REQUEST_ID, CeleryQueue, make_celery
from vicw_runtime.queue.celery_runtime import Runtime
from vicw_shared.errors import UnavailableError
from vicw_shared.settings import RedisSettings


class EmptyWiring:
    """What a worker opens."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...


def request(**fields: str) -> SimpleNamespace:
    return SimpleNamespace(id="task-id", task="t", **fields)


async def see_request(_: EmptyWiring) -> str | None:
    return current_request_id()


async def fail(_: EmptyWiring) -> None:
    raise UnavailableError("graph", "told to")


def test_each_task_works_under_the_id_of_the_request_that_sent_it() -> None:
    runtime = Runtime(EmptyWiring)
    try:
        assert runtime.run(request(**{REQUEST_ID: "first"}), see_request) == "first"
        assert runtime.run(request(**{REQUEST_ID: "second"}), see_request) == "second"
        assert runtime.run(request(), see_request) == "task-id"
    finally:
        runtime.close()


def test_tasks_are_measured_and_their_failures_counted_by_kind() -> None:
    runtime = Runtime(EmptyWiring)
    run = metric_increase("vicw_task_seconds_count", task="t")
    failed = metric_increase("vicw_task_failures_total", task="t", error="dependency-unavailable")
    try:
        runtime.run(request(), see_request)
        with pytest.raises(UnavailableError):
            runtime.run(request(), fail)
    finally:
        runtime.close()
    assert (run(), failed()) == (2, 1)


async def test_a_message_that_cannot_be_sent_is_counted() -> None:
    queue = CeleryQueue(RedisSettings(url=f"redis://127.0.0.1:{free_port()}/0", timeout_seconds=5))
    failed, sent = (
        metric_increase("vicw_queue_send_failures_total"),
        metric_increase("vicw_queue_sent_total", task="vicw.ingest.index"),
    )
    await queue.wake()
    await queue.close()
    assert (failed(), sent()) == (1, 0)


class EnoughError(Exception):
    """So often has nobody tried before."""


def test_a_worker_keeps_retrying_to_connect_to_its_broker() -> None:
    app = make_celery("test", RedisSettings.model_validate({"url": f"redis://127.0.0.1:{free_port()}/0"}))
    tries = 0

    def count(_: Exception, __: float) -> None:
        nonlocal tries
        tries += 1
        if tries > 200:
            raise EnoughError

    with app.connection() as connection, pytest.raises(EnoughError):
        connection.ensure_connection(count, app.conf.broker_connection_max_retries, 0, 0, 0)
