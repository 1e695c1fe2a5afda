"""``vicw sleep``: what it would do, did, refused and takes back; and ``vicw serve``, which does it by itself."""

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
from support.stores.memory import Memory, open_memory, settings_for
from support.stores.schedules import check_schedules_often
from vicw_shared.clock import now
from vicw_shared.errors import SettingsError
from vicw_shared.ports import JobRun, Steps
from vicw_shared.settings import ConsolidationSettings, SleepSettings
from vicw_standalone.wiring import Standalone

TOPICS = ("the amulet of Porto", "a broken build", "Ben and 3 tests", "no ship on Friday", "my sister Mara")


async def fill_with_turns(memory: Memory) -> None:
    turns = [
        {"id": f"{n}", "text": f"We talked about {TOPICS[n % 5]} in round {n}.", "flow_id": "f", "speaker": "Ana"}
        for n in range(12)
    ]
    await memory.ingest(*turns)


async def fill(store: Path) -> None:
    async with open_memory(store) as memory:
        await fill_with_turns(memory)


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    asyncio.run(fill(store))
    without_model(monkeypatch)
    return store


def test_sleep_consolidate_previews_runs_logs_and_undoes(filled: Path) -> None:
    dry = sleep(filled, "consolidate", "--hours", "0", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert dry.stdout.splitlines()[-1] == "12 Events of 1 flow would become 3 Macro-Events"
    assert sleep(filled, "log").stdout == "", "nothing was done"
    done = sleep(filled, "consolidate", "--hours", "0", "-q")
    assert done.stdout == "12 Events of 1 flow became 3 Macro-Events\n"
    steps = [json.loads(line) for line in sleep(filled, "log", "--json").stdout.splitlines()]
    assert [step["outcome"] for step in steps] == ["done"] * 3
    assert steps[0]["id"] in sleep(filled, "log").stdout
    assert sleep(filled, "undo", steps[0]["id"]).stdout == "4 Events restored\n"
    again = sleep(filled, "undo", steps[0]["id"])
    assert (again.exit_code, "undone already" in str(again.exception)) == (1, True)
    assert "2 done, 0 refused, 1 undone" in sleep(filled, "status").stdout


@pytest.mark.parametrize("command", ["consolidate", "dream", "resolve", "log", "status"])
def test_a_tenant_that_has_nothing_is_an_error_that_names_those_that_have(filled: Path, command: str) -> None:
    wrong = sleep(filled, command, "--tenant", "defualt")
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    told = "tenant: is 'defualt', which has nothing stored. There are: default"
    assert str(wrong.exception) == told
    assert sleep(filled, command, "--tenant", "default").exit_code == 0


def test_sleep_consolidate_leaves_young_events(filled: Path) -> None:
    nothing = (
        "0 Events of 1 flow became 0 Macro-Events; only Events stored more than 1 h ago are consolidated (--hours)\n"
    )
    assert sleep(filled, "consolidate").stdout == nothing


def test_sleep_consolidate_honours_the_limit_option(filled: Path) -> None:
    assert "4 Events of 1 flow became 1 Macro" in sleep(filled, "consolidate", "--hours", "0", "--limit", "1").stdout


def test_sleep_status_shows_the_schedule_of_consolidation(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.search(r"consolidation: next at \d{4}-\d\d-\d\d 03:00 UTC", sleep(filled, "status").stdout)
    monkeypatch.setenv("VICW_CONSOLIDATE_SCHEDULE", "never")
    assert "consolidation: off (VICW_CONSOLIDATE_SCHEDULE=never)" in sleep(filled, "status").stdout
    monkeypatch.setenv("VICW_SLEEP_PAUSED", "true")
    assert "paused (VICW_SLEEP_PAUSED)" in sleep(filled, "status").stdout


async def test_sleep_status_shows_running_finished_and_interrupted_jobs(filled: Path) -> None:
    began = now() - timedelta(minutes=7)
    async with open_memory(filled) as memory:
        graph = memory.standalone.graph
        await graph.log.record_job_run(JobRun("consolidation", began, now(), 3))
        await graph.log.record_job_run(JobRun("dream", began, began + timedelta(minutes=2), 1, over=True))
        await graph.log.record_job_run(JobRun("resolve", began, began, 2, error="stopped"))
        await graph.log.record_job_run(JobRun("mirror", began, began, 1, over=True))
    told = (await asyncio.to_thread(sleep, filled, "status")).stdout
    minute = f"{began:%Y-%m-%d %H:%M} UTC"
    assert re.search(rf"consolidation: next at .*; running since {minute} \(3 slices, last report \d s ago\)", told)
    assert re.search(rf"dream: next at .*; last run from {minute} to .* \(1 slice\)", told)
    assert re.search(rf"resolve: next at .*; interrupted at {minute} after 2 slices: stopped", told)
    assert f"mirror: last run from {minute} to {minute} (1 slice)" in told


def test_sleep_status_shows_jobs_off_without_vectors(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_EMBEDDER", "none")
    told = sleep(filled, "status").stdout
    assert told.startswith("consolidation: off (VICW_EMBEDDER=none)\ndream: off (VICW_EMBEDDER=none)\nresolve: next")


def test_sleep_without_a_store_makes_none(tmp_path: Path) -> None:
    wrong = sleep(tmp_path / "none", "consolidate")
    assert "holds no store" in str(wrong.exception)
    assert not (tmp_path / "none").exists()


async def test_an_invalid_consolidation_schedule_stops_the_server_from_starting(store: Path) -> None:
    wrong = replace(settings_for(store), consolidation=ConsolidationSettings(schedule="at night"))
    with pytest.raises(SettingsError, match="VICW_CONSOLIDATE_SCHEDULE"):
        await Standalone(wrong, HashEmbedder()).open()


@pytest.mark.parametrize("paused", [False, True])
async def test_a_server_consolidates_on_schedule_unless_paused(
    store: Path, monkeypatch: pytest.MonkeyPatch, paused: bool
) -> None:
    await fill(store)
    moment: list[datetime] = [now()]
    monkeypatch.setattr("vicw_sleep.consolidation.job.now", lambda: moment[0])
    monkeypatch.setattr("vicw_sleep.schedule.scheduler.now", lambda: moment[0])
    settings = replace(
        settings_for(store), sleep=SleepSettings(paused=paused), consolidation=ConsolidationSettings(batches=1)
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
            if len(await standalone.graph.scan(Steps(), limit=9)) == 3:
                break
        assert len(await standalone.graph.scan(Steps(), limit=9)) == (0 if paused else 3)
        for _ in range(100):
            if (found := await standalone.graph.log.job_runs()) and found[0].over:
                break
            await asyncio.sleep(0.02)
        told = [(one.task, one.over, one.slices >= 3) for one in found if one.task == "consolidation"]
        assert told == ([] if paused else [("consolidation", True, True)])
    finally:
        await standalone.close()


@pytest.mark.parametrize("paused", [False, True])
async def test_a_server_consolidates_a_context_that_has_grown_by_day(store: Path, paused: bool) -> None:
    await fill(store)
    often = ConsolidationSettings(schedule="never", interactions=12, hours=0, batches=1)
    standalone = Standalone(
        replace(settings_for(store), sleep=SleepSettings(paused=paused), consolidation=often), HashEmbedder()
    )
    await standalone.open()
    check_schedules_often(standalone)
    try:
        standalone.start_indexer()
        for _ in range(20 if paused else 100):
            await asyncio.sleep(0.05)
            if len(
                await standalone.graph.scan(Steps(), limit=9)
            ) == 3 and not await standalone.graph.log.contexts_with_arrivals(1, limit=9):
                break
        assert len(await standalone.graph.scan(Steps(), limit=9)) == (0 if paused else 3)
        assert bool(await standalone.graph.log.contexts_with_arrivals(1, limit=9)) == paused
    finally:
        await standalone.close()
