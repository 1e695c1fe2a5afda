"""``vicw sleep reconcile`` and ``vicw sleep expire``: what is done by itself, done by hand."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.clients.sleep_command import sleep, without_model
from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory, settings_for
from support.stores.schedules import check_schedules_often
from vicw_core.consolidation.consolidate import MAKER
from vicw_core.graph.edge_factory import DREAM, RESOLVE
from vicw_ingest.eviction.service import EVICT
from vicw_ingest.expiry.service import EXPIRE
from vicw_shared.clock import now
from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import GraphTransaction, MaintenanceStep, Outcome, Point, Receipt, scan_pages
from vicw_shared.settings import SleepSettings
from vicw_shared.uids import make_uid
from vicw_sleep.history.model import LoggedTask
from vicw_sleep.reconcile.service import reconcile
from vicw_standalone.cli import app
from vicw_standalone.wiring import Standalone

WAITED_SECONDS = "vicw_sleep.reconcile.discrepancies.AT_WORK_SECONDS"
# Told when the file is read, which may be an hour before its tests run.
SOON = now() + timedelta(days=1)


async def fill(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest({"id": "stays", "text": "The harbour is old.", "flow_id": "f"})
        over = {"expires_at": SOON.isoformat(), "speaker": "Ben"}
        await memory.ingest({"id": "goes", "text": "The bridge is\nnew.", "flow_id": "f", **over})
        await memory.standalone.indexer.drain()


async def corrupt_points(store: Path) -> None:
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


def test_sleep_reconcile_reports_and_repairs_the_vector_store(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clean = sleep(filled, "reconcile")
    assert clean.exit_code == 0, clean.output
    nothing = "0 points missing, 0 out of date: indexed again\n0 points without a passage: removed\n"
    assert clean.stdout == nothing
    asyncio.run(corrupt_points(filled))
    assert check(filled) == 1
    told = "1 point missing, 1 out of date: {}\n1 point without a passage: {}\n"
    for _ in range(2):  # a dry run changes nothing
        assert sleep(filled, "reconcile", "--dry-run").stdout == told.format(
            "would be indexed again", "would be removed"
        )
    assert check(filled) == 1
    monkeypatch.setattr(WAITED_SECONDS, None)  # who waits, fails: nobody else is at work
    assert sleep(filled, "reconcile").stdout == told.format("indexed again", "removed")
    assert check(filled) == 0
    assert sleep(filled, "reconcile").stdout == nothing


async def test_opening_a_store_after_a_kill_reconciles_without_waiting(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = tmp_path / "killed"
    async with open_memory(store) as memory:
        vectors = memory.standalone.vectors
        await memory.ingest({"id": "stays", "text": "The harbour is old."})
        await memory.standalone.indexer.drain()
        (dense, *_) = (await vectors.dense(await vectors.ids(after=None, limit=1))).values()
        nobody = Point(make_uid("nobody"), dense, None, {"label": "Chunk", "tenant": "default"})
        await vectors.upsert([nobody])
        shutil.copytree(store, killed)
    monkeypatch.setattr(WAITED_SECONDS, None)  # who waits, fails
    async with open_memory(killed) as memory:
        assert nobody.id not in await memory.standalone.vectors.ids(after=None, limit=9)


@pytest.mark.parametrize("paused", [False, True])
async def test_a_server_reconciles_on_schedule_even_if_paused(
    store: Path, monkeypatch: pytest.MonkeyPatch, paused: bool
) -> None:
    await fill(store)
    await corrupt_points(store)
    moment = [now()]
    monkeypatch.setattr("vicw_sleep.schedule.scheduler.now", lambda: moment[0])
    often = SleepSettings(paused=paused, reconcile_schedule="30 * * * *", reconcile_pages=1)
    standalone = Standalone(replace(settings_for(store), sleep=often), HashEmbedder())
    await standalone.open()
    check_schedules_often(standalone)
    try:
        await _receipt_of_old(standalone)
        standalone.start_indexer()
        await asyncio.sleep(0.2)
        assert await _count_wrong_points(standalone) == 3, "it is not time yet"
        moment[0] += timedelta(hours=1)
        for _ in range(200):
            await asyncio.sleep(0.05)
            through = [one.task for one in await standalone.graph.log.job_runs() if one.over]
            if "reconcile" in through and not await _count_wrong_points(standalone):
                break
        assert await _count_wrong_points(standalone) == 0
        assert await standalone.graph.record.forget_receipts(now(), limit=9) == 0, "old receipts are gone, too"
    finally:
        await standalone.close()


async def _receipt_of_old(standalone: Standalone) -> None:
    old = Receipt("k", "print", now() - timedelta(days=400), {})
    await standalone.graph.write("default", "ctx", lambda transaction: transaction.put_receipt(old))


async def _count_wrong_points(standalone: Standalone) -> int:
    graph = standalone.graph
    found = await reconcile(graph.outbox, graph.audit, standalone.vectors, dry=True)
    return found.missing + found.stale + found.orphaned


def test_sleep_reconcile_without_vectors_has_nothing_to_compare(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_EMBEDDER", "none")
    monkeypatch.setattr("vicw_runtime.logs.configure_logs", lambda settings: None)
    asyncio.run(fill_without_vectors(store))
    assert "no vectors to compare" in sleep(store, "reconcile").stdout


async def fill_without_vectors(store: Path) -> None:
    async with open_memory(store, vectors=False) as memory:
        await memory.ingest({"id": "stays", "text": "The harbour is old."})


def test_sleep_expire_lists_then_retires_expired_items(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sleep(filled, "expire", "--dry-run").stdout == "0 items would be retired (expired)\n"

    def later() -> datetime:
        return SOON + timedelta(seconds=1)

    for module in ("vicw_ingest.expiry.service", "vicw_ingest.expiry.api"):
        monkeypatch.setattr(f"{module}.now", later)
    for _ in range(2):
        dry = sleep(filled, "expire", "--dry-run")
        assert dry.stdout.splitlines()[0].startswith("retire  ctx · [goes] ")
        assert dry.stdout.splitlines()[1:] == ["1 item would be retired (expired)"]
    assert sleep(filled, "expire").stdout.splitlines()[-1] == "1 item retired (expired)"
    assert sleep(filled, "expire").stdout == "0 items retired (expired)\n"
    assert check(filled) == 0


@pytest.fixture
def over(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store in which something has expired and was retired."""
    monkeypatch.setattr("vicw_ingest.expiry.service.now", lambda: SOON)
    assert "1 item retired" in sleep(filled, "expire").stdout
    return filled


def test_sleep_log_lists_expired_items_without_their_text(over: Path) -> None:
    (step,) = [json.loads(line) for line in sleep(over, "log", "--json").stdout.splitlines()]
    assert (step["task"], step["outcome"], step["details"]["item"]) == ("expire", "done", "goes")
    assert "bridge" not in json.dumps(step)
    end = f"{SOON:%Y-%m-%d %H:%M}"
    assert sleep(over, "log").stdout.splitlines() == [
        step["id"],
        f"    {end}  done     expire  ctx: [goes] Ben · expired {end}",
    ]
    assert sleep(over, "log", "--task", "expire").stdout == sleep(over, "log").stdout
    assert {*LoggedTask} == {MAKER, DREAM, RESOLVE, EVICT, EXPIRE}
    others = sleep(over, "log", "--task", "dream")
    assert (others.stdout, others.stderr) == ("", "no such step is logged\n")
    assert sleep(over, "log", "--refused").stdout == ""
    assert "0 done, 0 refused, 0 undone, 1 expired\n" in sleep(over, "status").stdout


def test_undo_of_an_expired_item_is_refused(over: Path) -> None:
    (step,) = [json.loads(line) for line in sleep(over, "log", "--json").stdout.splitlines()]
    refused = sleep(over, "undo", step["id"])
    assert (refused.exit_code, "Send it again" in str(refused.exception)) == (1, True)
    assert isinstance(refused.exception, MissingRecordError)
    assert [json.loads(line) for line in sleep(over, "log", "--json").stdout.splitlines()] == [step], "nothing changed"


def test_sleep_log_refused_lists_a_step_older_than_many_expired_ones(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vicw_sleep.history.api.scan_pages", partial(scan_pages, limit=3))
    asyncio.run(log_steps(filled))
    assert len(sleep(filled, "log", "--limit", "5").stdout.splitlines()) == 10
    (line,) = sleep(filled, "log", "--refused", "--json").stdout.splitlines()
    assert json.loads(line)["id"] == "oldest"
    assert "0 done, 1 refused, 0 undone, 10 expired\n" in sleep(filled, "status").stdout


async def log_steps(store: Path) -> None:
    """Log what was refused, and then that much has expired."""
    began = now() - timedelta(hours=1)
    kept = MaintenanceStep(
        id="oldest",
        tenant="default",
        context="ctx",
        task="consolidation",
        outcome=Outcome.REFUSED,
        at=began,
        subject="00000000-0000-4000-8000-000000000000",
        reason="it loses a name",
    )
    gone = [
        replace(kept, id=f"{n}", task="expire", outcome=Outcome.DONE, at=began + timedelta(minutes=n + 1), reason="")
        for n in range(10)
    ]

    async def work(transaction: GraphTransaction) -> None:
        for step in (kept, *gone):
            await transaction.log_step(step)

    async with open_memory(store) as memory:
        await memory.standalone.graph.write("default", "ctx", work)
