"""``vicw sleep reconcile`` and ``vicw sleep expire``: what is done by itself, done by hand."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memory import open_memory
from unit.standalone.asleep import sleep, without_model
from vicw_shared.clock import now
from vicw_shared.ports import Point
from vicw_standalone.cli import app

SOON = now() + timedelta(hours=1)


async def fill(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest({"id": "stays", "text": "The harbour is old.", "flow_id": "f"})
        over = {"expires_at": SOON.isoformat(), "speaker": "Ben"}
        await memory.ingest({"id": "goes", "text": "The bridge is\nnew.", "flow_id": "f", **over})
        await memory.standalone.indexer.drain()


async def spoil(store: Path) -> None:
    """Take one point away, say something else in another, and add one of nothing."""
    async with open_memory(store) as memory:
        vectors = memory.standalone.vectors
        first, second = sorted(await vectors.ids(after=None, limit=9))[:2]
        (dense,) = (await vectors.dense([first])).values()
        await vectors.delete([first])
        await vectors.set_payload({second: {**(await vectors.payloads([second]))[second], "context": "elsewhere"}})
        await vectors.upsert(
            [Point("00000000-0000-4000-8000-000000000000", dense, None, {"label": "Chunk", "tenant": "default"})]
        )


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    asyncio.run(fill(store))
    without_model(monkeypatch)
    return store


def check(store: Path) -> int:
    return CliRunner().invoke(app, ["check", "--data-dir", str(store)]).exit_code


def test_stores_that_disagree_are_told_of_and_mended(filled: Path) -> None:
    clean = sleep(filled, "reconcile")
    assert clean.exit_code == 0, clean.output
    nothing = "0 points are missing, 0 are not what the graph says: indexed anew\n0 points are of no passage: removed\n"
    assert clean.stdout == nothing
    asyncio.run(spoil(filled))
    assert check(filled) == 1
    told = "1 points are missing, 1 are not what the graph says: {}\n1 points are of no passage: {}\n"
    for _ in range(2):  # a dry run changes nothing
        assert sleep(filled, "reconcile", "--dry-run").stdout == told.format(
            "would be indexed anew", "would be removed"
        )
    assert check(filled) == 1
    assert sleep(filled, "reconcile").stdout == told.format("indexed anew", "removed")
    assert check(filled) == 0
    assert sleep(filled, "reconcile").stdout == nothing


def test_without_vectors_there_is_nothing_to_compare(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_EMBEDDER", "none")
    monkeypatch.setattr("vicw_standalone.cli.sleeping.configure_logs", lambda settings: None)
    asyncio.run(fill_without_vectors(store))
    assert "nothing to compare" in sleep(store, "reconcile").stdout


async def fill_without_vectors(store: Path) -> None:
    async with open_memory(store, vectors=False) as memory:
        await memory.ingest({"id": "stays", "text": "The harbour is old."})


def test_what_is_over_is_told_of_and_retired(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sleep(filled, "expire", "--dry-run").stdout == "0 items would be retired: their time is over\n"

    def later() -> datetime:
        return SOON + timedelta(seconds=1)

    for module in ("vicw_ingest.expiry", "vicw_standalone.cli.upkeep"):
        monkeypatch.setattr(f"{module}.now", later)
    for _ in range(2):
        dry = sleep(filled, "expire", "--dry-run")
        assert dry.stdout.splitlines()[0].startswith("retire  ctx · [goes] ")
        assert dry.stdout.splitlines()[1:] == ["1 items would be retired: their time is over"]
    assert sleep(filled, "expire").stdout.splitlines()[-1] == "1 items were retired: their time is over"
    assert sleep(filled, "expire").stdout == "0 items were retired: their time is over\n"
    assert check(filled) == 0


def test_a_server_that_has_the_store_open_is_named(filled: Path) -> None:
    async def while_open(command: str) -> str:
        async with open_memory(filled):
            done = await asyncio.to_thread(sleep, filled, command)
            assert done.exit_code == 2
            return done.output

    assert "VICW_INGEST_EXPIRY_SECONDS" in asyncio.run(while_open("expire"))
    assert "unclean end" in asyncio.run(while_open("reconcile"))
