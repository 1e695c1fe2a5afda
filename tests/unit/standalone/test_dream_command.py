"""``vicw sleep dream`` and ``wipe``, and ``vicw serve``, which dreams by itself."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from support.clients.sleep_command import sleep, without_model
from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory, settings_for
from support.stores.schedules import check_schedules_often
from vicw_shared.clock import now
from vicw_shared.errors import SettingsError
from vicw_shared.ports import Steps
from vicw_shared.settings import DreamSettings, SleepSettings
from vicw_standalone.wiring import Standalone

STORM = "The winter storm broke the old lighthouse near the harbour"


async def fill(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest(
            {"id": "a", "text": f"{STORM}."},
            {"id": "b", "text": f"{STORM}, said the keeper."},
        )


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    asyncio.run(fill(store))
    without_model(monkeypatch)
    monkeypatch.setenv("VICW_DREAM_CERTAINTY", "0.4")
    return store


def test_sleep_dream_lists_adds_logs_undoes_and_wipes_auto_tags(filled: Path) -> None:
    dry = sleep(filled, "dream", "--hours", "0", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert dry.stdout.splitlines()[-1].startswith("2 of 2 items would get ")
    assert re.search(r"^ctx · \[b\] The winter storm broke the old light", dry.stdout, re.MULTILINE), "which it is"
    assert re.search(r"^    tag      [a-z ]+ \(0\.\d\d, key phrase\)$", dry.stdout, re.MULTILINE)
    assert sleep(filled, "log").stdout == "", "nothing was done"
    done = sleep(filled, "dream", "--hours", "0", "-q")
    found = re.fullmatch(r"2 of 2 items got (\d+) auto-tags\n", done.stdout)
    assert found is not None
    assert sleep(filled, "dream", "--hours", "0", "-q").stdout == "0 of 2 items got 0 auto-tags\n"
    steps = [json.loads(line) for line in sleep(filled, "log", "--json").stdout.splitlines()]
    assert [(step["task"], step["outcome"]) for step in steps] == [("dream", "done")] * 2
    assert sum(len(step["details"]["tags"]) for step in steps) == int(found[1])
    shown = sleep(filled, "log").stdout
    assert all(step["id"] in shown and ", ".join(step["details"]["tags"]) in shown for step in steps)
    mine = len(steps[0]["details"]["tags"])
    assert (
        sleep(filled, "undo", steps[0]["id"]).stdout == f"{mine} auto-tags removed; dreams skip this item from now on\n"
    )
    assert "1 done, 0 refused, 1 undone" in sleep(filled, "status").stdout
    rest = steps[1]["details"]
    assert sleep(filled, "wipe").stdout == f"{len(rest['tags'])} auto-tags removed\n"
    assert sleep(filled, "wipe").stdout == "0 auto-tags removed\n"


def test_sleep_dream_skips_young_items_and_honours_the_most_option(filled: Path) -> None:
    assert sleep(filled, "dream").stdout == "0 of 2 items got 0 auto-tags\n"
    assert sleep(filled, "dream", "--limit", "1").stdout.startswith("0 of 1 item ")


def test_sleep_status_shows_the_schedule_of_dreams(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.search(r"dream: next at \d{4}-\d\d-\d\d 04:00 UTC", sleep(filled, "status").stdout)
    monkeypatch.setenv("VICW_DREAM_SCHEDULE", "never")
    assert "dream: off (VICW_DREAM_SCHEDULE=never)" in sleep(filled, "status").stdout
    monkeypatch.setenv("VICW_SLEEP_PAUSED", "true")
    assert "dream: paused (VICW_SLEEP_PAUSED)" in sleep(filled, "status").stdout


async def test_an_invalid_dream_schedule_stops_the_server_from_starting(store: Path) -> None:
    wrong = replace(settings_for(store), dream=DreamSettings(schedule="at night"))
    with pytest.raises(SettingsError, match="VICW_DREAM_SCHEDULE"):
        await Standalone(wrong, HashEmbedder()).open()


@pytest.mark.parametrize("paused", [False, True])
async def test_a_server_dreams_on_schedule_unless_paused(
    store: Path, monkeypatch: pytest.MonkeyPatch, paused: bool
) -> None:
    await fill(store)
    moment: list[datetime] = [now()]
    monkeypatch.setattr("vicw_sleep.dream.job.now", lambda: moment[0])
    monkeypatch.setattr("vicw_sleep.schedule.scheduler.now", lambda: moment[0])
    settings = replace(
        settings_for(store), sleep=SleepSettings(paused=paused), dream=DreamSettings(items=1, certainty=0.4)
    )
    standalone = Standalone(settings, HashEmbedder())
    await standalone.open()
    check_schedules_often(standalone)
    try:
        standalone.start_indexer()
        await asyncio.sleep(0.2)
        assert await standalone.graph.scan(Steps(), limit=9) == [], "it is not night yet"
        moment[0] += timedelta(days=1)
        for _ in range(100):
            await asyncio.sleep(0.05)
            if len(await standalone.graph.scan(Steps(), limit=9)) == 2:
                break
        assert len(await standalone.graph.scan(Steps(), limit=9)) == (0 if paused else 2)
    finally:
        await standalone.close()
