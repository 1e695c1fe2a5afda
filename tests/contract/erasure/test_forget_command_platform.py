"""``vicw forget --platform`` over Neo4j and Qdrant: the command's own work, but for opening the engines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from contract.erasure.test_erasure import _SECRET, everything
from contract.sleep.test_consolidation import REGISTRY, sound, tell, thread, turn
from contract.sleep.test_consolidation_job import run, turns
from support.servers.neo4j.server import Neo4jServer
from support.stores.pairs import START, Side, platform
from support.stores.qdrant import server_if_any
from vicw_ingest.erasure.selection import choose_items
from vicw_sleep.consolidation.batches import ConsolidationRules
from vicw_sleep.mirror.folder import MirrorFolder
from vicw_standalone.cli import forget

pytestmark = pytest.mark.servers


@pytest.fixture
async def side(
    request: pytest.FixtureRequest, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Side]:
    async with platform(neo4j_server, server_if_any(request)) as opened:
        monkeypatch.setattr("vicw_standalone.erasure.platform.SleepWiring", lambda settings: Opened(opened))
        yield opened


class Opened:
    """The wiring of a platform whose engines are open already; whoever has to follow is the side's indexer."""

    def __init__(self, side: Side) -> None:
        self.engines = SimpleNamespace(graph=side.graph, indexes=side.indexer.indexes)
        self.registry = REGISTRY
        self.memory = SimpleNamespace(queue=self)
        self._side = side

    async def wake(self) -> None:
        await self._side.indexer.drain()

    async def open(self) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the settings name for a mirror of the tenant: empty."""
    path = tmp_path / "mirror"
    path.mkdir()
    monkeypatch.setenv("VICW_MIRROR_PATH", str(path))
    monkeypatch.setenv("VICW_MIRROR_TENANT", "t")
    return path


def _bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_the_forget_command_erases_an_item_and_rewrites_the_mirror(
    side: Side, mirror: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])
    _, dry = await forget.erase_on_platform(lambda graph: choose_items(graph, "t", ["1"], None), [], True, True)
    assert dry == []
    assert "vermilion" in await everything(side), "nothing went"
    _, (ended,) = await forget.erase_on_platform(lambda graph: choose_items(graph, "t", ["1"], None), [], False, True)
    assert ended.proof.holds, ended.proof
    assert ended.proof.read > 0, "the mirror was made, and searched"
    assert "vermilion" not in await everything(side)
    pages = _bytes_in(mirror)
    assert b"Ben left" in pages
    assert b"vermilion" not in pages
    assert await side.graph.erasures.erasures() == []
    await sound(side)


async def test_a_mirror_file_with_an_erased_text_prevents_the_proof(side: Side, mirror: Path) -> None:
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])
    _, (first,) = await forget.erase_on_platform(lambda graph: choose_items(graph, "t", ["1"], None), [], False, True)
    assert first.proof.holds
    await tell(side, [turn(2, f"Again: {_SECRET[:60]} above the door.")])
    (mirror / "my own notes.txt").write_text(f"I recall: {_SECRET[:60]}")
    _, (ended,) = await forget.erase_on_platform(lambda graph: choose_items(graph, "t", ["2"], None), [], False, True)
    assert ended.proof.places == [str(mirror / "my own notes.txt")]
    assert len({note.erasure for note in await side.graph.erasures.erasures()}) == 1, "it is not over"
    (mirror / "my own notes.txt").unlink()
    _, (again,) = await forget.erase_on_platform(None, [], False, True)
    assert again.proof.holds
    assert await side.graph.erasures.erasures() == []


async def _store_consolidated_secret(side: Side) -> None:
    told = turns(5)
    told[3]["text"] = _SECRET
    await tell(side, told)
    await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0))
    (macro,) = await thread(side)
    assert macro.is_macro
    await sound(side)


async def test_erasure_waits_for_workers_that_update_points_late(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await _store_consolidated_secret(side)
    late = asyncio.Event()

    async def wake(opened: Opened) -> None:
        asyncio.get_running_loop().call_later(1.0, late.set)

    async def follow() -> None:
        await late.wait()
        await side.indexer.drain()

    monkeypatch.setattr(Opened, "wake", wake)
    async with asyncio.TaskGroup() as group:
        group.create_task(follow())
        _, (ended,) = await forget.erase_on_platform(
            lambda graph: choose_items(graph, "t", ["3"], None), [], False, True, None
        )
    assert ended.proof.holds, ended.proof
    await sound(side)


async def test_passages_that_no_worker_updates_are_reported_as_waiting(
    side: Side, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await _store_consolidated_secret(side)

    async def wake(opened: Opened) -> None:
        """Nobody is there."""

    monkeypatch.setattr(Opened, "wake", wake)
    _, (ended,) = await forget.erase_on_platform(
        lambda graph: choose_items(graph, "t", ["3"], None), [], False, True, wait_seconds=0.2
    )
    assert not ended.proof.holds
    forget.print_erasure(ended, platform=True)
    assert "waiting for an ingest worker to update the points" in capsys.readouterr().out
    await side.indexer.drain()
    _, (again,) = await forget.erase_on_platform(None, [], False, True)
    assert again.proof.holds


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
    _, (ended,) = await forget.erase_on_platform(lambda graph: choose_items(graph, "t", ["3"], None), [], False, True)
    assert ended.proof.holds, ended.proof
    await sound(side)


async def test_the_forget_command_waits_for_the_mirror_lock(
    side: Side, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])

    writing, erased = asyncio.Event(), asyncio.Event()

    async def wake(opened: Opened) -> None:
        await side.indexer.drain()
        erased.set()

    async def write() -> None:
        with MirrorFolder(mirror).locked():
            writing.set()
            await erased.wait()
            await asyncio.sleep(1)

    monkeypatch.setattr(Opened, "wake", wake)
    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        await writing.wait()
        _, (ended,) = await forget.erase_on_platform(
            lambda graph: choose_items(graph, "t", ["1"], None), [], False, True, None
        )
    assert ended.proof.holds, ended.proof
    assert ended.proof.read > 0
