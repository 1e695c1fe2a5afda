"""``vicw forget capacity``, its steps in ``vicw sleep``; and ``vicw serve``, which forgets by itself."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from doubles import HashEmbedder
from memory import open_memory, settings_for
from unit.standalone.asleep import sleep, without_model
from vicw_shared.adapters.sqlite import SqliteGraphStore
from vicw_shared.clock import now
from vicw_shared.errors import SettingsError
from vicw_shared.model import Label
from vicw_shared.settings import ForgetSettings, SleepSettings
from vicw_standalone.cli import app
from vicw_standalone.wiring import Standalone


async def fill(store: Path) -> None:
    async with open_memory(store) as memory:
        told = {"flow_id": "f", "speaker": "Ana"}
        weights = enumerate((0.5, 0.1, 0.5, 0.2, 0.5))
        await memory.ingest(*(told | {"id": f"{n}", "text": f"I saw ship {n}.", "importance": w} for n, w in weights))


async def items_in(graph: SqliteGraphStore) -> int:
    nodes = await graph.page(Label.EVENT, after=None, limit=99)
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
    monkeypatch.setattr("vicw_standalone.cli.sleeping.configure_logs", lambda settings: None)
    monkeypatch.setenv("VICW_FORGET_DAYS", "0")
    return store


def capacity(store: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["forget", "capacity", *words, "--data-dir", str(store)])


def test_what_would_go_is_said_then_chosen_kept_and_erased(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dry = capacity(filled, "--items", "3", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert [line.split(" · ")[-1] for line in dry.stdout.splitlines()[:-1]] == ["weighs 0.100", "weighs 0.200"]
    foretold = "{} items would be chosen to go; {} would be erased, 0 of those chosen before would be kept"
    assert dry.stdout.splitlines()[-1] == foretold.format(2, 0)
    assert sleep(filled, "log").stdout == ""
    done = capacity(filled, "--items", "3", "-q")
    assert done.stdout == "2 items chosen to go in 7 days; 0 erased, 0 of those chosen before are kept\n"
    assert items(filled) == 5
    steps = [json.loads(line) for line in sleep(filled, "log", "--json").stdout.splitlines()]
    lightest = min(steps, key=lambda step: step["details"]["weight"])
    assert "weighs 0.1, goes 20" in sleep(filled, "log").stdout
    assert sleep(filled, "undo", lightest["id"]).stdout == "it stays; it is not chosen again\n"
    monkeypatch.setenv("VICW_FORGET_UNDO_DAYS", "0")
    monkeypatch.setenv("VICW_FORGET_ITEMS", "4")
    dry = capacity(filled, "--dry-run")
    assert re.fullmatch(r"erase   ctx · \[[13]\] Ana · weighs 0\.[12]00", dry.stdout.splitlines()[0])
    assert dry.stdout.splitlines()[1:] == [foretold.format(0, 1)]
    assert items(filled) == 5
    done = capacity(filled, "-q")
    assert done.stdout == "0 items chosen to go in 0 days; 1 erased, 0 of those chosen before are kept\n"
    assert items(filled) == 4
    assert "forgetting: next at" in sleep(filled, "status").stdout
    assert CliRunner().invoke(app, ["check", "--data-dir", str(filled)]).exit_code == 0


def test_where_every_item_is_kept_it_is_said_how_to_change_that(filled: Path) -> None:
    wrong = capacity(filled)
    assert (wrong.exit_code, "VICW_FORGET_ITEMS" in wrong.output) == (2, True)
    assert "forgetting: never by itself" in sleep(filled, "status").stdout


async def test_a_server_with_a_schedule_that_is_none_does_not_begin(store: Path) -> None:
    wrong = replace(settings_for(store), forgetting=ForgetSettings(schedule="at night"))
    with pytest.raises(SettingsError, match="VICW_FORGET_SCHEDULE"):
        await Standalone(wrong, HashEmbedder()).open()


@pytest.mark.parametrize("paused", [False, True])
async def test_a_server_forgets_at_night(store: Path, monkeypatch: pytest.MonkeyPatch, paused: bool) -> None:
    await fill(store)
    moment: list[datetime] = [now()]
    monkeypatch.setattr("vicw_ingest.capacity.turn.now", lambda: moment[0])
    monkeypatch.setattr("vicw_sleep.taking_turns.now", lambda: moment[0])
    monkeypatch.setattr("vicw_sleep.taking_turns.LOOK_SECONDS", 0.05)
    monkeypatch.setattr("vicw_sleep.taking_turns.REST_SECONDS", 0.0)
    forgetting = ForgetSettings(items=3, days=0, undo_days=3, batch=1)
    settings = replace(settings_for(store), sleep=SleepSettings(paused=paused), forgetting=forgetting)
    standalone = Standalone(settings, HashEmbedder())
    await standalone.open()
    graph = standalone.graph

    async def stands(steps: int, due: int, left: int) -> bool:
        found = await graph.steps(None, limit=9)
        noted = [step for step in found if "due" in step.details]
        return (len(found), len(noted), await items_in(graph)) == (steps, due, left)

    try:
        standalone.start_indexer()
        await asyncio.sleep(0.2)
        assert await stands(0, 0, 5), "it is not night yet"
        for days, steps, due, left in ((1, 2, 0, 5), (4, 2, 2, 5), (1, 0, 0, 3)):
            moment[0] += timedelta(days=days)
            for _ in range(10 if paused else 100):
                await asyncio.sleep(0.05)
                if await stands(steps, due, left):
                    break
            assert await stands(steps, due, left) or paused
        assert await stands(0, 0, 5) == paused
    finally:
        await standalone.close()
