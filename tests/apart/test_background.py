"""What is done in the background is done, whoever dies and whatever wake-up is lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from apart.running import Platform, Service
from e2e.serving import eventually
from servers.redis import RedisServer
from vicw_shared.adapters.celery_queue import RECONCILE, make_celery
from vicw_shared.adapters.qdrant import QdrantCollections, QdrantVectorStore, connect
from vicw_shared.settings import QdrantSettings, RedisSettings

pytestmark = pytest.mark.process
SENTENCE = "The lighthouse keeper counted the ships of the northern fleet as they left the harbour at dawn. "


@pytest.fixture
def running(platform: Platform) -> Iterator[list[Service]]:
    """What the test started; killed when it is over."""
    started: list[Service] = []
    yield started
    for service in started:
        service.kill()


def done(platform: Platform, job: str, within: float) -> None:
    eventually(lambda: platform.job(job)["status"], lambda status: status == "done", within, "the job")


def test_a_lost_wake_up_loses_nothing(platform: Platform, redis_server: RedisServer, running: list[Service]) -> None:
    job = platform.remember({"id": "unheard", "text": "Nobody was told of this."}, wait=False).json()["job"]
    with redis_server.client(1) as client:
        client.flushdb()
    running += [platform.worker().start(), platform.beat().start()]
    done(platform, job, 30)
    assert platform.found("nobody was told", limit=1) == ["unheard"]


def test_what_a_killed_worker_held_is_done_within_a_minute(platform: Platform, running: list[Service]) -> None:
    running += [platform.beat().start(), platform.worker().start()]
    items = [{"id": f"k{n}", "text": f"{n} " + SENTENCE * 4} for n in range(300)]
    job = platform.remember(*items, wait=False).json()["job"]
    total = platform.job(job)["passages_waiting"]
    eventually(lambda: platform.job(job)["passages_waiting"], lambda left: left < total, 30, "the worker works")
    running[1].kill()
    assert platform.job(job)["status"] == "running"
    killed = time.monotonic()
    other = platform.worker().start()
    running.append(other)
    done(platform, job, 120)
    first = platform.job(job)
    assert first["failures"] == []
    assert len(set(platform.found("lighthouse keeper", limit=200))) == 200
    assert time.monotonic() - killed < 120


def test_one_clock_ticks_and_another_takes_its_place(platform: Platform, running: list[Service]) -> None:
    first = platform.beat().start()
    running.append(first)
    eventually(lambda: first.log, lambda log: "beat ticks" in log, 40, "the first clock")
    second = platform.beat().start()
    running.append(second)
    time.sleep(2)
    assert "beat ticks" not in second.log
    assert first.stop() == 0
    eventually(lambda: second.log, lambda log: "beat ticks" in log, 10, "the second clock")


def test_the_stores_are_brought_to_agreement(
    platform: Platform, redis_server: RedisServer, running: list[Service]
) -> None:
    stored = platform.remember(*({"id": f"r{n}", "text": f"volcano number {n}"} for n in range(5)))
    assert stored.status_code == 201
    lost = [node["uid"] for item in stored.json()["items"][:2] for node in item["nodes"] if node["label"] == "Chunk"]
    asyncio.run(_delete(platform, lost))
    assert volcanoes(platform) == {"r2", "r3", "r4"}
    running += [platform.sleeper().start(), platform.worker().start(), platform.beat().start()]
    app = make_celery("test", RedisSettings(url=redis_server.database(1)))
    app.send_task(RECONCILE)
    app.close()
    eventually(lambda: volcanoes(platform), lambda ids: len(ids) == 5, 60, "all are found again")


def volcanoes(platform: Platform) -> set[str]:
    return {found for found in platform.found("volcano", limit=20) if found.startswith("r")}


async def _delete(platform: Platform, points: list[str]) -> None:
    settings = QdrantSettings(url=platform.variables["VICW_QDRANT_URL"], alias=platform.variables["VICW_QDRANT_ALIAS"])
    client = connect(settings)
    current = await QdrantCollections(client, settings.alias).current()
    assert current is not None
    store = QdrantVectorStore(client, current.name)
    await store.delete(points)
    await store.close()
