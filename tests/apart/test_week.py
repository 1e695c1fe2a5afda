"""A week of a conversation on the separate services, which sleep every night, woken by the clock."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from support.processes.platform import Platform, Service
from support.processes.server import eventually
from support.servers.redis import RedisServer
from support.stories.week import AWAKE, DAYS, NIGHTLY, NIGHTS, WeekScenario, require_readable
from vicw_runtime.queue.celery_queue import CONSOLIDATE, DREAM, make_celery
from vicw_shared.settings import RedisSettings

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]
_NIGHT_SECONDS = 120


def test_a_week_of_nightly_maintenance_keeps_all_answers(
    platform: Platform, redis_server: RedisServer, tmp_path: Path
) -> None:
    mirror = tmp_path / "mirror"
    settings = NIGHTLY | {"VICW_MIRROR_PATH": str(mirror)}
    platform.worker().start()
    sleeper, clock = platform.sleeper(**settings).start(), platform.beat(**settings)
    platform.variables |= {"VICW_MIRROR_PATH": str(mirror)}
    house = WeekScenario(
        lambda: platform.ingest.url,
        lambda: platform.retrieval.url,
        lambda *command: platform.vicw(*command, "--platform"),
        tmp_path,
    )
    clock.start()
    for day in range(1, len(DAYS)):
        slept = count_maintenance_runs(sleeper)
        house.tell(day)
        wait_for_night(sleeper, slept, None if day <= NIGHTS else redis_server)
        house.require_answers()
        if day == NIGHTS:
            assert clock.stop() == 0
    house.tell(len(DAYS))
    wait_until_indexed(platform)
    awake, before = house.export("awake"), house.steps()
    wait_for_night(sleeper, count_maintenance_runs(sleeper), redis_server)

    house.require_answers()
    clock = platform.beat(**settings | AWAKE).start()
    require_mirrored(platform, mirror)
    wait_until_indexed(platform)
    house.require_smaller(house.export("asleep"))
    house.require_undone(awake, [step for step in house.steps() if step not in before])
    wait_until_indexed(platform)
    house.require_answers()
    require_mirrored(platform, mirror)


def count_maintenance_runs(sleeper: Service) -> list[int]:
    """Return how often the sleep worker has consolidated and dreamt something."""
    return [sleeper.log.count(what) for what in ("consolidated", "dreamt")]


def wait_for_night(sleeper: Service, slept: Sequence[int], redis: RedisServer | None) -> None:
    """Let the night after those that were ``slept`` come and be through: by the clock, or woken as the clock does."""
    for place, task in enumerate((CONSOLIDATE, DREAM)):
        if redis is not None:
            app = make_celery("test", RedisSettings.model_validate({"url": redis.database(1)}))
            app.send_task(task)
            app.close()
        runs, more = (lambda p=place: count_maintenance_runs(sleeper)[p]), (lambda n, p=place: n > slept[p])
        eventually(runs, more, _NIGHT_SECONDS, task)


def wait_until_indexed(platform: Platform) -> None:
    """Wait until the stores agree, with nothing left to do."""
    said = eventually(
        lambda: platform.vicw("check", "--platform").stdout, lambda said: ", 0 waiting" in said, 60, "all done"
    )
    assert said.splitlines()[-1] == "clean"


def require_mirrored(platform: Platform, mirror: Path) -> None:
    eventually(
        lambda: platform.vicw("mirror", "status", "--platform").returncode, lambda code: code == 0, 60, "it follows"
    )
    require_readable(mirror)
