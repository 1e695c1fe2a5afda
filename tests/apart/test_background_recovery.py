"""What is done in the background is done, whoever dies and whatever wake-up is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator

import pytest

from support.processes.platform import Platform, Service
from support.processes.server import eventually
from support.servers.neo4j.server import Neo4jServer
from support.servers.redis import RedisServer
from vicw_runtime.queue.celery_queue import RECONCILE, make_celery
from vicw_shared.settings import QdrantSettings, RedisSettings
from vicw_stores.qdrant import QdrantCollections, QdrantVectorStore, connect

pytestmark = pytest.mark.process
CHECK = ("check", "--platform")


@pytest.fixture
def running(platform: Platform) -> Iterator[list[Service]]:
    """What the test started; killed when it is over."""
    started: list[Service] = []
    yield started
    for service in started:
        service.kill()


def wait_until_job_done(platform: Platform, job: str, within: float) -> None:
    eventually(lambda: platform.job(job)["status"], lambda status: status == "done", within, "the job")


def test_a_job_whose_wake_up_was_lost_is_still_done(
    platform: Platform, redis_server: RedisServer, running: list[Service]
) -> None:
    job = platform.remember({"id": "unheard", "text": "Nobody was told of this."}, wait=False).json()["job"]
    with redis_server.client(1) as client:
        client.flushdb()
    running += [platform.worker().start(), platform.beat().start()]
    wait_until_job_done(platform, job, 30)
    assert platform.found("nobody was told", limit=1) == ["unheard"]


def test_passages_claimed_by_a_killed_worker_are_indexed_within_a_minute(
    platform: Platform, neo4j_server: Neo4jServer, running: list[Service]
) -> None:
    """At the default settings, and so little work that its time is that of the claim."""
    running += [platform.beat(VICW_REDIS_POLL_SECONDS="").start(), platform.worker().start()]
    wait_until_job_done(
        platform, platform.remember({"id": "first", "text": "The worker is at work."}, wait=False).json()["job"], 60
    )
    os.killpg(platform.embedding.pid, signal.SIGSTOP)
    try:
        items = [{"id": f"k{n}", "text": f"{n} lighthouses"} for n in range(12)]
        job = platform.remember(*items, wait=False).json()["job"]
        eventually(
            lambda: count_claimed_passages(neo4j_server), lambda count: count == 12, 30, "the worker has them all"
        )
        running[1].kill()
        killed = time.monotonic()
        assert (platform.job(job)["passages_waiting"], count_claimed_passages(neo4j_server)) == (12, 12)
    finally:
        os.killpg(platform.embedding.pid, signal.SIGCONT)
    running.append(platform.worker().start())
    wait_until_job_done(platform, job, 60 - (time.monotonic() - killed))
    assert platform.job(job)["failures"] == []
    assert {f"k{n}" for n in range(12)} <= set(platform.found("lighthouses", limit=50))


def count_claimed_passages(server: Neo4jServer) -> int:
    """Return how many passages are claimed."""
    with server.driver() as driver, driver.session() as session:
        record = session.run("MATCH (k:Chunk) WHERE k.held IS NOT NULL RETURN count(k) AS count").single(strict=True)
        return int(record["count"])


def test_a_standby_beat_ticks_only_after_the_first_one_stops(platform: Platform, running: list[Service]) -> None:
    first = platform.beat().start()
    running.append(first)
    eventually(lambda: first.log, lambda log: "beat ticks" in log, 40, "the first clock")
    second = platform.beat().start()
    running.append(second)
    time.sleep(2)
    assert "beat ticks" not in second.log
    assert first.stop() == 0
    eventually(lambda: second.log, lambda log: "beat ticks" in log, 10, "the second clock")


def test_reconciliation_repairs_lost_and_stale_points(
    platform: Platform, redis_server: RedisServer, running: list[Service]
) -> None:
    stored = platform.remember(*({"id": f"r{n}", "text": f"volcano number {n}"} for n in range(5)))
    assert stored.status_code == 201
    lost = [node["uid"] for item in stored.json()["items"][:2] for node in item["nodes"] if node["label"] == "Chunk"]
    stale = next(node["uid"] for node in stored.json()["items"][2]["nodes"] if node["label"] == "Chunk")
    asyncio.run(_delete_points_and_change_tenant(platform, lost, stale))
    assert found_volcano_ids(platform) == {"r3", "r4"}
    assert f"Point {stale} differs from the graph: tenant" in platform.vicw(*CHECK).stdout
    running += [platform.sleeper().start(), platform.worker().start(), platform.beat().start()]
    app = make_celery("test", RedisSettings(url=redis_server.database(1)))
    app.send_task(RECONCILE)
    app.close()
    eventually(lambda: found_volcano_ids(platform), lambda ids: len(ids) == 5, 60, "all are found again")
    eventually(lambda: platform.vicw(*CHECK).returncode, lambda code: code == 0, 60, "it is clean")


def found_volcano_ids(platform: Platform) -> set[str]:
    return {found for found in platform.found("volcano", limit=20) if found.startswith("r")}


async def _delete_points_and_change_tenant(platform: Platform, lost: list[str], stale: str) -> None:
    """Delete points, and let another one say that it is somebody else's."""
    settings = QdrantSettings(url=platform.variables["VICW_QDRANT_URL"], alias=platform.variables["VICW_QDRANT_ALIAS"])
    client = connect(settings)
    current = await QdrantCollections(client, settings.alias).current()
    assert current is not None
    store = QdrantVectorStore(client, current.name)
    await store.delete(lost)
    await store.set_payload({stale: {**(await store.payloads([stale]))[stale], "tenant": "another"}})
    await store.close()
