"""The sleep worker merges duplicates, whoever kills it in the middle, and each merge can be taken back."""

from __future__ import annotations

import time
from typing import Any

import pytest

from support.processes.platform import Platform, Service, send_anew
from support.processes.server import eventually
from support.servers.redis import RedisServer
from vicw_runtime.queue.celery_queue import RESOLVE

pytestmark = pytest.mark.process
FAMILIES = "Alves Berg Costa Dahl Eriksen Falk Gomes Holm".split()
KILLS = 2


def item(name: str) -> dict[str, Any]:
    entities = [{"name": name, "subtype": "person"}, *({"name": n, "subtype": "place"} for n in ("Oslo", "Bergen"))]
    return {"id": name, "text": f"{name} went from Oslo to Bergen.", "extraction": {"entities": entities}}


def test_duplicates_are_merged_despite_repeated_kills_of_the_sleep_worker(
    platform: Platform, redis_server: RedisServer
) -> None:
    worker = platform.worker().start()
    sleeper: Service | None = None
    try:
        items = [item(f"Jos{letter} {family}") for family in FAMILIES for letter in "eé"]
        assert platform.remember(*items).status_code == 201
        for kill in range(KILLS + 1):
            sleeper = platform.sleeper(VICW_RESOLVE_PAIRS="1").start()
            send_anew(redis_server, RESOLVE)
            if kill < KILLS:
                time.sleep(kill)
                sleeper.kill()
        eventually(lambda: len(platform.slept()), lambda steps: steps == len(FAMILIES), 90, "everything is merged")
        eventually(lambda: platform.vicw("check", "--platform").returncode, lambda code: code == 0, 60, "it is clean")
        steps = platform.slept()
        assert {(step["task"], step["outcome"]) for step in steps} == {("resolve", "done")}
        undone = platform.vicw("sleep", "undo", steps[0]["id"], "--platform")
        assert undone.stdout == "the two entities are separate again; they stay unmerged\n", undone.stderr
        left = platform.vicw("sleep", "resolve", "--platform", "-q")
        assert left.stdout.startswith("merged 0 of 0 likely pairs"), left.stderr
    finally:
        for service in filter(None, (worker, sleeper)):
            service.kill()
