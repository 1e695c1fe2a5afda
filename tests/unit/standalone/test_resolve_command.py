"""``vicw sleep resolve``, and ``vicw serve``, which merges duplicates by itself."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.clients.sleep_command import sleep, without_model
from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory, settings_for
from support.stores.schedules import check_schedules_often
from vicw_shared.clock import now
from vicw_shared.errors import SettingsError
from vicw_shared.ports import Steps
from vicw_shared.settings import ResolveSettings, SleepSettings
from vicw_standalone.wiring import Standalone

NAMES = ("Jose Lima", "José Lima", "Eva Berg", "Éva Berg")


def item(name: str) -> dict[str, Any]:
    entities = [{"name": name, "subtype": "person"}, *({"name": n, "subtype": "place"} for n in ("Oslo", "Bergen"))]
    return {"id": name, "text": f"{name} went from Oslo to Bergen.", "extraction": {"entities": entities}}


async def fill(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest(*map(item, NAMES), extract="caller")


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    asyncio.run(fill(store))
    without_model(monkeypatch)
    return store


def test_sleep_resolve_lists_merges_logs_and_undoes_duplicates(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dry = sleep(filled, "resolve", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert dry.stdout.splitlines()[-1] == "would merge 2 of 2 likely pairs of 6 names"
    assert re.search(r"^merge   ctx: Jos[eé] Lima \([0-9a-f-]{36}\) · Jos[eé] Lima \(", dry.stdout, re.MULTILINE)
    assert "        0.98 same name but for accents and punctuation: 2 entities are named with both\n" in dry.stdout
    assert sleep(filled, "log").stdout == "", "nothing was done"
    assert sleep(filled, "resolve", "-q", "--threshold", "0.99").stdout.startswith("merged 0 of 0 likely pairs")
    monkeypatch.setenv("VICW_RESOLVE_SHARED", "3")
    few = sleep(filled, "resolve").stdout
    assert "leave   ctx: " in few
    assert "0.98 same name but for accents and punctuation: only the names match: 2 entities are named with both" in few
    monkeypatch.delenv("VICW_RESOLVE_SHARED")
    assert sleep(filled, "resolve", "-q").stdout == "merged 2 of 2 likely pairs of 6 names\n"
    assert sleep(filled, "resolve", "-q").stdout == "merged 0 of 0 likely pairs of 6 names\n"
    steps = [json.loads(line) for line in sleep(filled, "log", "--json").stdout.splitlines()]
    assert [(step["task"], step["outcome"]) for step in steps] == [("resolve", "done")] * 2
    shown = sleep(filled, "log").stdout
    assert all(step["id"] in shown for step in steps)
    assert re.search(r"resolve  ctx: Jos[eé] Lima into Jos[eé] Lima$", shown, re.MULTILINE)
    back = sleep(filled, "undo", steps[0]["id"])
    assert back.stdout == "the two entities are separate again; they stay unmerged\n", back.output
    assert sleep(filled, "undo", steps[0]["id"]).exit_code != 0
    assert "1 done, 0 refused, 1 undone" in sleep(filled, "status").stdout
    assert sleep(filled, "resolve", "-q").stdout.startswith("merged 0 of 0 "), "nor are they judged again"
    monkeypatch.setenv("VICW_SLEEP_UNDO_DAYS", "0")
    late = sleep(filled, "undo", steps[1]["id"])
    assert "its grace period is over" in late.output + str(late.exception)


def test_sleep_resolve_honours_the_limit_option(filled: Path) -> None:
    assert sleep(filled, "resolve", "-q", "--limit", "1").stdout.startswith("merged 1 of 1 likely pair of")
    assert sleep(filled, "resolve", "-q").stdout.startswith("merged 1 of 1 likely pair of")


def test_sleep_status_shows_the_schedule_of_entity_resolution(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.search(r"resolve: next at \d{4}-\d\d-\d\d 04:30 UTC", sleep(filled, "status").stdout)
    monkeypatch.setenv("VICW_RESOLVE_SCHEDULE", "never")
    assert "resolve: off (VICW_RESOLVE_SCHEDULE=never)" in sleep(filled, "status").stdout
    monkeypatch.setenv("VICW_SLEEP_PAUSED", "true")
    assert "resolve: paused (VICW_SLEEP_PAUSED)" in sleep(filled, "status").stdout


async def test_an_invalid_resolve_schedule_stops_the_server_from_starting(store: Path) -> None:
    wrong = replace(settings_for(store), resolve=ResolveSettings(schedule="at night"))
    with pytest.raises(SettingsError, match="VICW_RESOLVE_SCHEDULE"):
        await Standalone(wrong, HashEmbedder()).open()


@pytest.mark.parametrize("paused", [False, True])
async def test_a_server_merges_duplicates_on_schedule_unless_paused(
    store: Path, monkeypatch: pytest.MonkeyPatch, paused: bool
) -> None:
    await fill(store)
    moment: list[datetime] = [now()]
    monkeypatch.setattr("vicw_sleep.resolve.job.now", lambda: moment[0])
    monkeypatch.setattr("vicw_sleep.schedule.scheduler.now", lambda: moment[0])
    settings = replace(settings_for(store), sleep=SleepSettings(paused=paused), resolve=ResolveSettings(pairs=1))
    standalone = Standalone(settings, HashEmbedder())
    await standalone.open()
    check_schedules_often(standalone)

    async def merged() -> int:
        return len([step for step in await standalone.graph.scan(Steps(), limit=9) if step.task == "resolve"])

    try:
        standalone.start_indexer()
        await asyncio.sleep(0.2)
        assert await merged() == 0, "it is not night yet"
        moment[0] += timedelta(days=1)
        for _ in range(100):
            await asyncio.sleep(0.05)
            if await merged() == 2:
                break
        assert await merged() == (0 if paused else 2)
    finally:
        await standalone.close()
