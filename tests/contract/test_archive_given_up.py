"""An import that broke off is given up: what it has brought goes, wherever it broke off, and nothing else does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contract.exports import exported, imported
from contract.sides import Side, asked_for, embedded
from contract.test_archive import Killed, dying, fill, small_batches, whole  # noqa: F401 - a fixture
from contract.test_erasing import eraser, left
from contract.test_folding import sound, tell, turn
from vicw_ingest.erasing.noting import fingerprints_of
from vicw_shared.errors import ConflictError, NotFoundError
from vicw_standalone.forgetting.giving_up import choose_half, settle_half


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def give_up(side: Side) -> None:
    """Erase what an import has brought, prove it, and end it, as ``vicw forget import`` does."""
    work = eraser(side)
    for chosen in await choose_half(side.graph):
        await work.begin(chosen)
    pending = await work.pending()
    for erasure in pending:
        await work.run(erasure)
    await settle_half(side.graph)
    for erasure in pending:
        assert await left(side, await fingerprints_of(side.graph, erasure)) == []
        await side.graph.end_erasure(erasure)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("writes", [1, 4, 12, 25, 60])
async def test_an_import_that_broke_off_is_given_up(side: Side, store: Path, tmp_path: Path, writes: int) -> None:
    await side.ingest({"context": "elsewhere", "items": [{"text": "Of t.", "speaker": "Ana"}]}, "t", "its key")
    await tell(side, [turn(1, "Ana told Ben, who stays here.")], context="elsewhere")
    before = await whole(side)
    async with embedded(store) as source:
        await fill(source)
        await exported(source, tmp_path / "one")
        revive = dying(side, writes, behind=True)
        try:
            with pytest.raises(Killed):
                await imported(tmp_path / "one", side)
        finally:
            revive()
        await give_up(side)
        assert await whole(side) == before
        assert (await side.graph.import_mark(), await side.graph.import_homes()) == (None, None)
        assert await side.graph.receipt("t", "key:its key") is not None
        with pytest.raises(NotFoundError, match="No import broke off"):
            await choose_half(side.graph)
        await sound(side)
        assert not (await imported(tmp_path / "one", side)).again
        there = [node for node in (await side.nodes()).values() if node.context != "elsewhere"]
        assert {node.uid for node in there} == set(await source.nodes())
        await sound(side)


@pytest.mark.usefixtures("small_batches")
async def test_giving_up_that_is_killed_goes_on(side: Side, store: Path, tmp_path: Path) -> None:
    await tell(side, [turn(1, "Ana told Ben.")], context="elsewhere")
    before = await whole(side)
    async with embedded(store) as source:
        await fill(source)
        await exported(source, tmp_path / "one")
    deaths = 0
    for after in range(1, 200):
        revive = dying(side, 30, behind=False)
        with pytest.raises(Killed):
            await imported(tmp_path / "one", side)
        revive()
        revive = dying(side, after, behind=after % 2 == 0)
        try:
            await give_up(side)
            break
        except Killed:
            deaths += 1
        finally:
            revive()
        await give_up(side)
        assert await whole(side) == before
    assert deaths > 5
    assert await whole(side) == before
    await sound(side)


async def test_whose_contexts_nobody_noted_is_refused(side: Side) -> None:
    await tell(side, [turn(1, "Ana told Ben.")])

    async def mark(transaction: object) -> None:
        await transaction.mark_import('{"id": "x", "made": "2026-01-01T00:00:00+00:00"}')  # type: ignore[attr-defined]

    await side.graph.write("t", "c", mark)
    with pytest.raises(ConflictError, match="run the same import again"):
        await choose_half(side.graph)
