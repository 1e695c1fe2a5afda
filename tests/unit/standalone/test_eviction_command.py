"""``vicw forget capacity``, its steps in ``vicw sleep``; and ``vicw serve``, which forgets by itself."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.clients.served import keep_logs
from support.clients.sleep_command import sleep, without_model
from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory, settings_for
from support.stores.schedules import check_schedules_often
from vicw_shared.clock import now
from vicw_shared.errors import SettingsError
from vicw_shared.model import Label
from vicw_shared.ports import Nodes
from vicw_shared.settings import EvictionSettings, SleepSettings
from vicw_standalone.cli import app
from vicw_standalone.wiring import Standalone
from vicw_stores.sqlite import SqliteGraphStore


async def fill(store: Path) -> None:
    async with open_memory(store) as memory:
        told = {"flow_id": "f", "speaker": "Ana"}
        weights = enumerate((0.5, 0.1, 0.5, 0.2, 0.5))
        await memory.ingest(*(told | {"id": f"{n}", "text": f"I saw ship {n}.", "importance": w} for n, w in weights))


async def items_in(graph: SqliteGraphStore) -> int:
    nodes = await graph.scan(Nodes(Label.EVENT), limit=99)
    return len([node for node in nodes if node.content_hash is not None])


def items(store: Path) -> int:
    async def count() -> int:
        async with open_memory(store) as memory:
            return await items_in(memory.standalone.graph)

    return asyncio.run(count())


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    asyncio.run(fill(store))
    without_model(monkeypatch)
    monkeypatch.setattr("vicw_runtime.logs.configure_logs", lambda settings: None)
    keep_logs(monkeypatch)
    monkeypatch.setenv("VICW_EVICTION_DAYS", "0")
    return store


def capacity(store: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["forget", "capacity", *words, "--data-dir", str(store)])


def test_forget_capacity_lists_then_erases_the_least_important_items(filled: Path) -> None:
    dry = capacity(filled, "--items", "3", "--dry-run")
    assert dry.exit_code == 0, dry.output
    lines = ["ctx · [1] Ana · weight 0.100", "ctx · [3] Ana · weight 0.200", "2 items would be erased"]
    assert dry.stdout.splitlines() == lines
    assert sleep(filled, "log").stdout == ""
    assert items(filled) == 5
    done = capacity(filled, "--items", "3")
    assert done.stdout.splitlines() == [*lines[:2], "2 items erased"]
    assert items(filled) == 3
    (step,) = [json.loads(line) for line in sleep(filled, "log", "--json").stdout.splitlines()]
    assert "forget  ctx: 2 items evicted for lack of space" in sleep(filled, "log").stdout
    refused = sleep(filled, "undo", step["id"])
    assert "are erased" in refused.output + str(refused.exception)
    assert capacity(filled, "--items", "3", "-q").stdout == "0 items erased\n"
    assert CliRunner().invoke(app, ["check", "--data-dir", str(filled)]).exit_code == 0


def test_forget_capacity_uses_the_limit_of_the_setting(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_EVICTION_ITEMS", "4")
    assert capacity(filled, "-q").stdout == "1 item erased\n"
    assert "eviction: next at" in sleep(filled, "status").stdout


def test_forget_capacity_without_a_limit_names_the_setting(filled: Path) -> None:
    wrong = capacity(filled)
    assert (wrong.exit_code, "VICW_EVICTION_ITEMS" in wrong.output) == (2, True)
    assert "eviction: off (no limit in VICW_EVICTION_ITEMS)" in sleep(filled, "status").stdout


async def test_an_invalid_eviction_schedule_stops_the_server_from_starting(store: Path) -> None:
    wrong = replace(settings_for(store), eviction=EvictionSettings(schedule="at night"))
    with pytest.raises(SettingsError, match="VICW_EVICTION_SCHEDULE"):
        await Standalone(wrong, HashEmbedder()).open()


@pytest.mark.parametrize("paused", [False, True])
async def test_a_server_evicts_items_on_schedule_unless_paused(
    store: Path, monkeypatch: pytest.MonkeyPatch, paused: bool
) -> None:
    await fill(store)
    moment: list[datetime] = [now()]
    monkeypatch.setattr("vicw_ingest.eviction.job.now", lambda: moment[0])
    monkeypatch.setattr("vicw_sleep.schedule.scheduler.now", lambda: moment[0])
    eviction = EvictionSettings(items=3, days=0, batch=1)
    settings = replace(settings_for(store), sleep=SleepSettings(paused=paused), eviction=eviction)
    standalone = Standalone(settings, HashEmbedder())
    await standalone.open()
    check_schedules_often(standalone)
    graph = standalone.graph
    try:
        standalone.start_indexer()
        await asyncio.sleep(0.2)
        assert await items_in(graph) == 5, "it is not night yet"
        moment[0] += timedelta(days=1)
        for _ in range(10 if paused else 100):
            await asyncio.sleep(0.05)
            if await items_in(graph) == 3:
                break
        assert await items_in(graph) == (5 if paused else 3)
    finally:
        await standalone.close()
