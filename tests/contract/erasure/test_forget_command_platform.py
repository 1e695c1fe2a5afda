"""``vicw forget --platform`` over Neo4j and Qdrant: the operation, but for opening the engines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from contract.erasure.test_erasure import _SECRET, everything
from contract.sleep.test_consolidation import REGISTRY, sound, tell, thread, turn
from contract.sleep.test_consolidation_job import run, turns
from support.servers.neo4j.server import Neo4jServer
from support.stores.pairs import START, Side, platform
from support.stores.qdrant import server_if_any
from vicw_ingest.erasure.api import FORGET, ForgetRequest, ForgetResult, ItemsToForget
from vicw_ingest.erasure.cli import print_erasure
from vicw_runtime.operations import Memory, Report
from vicw_sleep.consolidation.batches import ConsolidationRules
from vicw_sleep.mirror.folder import MirrorFolder
from vicw_sleep.mirror.service import Mirror

pytestmark = pytest.mark.servers


@pytest.fixture
async def side(request: pytest.FixtureRequest, neo4j_server: Neo4jServer) -> AsyncIterator[Side]:
    async with platform(neo4j_server, server_if_any(request)) as opened:
        yield opened


type Update = Callable[[], Awaitable[None]]


async def forget(side: Side, *ids: str, update: Update | None = None, mirror: Path | None = None) -> ForgetResult:
    """Have the operation erase items, or none and continue; ``update`` is what the woken workers do."""

    async def drain() -> None:
        await side.indexer.drain()

    memory = Memory(
        settings=cast(Any, None),
        registry=REGISTRY,
        graph=side.graph,
        keys=cast(Any, None),
        open_vectors=side.indexer.indexes.open_vectors,
        queue=side.indexer,
        extraction_queue=side.indexer,
        indexes=side.indexer.indexes,
        index_queued=update or drain,
        mirror=Mirror(side.graph, mirror, "t") if mirror is not None else None,
    )
    target = ItemsToForget(what="items", tenant="t", ids=ids) if ids else None
    return await FORGET.run(memory, ForgetRequest(target=target), Report())


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """The folder of a mirror of the tenant: empty."""
    path = tmp_path / "mirror"
    path.mkdir()
    return path


def _bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_the_forget_command_erases_an_item_and_rewrites_the_mirror(side: Side, mirror: Path) -> None:
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])
    done = await forget(side, "1", mirror=mirror)
    assert not done.files, "the engines' own files are out of reach"
    (ended,) = done.erasures
    assert ended.proven, ended
    assert ended.read > 0, "the mirror was made, and searched"
    assert "vermilion" not in await everything(side)
    pages = _bytes_in(mirror)
    assert b"Ben left" in pages
    assert b"vermilion" not in pages
    assert await side.graph.erasures.erasures() == []
    await sound(side)


async def test_a_mirror_file_with_an_erased_text_prevents_the_proof(side: Side, mirror: Path) -> None:
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])
    (first,) = (await forget(side, "1", mirror=mirror)).erasures
    assert first.proven
    await tell(side, [turn(2, f"Again: {_SECRET[:60]} above the door.")])
    (mirror / "my own notes.txt").write_text(f"I recall: {_SECRET[:60]}")
    (ended,) = (await forget(side, "2", mirror=mirror)).erasures
    assert ended.found == (str(mirror / "my own notes.txt"),)
    assert len({note.erasure for note in await side.graph.erasures.erasures()}) == 1, "it is not over"
    (mirror / "my own notes.txt").unlink()
    (again,) = (await forget(side, mirror=mirror)).erasures
    assert again.earlier
    assert again.proven
    assert await side.graph.erasures.erasures() == []


async def _store_consolidated_secret(side: Side) -> None:
    told = turns(5)
    told[3]["text"] = _SECRET
    await tell(side, told)
    await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0))
    (macro,) = await thread(side)
    assert macro.is_macro
    await sound(side)


async def test_erasure_waits_for_workers_that_update_points_late(side: Side) -> None:
    await _store_consolidated_secret(side)
    late = asyncio.Event()

    async def wake() -> None:
        asyncio.get_running_loop().call_later(1.0, late.set)

    async def follow() -> None:
        await late.wait()
        await side.indexer.drain()

    async with asyncio.TaskGroup() as group:
        group.create_task(follow())
        (ended,) = (await forget(side, "3", update=wake)).erasures
    assert ended.proven, ended
    await sound(side)


async def test_passages_that_no_worker_updates_are_reported_as_waiting(
    side: Side, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await _store_consolidated_secret(side)

    async def wake() -> None:
        """Nobody is there."""

    monkeypatch.setattr("vicw_ingest.erasure.api.WAIT_SECONDS", 0.2)
    (ended,) = (await forget(side, "3", update=wake)).erasures
    assert not ended.proven
    print_erasure(ended, files=False)
    assert "waiting for an ingest worker to update the points" in capsys.readouterr().out
    await side.indexer.drain()
    (again,) = (await forget(side)).erasures
    assert again.proven


async def test_points_of_a_summary_whose_consolidation_was_killed_are_erased(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("vicw_sleep.consolidation.service.Consolidator.consolidate", die)
        with pytest.raises(RuntimeError):
            await _store_consolidated_secret(side)
    known = set(await side.nodes())
    assert await side.points() - known, "nobody knows these"
    (ended,) = (await forget(side, "3")).erasures
    assert ended.proven, ended
    await sound(side)


async def test_the_forget_command_waits_for_the_mirror_lock(side: Side, mirror: Path) -> None:
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])

    writing, erased = asyncio.Event(), asyncio.Event()

    async def wake() -> None:
        await side.indexer.drain()
        erased.set()

    async def write() -> None:
        with MirrorFolder(mirror).locked():
            writing.set()
            await erased.wait()
            await asyncio.sleep(1)

    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        await writing.wait()
        (ended,) = (await forget(side, "1", update=wake, mirror=mirror)).erasures
    assert ended.proven, ended
    assert ended.read > 0
