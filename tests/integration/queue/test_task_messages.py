"""What tasks send and understand, over a real Redis, without the platform's engines."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from support.fakes.hash_embedder import HashEmbedder
from support.servers.redis import RedisServer
from support.stores.memory import settings_for
from vicw_runtime.queue.celery_queue import RECONCILE, SLEEP_QUEUE, CeleryQueue, connect
from vicw_runtime.queue.celery_runtime import Worker, task
from vicw_shared.errors import UnavailableError
from vicw_sleep.reconcile.tasks import reconcile
from vicw_sleep.schedule.job_lock import key_of
from vicw_sleep.schedule.task_chain import chained_task
from vicw_sleep.settings import SleepServiceSettings
from vicw_standalone.wiring import Standalone

DATABASE = 5
COUNT, DRAIN = "vicw.sleep.test_count", "vicw.sleep.test_drain"
LAST = 3
worked: list[str] = []


@dataclass(frozen=True)
class Counted:
    """A number, counted up."""

    number: int

    @property
    def written(self) -> list[object]:
        return [self.number]

    @property
    def next(self) -> Counted | None:
        return self if self.number < LAST else None


@chained_task(COUNT, "counting", lambda written: Counted(written[0]))
async def count(wiring: Any, start: Counted | None) -> Counted:
    """Count to the next number."""
    counted = Counted(1 if start is None else start.number + 1)
    worked.append(str(counted.number))
    return counted


@task(DRAIN, "draining")
async def drain(wiring: Any) -> bool:
    """Do what there is to do, from the end of the list on."""
    done = worked.pop()
    if done == "unavailable":
        raise UnavailableError("graph", "told to")
    return bool(worked)


class OneStore:
    """A sleep worker's wiring over embedded stores, as far as the comparison of the stores needs it."""

    def __init__(self, path: Path, settings: SleepServiceSettings) -> None:
        self.settings = settings
        self._standalone = Standalone(settings_for(path), HashEmbedder())

    async def open(self) -> None:
        await self._standalone.open()
        standalone = self._standalone
        self.engines = SimpleNamespace(graph=standalone.graph, indexes=standalone.indexes)

    async def close(self) -> None:
        await self._standalone.close()


type SleepWorker = Worker[SleepServiceSettings, OneStore]


@pytest.fixture
def settings(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> SleepServiceSettings:
    monkeypatch.setenv("VICW_REDIS_URL", redis_server.database(DATABASE))
    worked.clear()
    return SleepServiceSettings.read()


@pytest.fixture
def worker(settings: SleepServiceSettings, store: Path) -> Iterator[SleepWorker]:
    made = Worker("test", settings, lambda: OneStore(store, settings), [])
    yield made
    made.runtime.close()
    made.close()


@pytest.fixture
def client(settings: SleepServiceSettings) -> Iterator[redis.Redis]:
    with connect(settings.redis) as opened:
        opened.flushdb()
        yield opened
        opened.flushdb()


def run(worker: SleepWorker, name: str, **message: Any) -> None:
    """Run a task as a worker does that takes its message."""
    worker.tasks[name].apply(kwargs=message, throw=True)


def taken(client: redis.Redis) -> list[tuple[str, dict[str, Any]]]:
    """Return the tasks in the queue with their messages, and empty it."""
    messages = [json.loads(message) for message in client.lrange(SLEEP_QUEUE, 0, -1)]
    client.delete(SLEEP_QUEUE)
    return [(one["headers"]["task"], json.loads(base64.b64decode(one["body"]))[1]) for one in messages]


def test_a_task_is_sent_again_while_work_is_left(worker: SleepWorker, client: redis.Redis) -> None:
    worked.extend(["first", "second"])
    run(worker, DRAIN)
    assert (worked, taken(client)) == (["first"], [(DRAIN, {})])
    run(worker, DRAIN)
    assert (worked, taken(client)) == ([], [])


def test_an_expected_error_leaves_the_work_to_the_next_run(worker: SleepWorker, client: redis.Redis) -> None:
    worked.extend(["first", "unavailable"])
    run(worker, DRAIN)
    assert (worked, taken(client)) == (["first"], [])
    worked.clear()
    with pytest.raises(IndexError):
        run(worker, DRAIN)


def test_a_chain_of_tasks_goes_on_where_the_task_before_stopped(worker: SleepWorker, client: redis.Redis) -> None:
    run(worker, COUNT)
    ((name, message),) = taken(client)
    assert (name, message) == (COUNT, {"after": [1], "of": client.get(key_of(COUNT)).decode()})  # type: ignore[union-attr]
    run(worker, COUNT)
    run(worker, COUNT, after=[1], of="another chain")
    assert (worked, taken(client)) == (["1"], [])
    run(worker, COUNT, **message)
    ((_, message),) = taken(client)
    run(worker, COUNT, **message)
    assert (worked, taken(client), client.exists(key_of(COUNT))) == (["1", "2", "3"], [], 0)


async def test_a_task_that_is_asked_for_is_sent_once_until_it_begins(
    settings: SleepServiceSettings, worker: SleepWorker, client: redis.Redis
) -> None:
    queue = CeleryQueue(settings.redis, task=DRAIN, queue=SLEEP_QUEUE, shared=True)
    for _ in range(2):
        for _ in range(3):
            await queue.send_once(COUNT)
        assert taken(client) == [(COUNT, {})]
        worker.settings = replace(settings, sleep=settings.sleep.model_copy(update={"paused": True}))
        run(worker, COUNT)
    await queue.close()


def test_a_paused_worker_does_nothing(settings: SleepServiceSettings, worker: SleepWorker, client: redis.Redis) -> None:
    worker.settings = replace(settings, sleep=settings.sleep.model_copy(update={"paused": True}))
    run(worker, COUNT)
    assert (worked, client.keys()) == ([], [])


def test_the_comparison_of_the_stores_goes_on_from_a_message_of_an_earlier_version(
    worker: SleepWorker, client: redis.Redis
) -> None:
    assert reconcile.name == RECONCILE
    client.set(key_of(RECONCILE), "chain")
    run(worker, RECONCILE, side="points", after=None, lost_at=None, of="chain")
    assert (taken(client), client.exists(key_of(RECONCILE))) == ([], 0)
