"""What ``vicw check`` prints of very many violations."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.stores.memory import open_memory
from vicw_sleep import check
from vicw_standalone.cli import app


def test_the_first_violations_are_told_and_the_others_counted(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fill() -> None:
        async with open_memory(store) as memory:
            await memory.ingest(*({"id": f"m{n}", "text": f"turn {n}", "speaker": "Ana"} for n in range(4)))

    asyncio.run(fill())
    with closing(sqlite3.connect(store / "graph.sqlite3", isolation_level=None)) as graph:
        graph.execute("UPDATE edge SET type = 'HATES' WHERE type = 'INITIATED'")
    monkeypatch.setattr(check, "MOST_TOLD", 3)
    # Loggers keep what they were given first: here a stream that ends with the command.
    monkeypatch.setattr("vicw_standalone.cli.maintain.configure_logs", lambda settings: None)
    spoilt = CliRunner().invoke(app, ["check", "--data-dir", str(store)])
    assert spoilt.exit_code == 1
    _, *told, more = spoilt.stdout.splitlines()
    assert (len(told), more) == (3, "and 1 more")
    assert spoilt.stderr == "", "progress is for a terminal"
