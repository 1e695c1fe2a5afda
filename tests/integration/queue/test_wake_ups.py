"""Messages on a real Redis: few, however often workers are woken, and none where there is no room."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import pytest
import redis
from pydantic import SecretStr

from support.metrics.counters import metric_increase
from support.servers.redis import RedisProcess, RedisServer
from vicw_runtime.queue.celery_queue import (
    INDEX,
    INGEST_QUEUE,
    RECONCILE,
    SLEEP_QUEUE,
    WATCH,
    CeleryQueue,
    broker_url,
    connect,
    make_celery,
    send,
    waiting,
)
from vicw_shared.settings import RedisSettings
from vicw_sleep.schedule.job_lock import JobLock, key_of
from vicw_sleep.schedule.ticks import Tick, send_due

DATABASE = 3


@pytest.fixture
def settings(redis_server: RedisServer) -> RedisSettings:
    return RedisSettings(url=redis_server.database(DATABASE))


@pytest.fixture
def client(settings: RedisSettings) -> Iterator[redis.Redis]:
    with connect(settings) as opened:
        opened.flushdb()
        yield opened
        opened.flushdb()


@pytest.fixture
async def queues(settings: RedisSettings) -> AsyncIterator[list[CeleryQueue]]:
    """Those of several services."""
    async with AsyncExitStack() as stack:
        made = [CeleryQueue(settings) for _ in range(4)]
        for queue in made:
            stack.push_async_callback(queue.close)
        yield made


async def test_thousands_of_wake_ups_leave_at_most_one_message_per_service(
    queues: list[CeleryQueue], client: redis.Redis
) -> None:
    async def requests(queue: CeleryQueue) -> None:
        for _ in range(500):
            await queue.wake()

    failed = metric_increase("vicw_queue_send_failures_total")
    await asyncio.gather(*(requests(queue) for queue in queues))
    assert (1 <= waiting(client, INGEST_QUEUE) <= len(queues), failed()) == (True, 0)


async def test_a_wake_up_after_the_message_was_taken_sends_another(
    queues: list[CeleryQueue], client: redis.Redis
) -> None:
    for _ in range(50):
        await queues[0].wake()
        await queues[1].wake()
        assert waiting(client, INGEST_QUEUE) == 1
        client.lpop(INGEST_QUEUE)


async def test_every_wake_up_message_has_an_expiry(
    queues: list[CeleryQueue], settings: RedisSettings, client: redis.Redis
) -> None:
    app = make_celery("test", settings)
    try:
        await queues[0].wake()
        send(app, INDEX)
        send_due(app, client, [Tick(RECONCILE, SLEEP_QUEUE, 60, 60)])
    finally:
        app.close()
    kept = [json.loads(message) for queue in (INGEST_QUEUE, SLEEP_QUEUE) for message in client.lrange(queue, 0, -1)]
    assert [message["headers"]["task"] for message in kept] == [INDEX, INDEX, RECONCILE]
    assert all(datetime.fromisoformat(message["headers"]["expires"]) > datetime.now(UTC) for message in kept)


def test_the_beat_sends_no_message_while_one_waits(settings: RedisSettings, client: redis.Redis) -> None:
    app = make_celery("test", settings)
    schedule = [Tick(INDEX, INGEST_QUEUE, 0, 60), Tick(RECONCILE, SLEEP_QUEUE, 0, 60)]
    try:
        for _ in range(100):
            send_due(app, client, schedule)
        assert [waiting(client, queue) for queue in (INGEST_QUEUE, SLEEP_QUEUE)] == [1, 1]
        client.lpop(INGEST_QUEUE)
        send_due(app, client, schedule)
        assert [waiting(client, queue) for queue in (INGEST_QUEUE, SLEEP_QUEUE)] == [1, 1]
    finally:
        app.close()


def test_another_tasks_waiting_message_delays_a_tick_up_to_a_minute(
    settings: RedisSettings, client: redis.Redis
) -> None:
    app = make_celery("test", settings)
    hourly = Tick(RECONCILE, SLEEP_QUEUE, 3600, 60)
    try:
        send(app, WATCH)
        send_due(app, client, [hourly])
        assert waiting(client, SLEEP_QUEUE) == 1
        assert 0 < hourly.due - time.monotonic() <= 60
        client.lpop(SLEEP_QUEUE)
        hourly.due = 0
        send_due(app, client, [hourly])
        assert waiting(client, SLEEP_QUEUE) == 1
        assert hourly.due - time.monotonic() > 3500
    finally:
        app.close()


async def test_waking_over_a_full_redis_raises_nothing_and_is_retried_soon(
    start_redis: Callable[[], RedisProcess],
) -> None:
    settings = RedisSettings(url=start_redis().server.database(0))
    queue, app = CeleryQueue(settings), make_celery("test", settings)
    failed = metric_increase("vicw_queue_send_failures_total")
    with connect(settings) as client:
        try:
            client.config_set("maxmemory", 1)
            await queue.wake()
            assert (failed(), send(app, INDEX), failed()) == (1, False, 2)
            send_due(app, client, schedule := [Tick(INDEX, INGEST_QUEUE, 3600, 60)])
            assert waiting(client, INGEST_QUEUE) == 0
            client.config_set("maxmemory", 0)
            await asyncio.sleep(1.1)
            send_due(app, client, schedule)
            assert waiting(client, INGEST_QUEUE) == 1, "it did not wait for an hour to try again"
            client.delete(INGEST_QUEUE)
            await asyncio.sleep(2.1)  # for so long it is left alone after an error
            await queue.wake()
            assert waiting(client, INGEST_QUEUE) == 1
        finally:
            await queue.close()
            app.close()


def test_only_one_job_lock_holds_the_lock_at_a_time(client: redis.Redis) -> None:
    chain = JobLock(client, "task")
    first = chain.hold(None)
    assert first is not None
    assert (chain.hold(None), chain.hold(first), chain.hold("another")) == (None, first, None)
    assert 0 < client.ttl(key_of("task")) <= 900
    chain.end("another")
    assert chain.hold(first) == first
    chain.end(first)
    assert chain.hold(first) is None, "it is over"
    assert chain.hold(None) not in {None, first}


def test_a_job_lock_rests_before_the_next_unless_cut_short(client: redis.Redis) -> None:
    chain = JobLock(client, "task")
    first = chain.hold(None)
    assert first is not None
    assert (chain.may_begin(rested=False), chain.may_begin(rested=True)) == (False, False), "it goes on"
    chain.end(first, rest_seconds=60)
    assert 0 < client.ttl(key_of("task")) <= 60
    assert (chain.hold(first), chain.hold(None), chain.may_begin(rested=False)) == (None, None, False)
    assert chain.may_begin(rested=True)
    assert chain.hold(None) not in {None, first}


def test_a_job_lock_whose_lock_expired_is_replaced(client: redis.Redis) -> None:
    chain = JobLock(client, "task")
    first = chain.hold(None)
    client.delete(key_of("task"))  # its time has run out
    second = chain.hold(None)
    assert second is not None
    assert (chain.hold(first), chain.hold(second)) == (None, second)


def test_name_and_password_reach_the_server_as_they_are(redis_server: RedisServer, client: redis.Redis) -> None:
    host = redis_server.url.rpartition("@")[2]
    client.acl_setuser("us@er", enabled=True, passwords=["+p:@/ß"], commands=["+@all"], keys=["*"])
    try:
        settings = RedisSettings(url=f"redis://us%40er@{host}/{DATABASE}", password=SecretStr("p:@/ß"))
        assert broker_url(settings).startswith("redis://us%40er:p%3A%40%2F%C3%9F@")
        with connect(settings) as named:
            assert named.acl_whoami() in {"us@er", b"us@er"}
    finally:
        client.acl_deluser("us@er")
