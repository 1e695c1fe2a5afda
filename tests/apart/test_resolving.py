"""The sleep worker merges duplicates, whoever kills it in the middle, and each merge can be taken back."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from apart.running import Platform, Service
from e2e.serving import eventually
from servers.redis import RedisServer
from vicw_shared.adapters.celery_queue import RESOLVE, make_celery
from vicw_shared.settings import RedisSettings

pytestmark = pytest.mark.process
FAMILIES = "Alves Berg Costa Dahl Eriksen Falk Gomes Holm".split()
KILLS = 2


def item(name: str) -> dict[str, Any]:
    entities = [{"name": name, "subtype": "person"}, *({"name": n, "subtype": "place"} for n in ("Oslo", "Bergen"))]
    return {"id": name, "text": f"{name} went from Oslo to Bergen.", "extraction": {"entities": entities}}


def log(platform: Platform) -> list[dict[str, Any]]:
    done = platform.vicw("sleep", "log", "--platform", "--json", "--limit", "1000")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def wake(redis: RedisServer) -> None:
    with redis.client(1) as client:
        client.delete("vicw:resolve")  # a killed chain's key would hold it up for a quarter of an hour
    make_celery("test", RedisSettings.model_validate({"url": redis.database(1)})).send_task(RESOLVE)


def test_all_is_merged_though_the_worker_is_killed_again_and_again(
    platform: Platform, redis_server: RedisServer
) -> None:
    worker = platform.worker().start()
    sleeper: Service | None = None
    try:
        items = [item(f"Jos{letter} {family}") for family in FAMILIES for letter in "eé"]
        assert platform.remember(*items).status_code == 201
        for kill in range(KILLS + 1):
            sleeper = platform.sleeper(VICW_RESOLVE_PAIRS="1").start()
            wake(redis_server)
            if kill < KILLS:
                time.sleep(kill)
                sleeper.kill()
        eventually(lambda: len(log(platform)), lambda steps: steps == len(FAMILIES), 90, "everything is merged")
        eventually(lambda: platform.vicw("check", "--platform").returncode, lambda code: code == 0, 60, "it is clean")
        steps = log(platform)
        assert {(step["task"], step["outcome"]) for step in steps} == {("resolve", "done")}
        undone = platform.vicw("sleep", "undo", steps[0]["id"], "--platform")
        assert undone.stdout == "the two are two again; they are not merged again\n", undone.stderr
        left = platform.vicw("sleep", "resolve", "--platform", "-q")
        assert left.stdout.startswith("0 of 0 likely pairs"), left.stderr
    finally:
        for service in filter(None, (worker, sleeper)):
            service.kill()
