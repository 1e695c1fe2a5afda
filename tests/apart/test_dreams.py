"""The sleep worker dreams, whoever kills it in the middle, and all that it made can be wiped."""

from __future__ import annotations

import time

import pytest

from support.processes.platform import Platform, Service, send_anew
from support.processes.server import eventually
from support.servers.redis import RedisServer
from vicw_runtime.queue.celery_queue import DREAM

pytestmark = pytest.mark.process
THINGS = (
    "amulet lighthouse violin bakery orchard telescope ferry castle notebook cannon parrot harbour candle tractor "
    "museum blanket compass kettle pyramid saddle turbine walnut zeppelin anchor"
).split()
"""Each of one item alone, so that it tells what the item is about, and each item gets it as a tag."""
KILLS = 3


def test_dreams_tag_every_item_despite_repeated_kills_of_the_sleep_worker(
    platform: Platform, redis_server: RedisServer
) -> None:
    worker = platform.worker().start()
    sleeper: Service | None = None
    try:
        items = [{"id": thing, "text": f"Yesterday they talked about the {thing} for an hour."} for thing in THINGS]
        assert platform.remember(*items).status_code == 201
        for kill in range(KILLS + 1):
            sleeper = platform.sleeper(VICW_DREAM_HOURS="0", VICW_DREAM_ITEMS="1").start()
            send_anew(redis_server, DREAM)
            if kill < KILLS:
                time.sleep(kill)
                sleeper.kill()
        eventually(lambda: len(platform.slept()), lambda steps: steps == len(THINGS), 90, "everything is dreamt of")
        eventually(lambda: platform.vicw("check", "--platform").returncode, lambda code: code == 0, 60, "it is clean")
        tags = sum(len(step["details"]["tags"]) for step in platform.slept())
        assert tags >= len(THINGS)
        wiped = platform.vicw("sleep", "wipe", "--platform")
        assert wiped.stdout == f"{tags} auto-tags removed\n", wiped.stderr
        eventually(lambda: platform.vicw("check", "--platform").returncode, lambda code: code == 0, 60, "it is clean")
    finally:
        for service in filter(None, (worker, sleeper)):
            service.kill()
