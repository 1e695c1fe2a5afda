"""``vicw export --filter``: a file of items that ``vicw ingest`` reads."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.clients.served import keep_logs
from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.plain.jsonl import read_jsonl
from vicw_readers.records import SourceItem
from vicw_standalone.cli import app
from vicw_standalone.wiring import Standalone


async def _fill(store: Path) -> None:
    async with open_memory(store) as memory:
        items = [{"id": f"i{n}", "text": f"The gate number {n} is shut.", "metadata": {"n": n}} for n in range(4)]
        await memory.ingest(*items, context="yard")
        await memory.ingest({"text": "The well is dry.", "metadata": {"n": 9}}, context="field")


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    asyncio.run(_fill(store))
    keep_logs(monkeypatch)
    init = Standalone.__init__
    monkeypatch.setattr(
        Standalone, "__init__", lambda self, settings, *given: init(self, settings, *(given or (HashEmbedder(),)))
    )
    return store


def vicw(store: Path, *words: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, words), "--data-dir", str(store)])


def test_items_that_pass_are_written_as_they_are_ingested(filled: Path, tmp_path: Path) -> None:
    to = tmp_path / "items.jsonl"
    done = vicw(filled, "export", "--to", to, "--filter", '{"metadata.n": {"gte": 2}}')
    assert (done.exit_code, done.stdout) == (0, f"{to}: 3 items\n"), done.output
    lines = [json.loads(line) for line in to.read_text().splitlines()]
    assert [(line["context"], line["text"]) for line in lines] == [
        ("field", "The well is dry."),
        ("yard", "The gate number 2 is shut."),
        ("yard", "The gate number 3 is shut."),
    ]
    assert stat.S_IMODE(to.stat().st_mode) == 0o600, "it is as private as the store"
    records = list(read_jsonl(SourceFile(to, to.name, "else")))
    assert [(one.context, one.item.text) for one in records if isinstance(one, SourceItem)] == [
        (line["context"], line["text"]) for line in lines
    ]


def test_a_file_is_never_replaced_and_a_failed_export_leaves_none(filled: Path, tmp_path: Path) -> None:
    to = tmp_path / "items.jsonl"
    wrong = vicw(filled, "export", "--to", to, "--filter", '{"label": "Thing"}')
    assert (wrong.exit_code, to.exists()) == (1, False), wrong.output
    to.write_text("mine")
    for options in (("--filter", "{}"), ("--filter", "{}", "--keys"), ("--filter", "[]")):
        assert vicw(filled, "export", "--to", to, *options).exit_code == 2, options
    assert to.read_text() == "mine"
    nobody = vicw(filled, "export", "--to", tmp_path / "none.jsonl", "--tenant", "nobody", "--filter", "{}")
    assert (nobody.exit_code, "0 items" in nobody.stdout) == (0, True), nobody.output
