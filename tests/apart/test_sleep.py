"""The sleep worker consolidates what is old, whoever kills it in the middle, and what it did can be taken back."""

from __future__ import annotations

import time

import httpx
import pytest

from support.processes.platform import Platform, Service, send_anew
from support.processes.server import eventually
from support.servers.redis import RedisServer
from vicw_runtime.queue.celery_queue import CONSOLIDATE

pytestmark = pytest.mark.process
THINGS = "amulet lighthouse violin bakery orchard telescope ferry castle notebook glacier parrot harbour".split()
GAMES = ("Porto", "Lima", "Oslo", "Cairo", "Perth", "Quito")
KILLS = 5


def first_and_last_items_found(platform: Platform) -> bool:
    """Tell whether what was said last and first in each thread is found, no id twice."""
    for game, thing in [(game, thing) for game in GAMES for thing in (THINGS[0], THINGS[-1])]:
        found = platform.found(f"What did we say about the {thing} of {game}?", limit=5)
        if len(set(found)) < len(found) or f"{game}-{thing}" not in found:
            return False
    return True


def test_consolidation_completes_despite_repeated_kills_of_the_sleep_worker(
    platform: Platform, redis_server: RedisServer
) -> None:
    worker = platform.worker().start()
    sleeper: Service | None = None
    try:
        for game in GAMES:
            items = [{"id": f"{game}-{thing}", "text": f"We talked about the {thing} of {game}."} for thing in THINGS]
            assert platform.remember(*items, flow_id=game).status_code == 201
        assert first_and_last_items_found(platform)
        for kill in range(KILLS + 1):
            sleeper = platform.sleeper(
                VICW_CONSOLIDATE_HOURS="0", VICW_CONSOLIDATE_USED_HOURS="0", VICW_CONSOLIDATE_BATCHES="2"
            ).start()
            send_anew(redis_server, CONSOLIDATE)
            if kill < KILLS:
                time.sleep(0.2 * kill)
                sleeper.kill()
        eventually(
            lambda: len(platform.slept()), lambda steps: steps == 3 * len(GAMES), 90, "everything is consolidated"
        )
        eventually(lambda: platform.vicw("check", "--platform").returncode, lambda code: code == 0, 60, "it is clean")
        assert first_and_last_items_found(platform)
        listed = httpx.get(f"{platform.retrieval.url}/sleep?limit=1000", trust_env=False).raise_for_status().json()
        assert [step["id"] for step in listed["steps"]] == [step["id"] for step in platform.slept()]
        assert {job["job"] for job in listed["jobs"]} >= {"consolidation", "dream", "reconcile"}
        body = {"step": listed["steps"][-1]["id"]}
        undone = httpx.post(f"{platform.ingest.url}/sleep/undo", json=body, timeout=60, trust_env=False)
        assert (undone.status_code, undone.json()["outcome"]) == (200, "undone"), undone.text
        assert httpx.get(f"{platform.retrieval.url}/check", trust_env=False).status_code == 200
        step = next(step for step in platform.slept() if step["outcome"] == "done")
        by_command = platform.vicw("sleep", "undo", step["id"], "--platform")
        assert by_command.stdout == "4 Events restored\n", by_command.stderr
        eventually(lambda: platform.vicw("check", "--platform").returncode, lambda code: code == 0, 60, "it is clean")
        assert first_and_last_items_found(platform)
    finally:
        for service in filter(None, (worker, sleeper)):
            service.kill()


def test_a_context_that_has_grown_is_consolidated_by_day(platform: Platform) -> None:
    often = {
        "VICW_CONSOLIDATE_SCHEDULE": "never",
        "VICW_CONSOLIDATE_INTERACTIONS": "10",
        "VICW_CONSOLIDATE_HOURS": "0",
        "VICW_CONSOLIDATE_BATCHES": "2",
        "VICW_SLEEP_POLL_SECONDS": "1",
    }

    def consolidated() -> int:
        return len([step for step in platform.slept() if step["context"] == "daily"])

    beat = platform.beat(**often)
    services = [platform.worker().start(), platform.sleeper(**often).start(), beat.start()]
    try:
        items = [{"id": f"often-{thing}", "text": f"We talked about the {thing} of Lima."} for thing in THINGS]
        assert platform.remember(*items[:9], context="daily", flow_id="often").status_code == 201
        time.sleep(5)
        assert consolidated() == 0
        beat.kill()  # what is not indexed when it is looked at is left to the night
        assert platform.remember(*items[9:], context="daily", flow_id="often").status_code == 201
        beat.start()
        eventually(consolidated, lambda steps: steps == 3, 180, "it is consolidated")
    finally:
        for service in services:
            service.kill()
