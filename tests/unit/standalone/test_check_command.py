"""What ``vicw check`` prints of very many violations."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.stores.memory import open_memory
from vicw_runtime.job_runs import recorded_run
from vicw_runtime.upkeep.drift import COMPARISON, record_drift
from vicw_sleep.check.service import CheckLimits
from vicw_standalone.cli import app


def test_check_lists_the_first_violations_and_counts_the_others(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fill() -> None:
        async with open_memory(store) as memory:
            await memory.ingest(*({"id": f"m{n}", "text": f"turn {n}", "speaker": "Ana"} for n in range(4)))

    asyncio.run(fill())
    with closing(sqlite3.connect(store / "graph.sqlite3", isolation_level=None)) as graph:
        graph.execute(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
            "INSERT INTO edge (id, type, source, target, weight, created_at, created_by, properties) "
            "SELECT randomblob(length(id)), 'HATES', source, target, weight, created_at, created_by, properties "
            "FROM n, (SELECT * FROM edge WHERE type = 'INITIATED' LIMIT 1)",
            (CheckLimits().listed,),
        )
    # Loggers keep what they were given first: here a stream that ends with the command.
    monkeypatch.setattr("vicw_runtime.logs.configure_logs", lambda settings: None)
    spoilt = CliRunner().invoke(app, ["check", "--data-dir", str(store)])
    assert spoilt.exit_code == 1
    _, *told, more = spoilt.stdout.splitlines()
    assert (len(told), more) == (CheckLimits().listed, "and 1 more")
    assert spoilt.stderr == "", "progress is for a terminal"


async def test_an_importance_of_many_digits_agrees_with_its_point(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest(
            *({"id": f"i{n}", "text": f"note {n}", "importance": 0.9452706955539223 - n / 97} for n in range(30))
        )
        assert (await memory.check()).violations == []


def test_the_last_comparison_is_told_in_a_line_for_each_fact(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vicw_runtime.logs.configure_logs", lambda settings: None)

    def last() -> list[str]:
        told = CliRunner().invoke(app, ["check", "--last", "--data-dir", str(store)])
        assert told.exit_code == 0, told.stderr
        return told.stdout.splitlines()

    async def work(*, drift: bool) -> None:
        async with open_memory(store) as memory:
            await memory.ingest({"text": "The lighthouse is dark."})
            log = memory.standalone.graph.log
            async with recorded_run(log, COMPARISON, first=True):
                if drift:
                    await record_drift(log, {"missing": 2}, {"t": {"missing": 1}, "u": {"missing": 1}})

    asyncio.run(empty(store))
    never, waiting = last()
    assert "have not been compared yet" in never
    assert waiting == "0 passages not indexed yet"
    asyncio.run(work(drift=False))
    assert last()[1:] == ["no comparison has found a difference", "0 passages not indexed yet"]
    asyncio.run(work(drift=True))
    assert "repaired: 2 points missing, 0 out of date, 0 orphaned" in last()[1]


async def empty(store: Path) -> None:
    async with open_memory(store):
        pass
