"""What goes out of one store comes into another as it was, whatever kinds of stores these are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from contract.exports import exported, imported, same
from contract.sides import Side, asked_for, embedded
from contract.test_folding import draft, fold, sound, tell, thread, turn


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


TEXTS = (
    "My sister Ana moved to Porto because Mara took the Sunken Amulet.",
    "Edran rode north after Mara left. Ana told Ben.",
    "I met Ben in Porto last Friday, so the build broke in src/app.py.",
)


async def fill(side: Side) -> None:
    await tell(side, [turn(n, TEXTS[n % 3], tags=["trip"], about=["Ana"]) for n in range(9)])
    await tell(side, [turn(2, "Ben has left."), turn(20, "Nothing happened.", timestamp=None)])
    await side.ingest({"context": "d", "wait": False, "items": [{"text": "Elsewhere. " * 40}]}, "u", "a key")
    await side.retract({"context": "c", "ids": ["4"], "wait": False}, "t")
    macro = await fold(side, await draft(side, (await thread(side))[:3]))
    await side.graph.requeue([macro.qdrant_id or ""])
    await sound(side)


async def test_round_trip(side: Side, store: Path, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        source = await stack.enter_async_context(embedded(store / "source"))
        await fill(source)
        await exported(source, tmp_path / "one")
        result = await imported(tmp_path / "one", side)
        assert result.points == len(await source.points())
        await exported(side, tmp_path / "two")
        same(tmp_path / "one", tmp_path / "two")
        assert (await side.check()).violations == []
        assert await side.nodes() == await source.nodes()
        assert await side.edges() == await source.edges()
        assert await side.payloads() == await source.payloads()
