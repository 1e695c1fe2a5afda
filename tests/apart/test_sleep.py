"""The sleep worker folds what is old, whoever kills it in the middle, and what it did can be taken back."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from apart.running import Platform, Service
from e2e.serving import eventually
from servers.redis import RedisServer
from vicw_shared.adapters.celery_queue import CONSOLIDATE, make_celery
from vicw_shared.settings import RedisSettings

pytestmark = pytest.mark.process
TOPICS = ("the amulet of Porto", "a broken build", "Ben and 3 tests", "no ship on Friday", "my sister Mara")
THREADS = 6
KILLS = 5


def log(platform: Platform) -> list[dict[str, Any]]:
    done = platform.vicw("sleep", "log", "--platform", "--json", "--limit", "1000")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def told(platform: Platform) -> dict[str, list[str]]:
    return {topic: platform.found(f"What did we say about {topic} in round 3?", limit=5) for topic in TOPICS}


def wake(redis: RedisServer) -> None:
    with redis.client(1) as client:
        client.delete("vicw:consolidate")  # a killed chain's key would hold it up for a quarter of an hour
    make_celery("test", RedisSettings.model_validate({"url": redis.database(1)})).send_task(CONSOLIDATE)


def test_what_is_old_is_folded_though_the_worker_is_killed_again_and_again(
    platform: Platform, redis_server: RedisServer
) -> None:
    worker = platform.worker().start()
    sleeper: Service | None = None
    try:
        for thread in range(THREADS):
            items = [
                {"id": f"{thread}-{n}", "text": f"We talked about {TOPICS[n % 5]} in round {n} of game {thread}."}
                for n in range(12)
            ]
            assert platform.remember(*items, flow_id=f"f{thread}").status_code == 201
        before = told(platform)
        for kill in range(KILLS + 1):
            sleeper = platform.sleeper(VICW_CONSOLIDATE_HOURS="0", VICW_CONSOLIDATE_BATCHES="2").start()
            wake(redis_server)
            if kill < KILLS:
                time.sleep(0.2 * kill)
                sleeper.kill()
        eventually(lambda: len(log(platform)), lambda steps: steps == 3 * THREADS, 90, "everything is folded")
        eventually(lambda: platform.vicw("check", "--platform").returncode, lambda code: code == 0, 60, "it is clean")
        assert told(platform) == before, "every question is answered as before, and no id twice"
        step = log(platform)[0]
        undone = platform.vicw("sleep", "undo", step["id"], "--platform")
        assert undone.stdout == "4 Events are back as they were\n", undone.stderr
        eventually(lambda: platform.vicw("check", "--platform").returncode, lambda code: code == 0, 60, "it is clean")
        assert told(platform) == before
    finally:
        for service in filter(None, (worker, sleeper)):
            service.kill()
