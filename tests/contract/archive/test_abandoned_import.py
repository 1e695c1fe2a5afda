"""An import that broke off is given up: what it has brought goes, wherever it broke off, and nothing else does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from contract.archive.test_export_import import (
    Killed,
    exported_in_small_pages,
    fill,
    imported_in_small_batches,
    kill_writer_after,
    store_content,
)
from contract.erasure.test_erasure import eraser, find_residue
from contract.sleep.test_consolidation import sound, tell, turn
from support.stores.pairs import Side, asked_for, embedded
from vicw_core.archive.import_marker import mark_abandoned
from vicw_ingest.erasure.abandoned_import import choose_imported, settle_abandoned
from vicw_ingest.erasure.record import fingerprints_of
from vicw_ingest.erasure.selection import ErasureSelection
from vicw_shared.errors import MissingRecordError, StateConflictError
from vicw_shared.model import Label


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def abandon_import(side: Side) -> None:
    """Erase what an import has brought, prove it, and end it, as ``vicw forget import`` does, or ``resume``."""
    work = eraser(side)
    if await side.graph.archive.import_mark() is not None:
        wanted = await choose_imported(side.graph)
        await mark_abandoned(side.graph)
        for chosen in wanted:
            await work.begin(chosen)
    pending = await work.pending()
    for erasure in pending:
        await work.run(erasure)
    await settle_abandoned(side.graph)
    for erasure in pending:
        assert await find_residue(side, await fingerprints_of(side.graph.erasures, erasure)) == []
        await side.graph.erasures.end_erasure(erasure)


@pytest.mark.parametrize("writes", [1, 4, 12, 25, 60])
async def test_abandoning_an_interrupted_import_erases_only_what_it_brought(
    side: Side, store: Path, tmp_path: Path, writes: int
) -> None:
    items = [{"text": "Of v.", "speaker": "Ana"}, turn(1, "Ana told Ben, who stays here.")]
    await side.ingest({"context": "elsewhere", "items": items}, "v", "its key")
    await side.indexer.drain()
    before = await store_content(side)
    async with embedded(store) as source:
        await fill(source)
        await exported_in_small_pages(source, tmp_path / "one")
        revive = kill_writer_after(side, writes, behind=True)
        try:
            with pytest.raises(Killed):
                await imported_in_small_batches(tmp_path / "one", side)
        finally:
            revive()
        await abandon_import(side)
        assert await store_content(side) == before
        assert await side.graph.archive.import_mark() is None
        assert await side.graph.record.receipt("v", "key:its key") is not None
        with pytest.raises(MissingRecordError, match="No import broke off"):
            await choose_imported(side.graph)
        await sound(side)
        await imported_in_small_batches(tmp_path / "one", side)
        there = [node for node in (await side.nodes()).values() if node.context != "elsewhere"]
        assert {node.uid for node in there} == set(await source.nodes())
        await sound(side)


async def test_a_killed_import_abandonment_is_completed_by_the_next_run(
    side: Side, store: Path, tmp_path: Path
) -> None:
    await side.ingest({"context": "elsewhere", "items": [turn(1, "Ana told Ben.")]}, "v", None)
    await side.indexer.drain()
    before = await store_content(side)
    async with embedded(store) as source:
        await fill(source)
        await exported_in_small_pages(source, tmp_path / "one")
    deaths = 0
    for after in range(1, 200):
        revive = kill_writer_after(side, 30, behind=False)
        with pytest.raises(Killed):
            await imported_in_small_batches(tmp_path / "one", side)
        revive()
        revive = kill_writer_after(side, after, behind=after % 2 == 0)
        try:
            await abandon_import(side)
            break
        except Killed:
            deaths += 1
        finally:
            revive()
        await abandon_import(side)
        assert await store_content(side) == before
    assert deaths > 5
    assert await store_content(side) == before
    await sound(side)


@pytest.mark.parametrize("after", [1, 2, 9, 1000])
async def test_an_import_being_abandoned_cannot_be_resumed_or_exported(
    side: Side, store: Path, tmp_path: Path, after: int
) -> None:
    async with embedded(store) as source:
        await fill(source)
        await exported_in_small_pages(source, tmp_path / "one")
        known = await source.nodes()

    async def away(*_: object) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr("vicw_sleep.archive.importer.PointBuilder.run", away)
        await imported_in_small_batches(tmp_path / "one", side)
    await settle_abandoned(side.graph)
    assert await side.graph.archive.import_mark() is not None, "it broke off, and nobody has given it up"
    revive = kill_writer_after(side, after, behind=True)
    work = eraser(side)
    with suppress(Killed):
        wanted = await choose_imported(side.graph)
        await mark_abandoned(side.graph)
        for chosen in wanted:
            await work.begin(chosen)
        for erasure in await work.pending():
            await work.run(erasure)
    revive()
    for try_it in (imported_in_small_batches(tmp_path / "one", side), exported_in_small_pages(side, tmp_path / "half")):
        with pytest.raises(StateConflictError, match="was given up and is not fully erased yet"):
            await try_it
    await abandon_import(side)
    assert await side.nodes() == {}
    await imported_in_small_batches(tmp_path / "one", side)
    assert (await side.nodes()).keys() == known.keys()
    await sound(side)


@pytest.mark.parametrize("ends", [True, False])
async def test_a_running_import_stops_when_it_is_given_up(side: Side, store: Path, tmp_path: Path, ends: bool) -> None:
    async with embedded(store) as source:
        await fill(source)
        await exported_in_small_pages(source, tmp_path / "one")
    graph, write, writes = side.graph, side.graph.write, 0

    async def give_up_before_the_tenth(*call: Any) -> Any:
        nonlocal writes
        writes += 1
        if writes == 10:
            patch.undo()
            await (abandon_import(side) if ends else mark_abandoned(graph))
        return await write(*call)

    patch = pytest.MonkeyPatch()
    patch.setattr(graph, "write", give_up_before_the_tenth)
    with pytest.raises(StateConflictError, match="has given this import up"):
        await imported_in_small_batches(tmp_path / "one", side)
    if not ends:
        await abandon_import(side)
    assert await side.nodes() == {}
    assert await graph.archive.import_mark() is None


async def test_items_stored_after_an_abandoned_import_ended_stay(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, [turn(1, "Ana told Ben.")])
    work = eraser(side)
    erasure = await work.begin(ErasureSelection("t", partial=("c",)))
    scan = side.graph.scan

    async def meanwhile(what: Any, **how: Any) -> Any:
        found = await scan(what, **how)
        await side.graph.erasures.end_erasure(erasure)
        return found

    monkeypatch.setattr(side.graph, "scan", meanwhile)
    await work.run(erasure)
    monkeypatch.undo()
    assert {node.label for node in (await side.nodes()).values()} >= {Label.CHUNK, Label.EVENT, Label.CONTEXT}
