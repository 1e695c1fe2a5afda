"""A week of a conversation under ``vicw serve``, which sleeps every night."""

from __future__ import annotations

from functools import partial
from operator import lt
from pathlib import Path

import pytest

from e2e.conftest import Serve
from support.processes.server import Server, eventually, require_clean, run
from support.stories.week import AWAKE, DAYS, NIGHTLY, NIGHTS, WeekScenario, require_readable

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]
_NIGHT_SECONDS = 120


def test_a_week_of_sleep_cycles_keeps_the_evidence_of_every_answer(serve: Serve, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    server = serve(**NIGHTLY, VICW_MIRROR_PATH=str(mirror))
    house = WeekScenario(lambda: server.url, lambda: server.url, lambda *command: run(server, *command), tmp_path)
    for day in range(1, len(DAYS)):
        server.start()
        slept = count_maintenance_logs(server)
        house.tell(day)
        if day <= NIGHTS:
            counts = partial(count_maintenance_logs, server)
            eventually(counts, partial(all_less, slept), _NIGHT_SECONDS, "the night")
            house.require_answers()
        assert server.stop() == 0
        if day > NIGHTS:
            house.run("sleep", "consolidate")
            house.run("sleep", "dream")
    server.start()
    house.tell(len(DAYS))
    house.require_answers()
    assert server.stop() == 0
    awake, before = house.export("awake"), house.steps()
    house.run("sleep", "consolidate")
    house.run("sleep", "dream")

    server = serve(**NIGHTLY | AWAKE, VICW_MIRROR_PATH=str(mirror))
    server.start()
    house.require_answers()
    eventually(lambda: run(server, "mirror", "status").returncode, lambda code: code == 0, 60, "the mirror follows")
    require_readable(mirror)
    assert server.stop() == 0
    require_clean(server)
    house.require_smaller(house.export("asleep"))
    house.require_undone(awake, [step for step in house.steps() if step not in before])
    require_clean(server)
    server.start()
    house.require_answers()
    eventually(lambda: run(server, "mirror", "status").returncode, lambda code: code == 0, 60, "the mirror follows")
    require_readable(mirror)
    assert server.stop() == 0


def all_less(before: tuple[int, ...], now: tuple[int, ...]) -> bool:
    return all(map(lt, before, now))


def count_maintenance_logs(server: Server) -> tuple[int, ...]:
    """Return how often the server has consolidated and dreamt something."""
    return tuple(server.log.count(what) for what in ("consolidated", "dreamt"))
