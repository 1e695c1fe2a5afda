"""What is consolidated, or brought back, between being found and being shown: the question is asked again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from contract.sleep.test_consolidation import tell
from contract.sleep.test_consolidation_job import consolidation, run, turns
from support.stores.pairs import Side, asked_for
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.synthesis import expansion
from vicw_retrieval.synthesis.expansion import expand as own
from vicw_shared.clock import now
from vicw_shared.model import Node
from vicw_shared.ports import Steps

_COUNT = 6


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


type Move = Callable[[], Awaitable[object]]


def run_between_search_and_expansion(monkeypatch: pytest.MonkeyPatch, *moves: Move) -> list[Move]:
    """Have each question make the next of ``moves`` when it has found what it is going to show; return what is left."""
    left = list(moves)

    async def expand(*args: Any) -> Neighbourhood:
        if left:
            await left.pop(0)()
        return await own(*args)

    monkeypatch.setattr(expansion, "expand", expand)
    return left


async def found(side: Side, **fields: Any) -> set[str | None]:
    answer = await side.retrieve({"query": "Why did we talk in each round?", "limit": 20} | fields, "t")
    assert answer.degraded == ()
    assert all(result.text for result in answer.results)
    return {result.id for result in answer.results}


async def restore_all(side: Side) -> None:
    for step in await side.graph.scan(Steps(tenant="t"), limit=9):
        await consolidation(side).undo(step.id, now=now() + timedelta(hours=2), grace=timedelta(days=1))


async def test_a_result_consolidated_before_it_is_shown_is_found_again(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns(_COUNT))
    wanted = {str(number) for number in range(_COUNT)}
    assert await found(side) == wanted
    left = run_between_search_and_expansion(monkeypatch, lambda: run(side))
    assert await found(side) == wanted
    assert not left
    assert await side.graph.scan(Steps(tenant="t"), limit=1), "it was consolidated"


async def test_a_result_restored_before_it_is_shown_is_found_again(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, turns(_COUNT))
    await run(side)
    run_between_search_and_expansion(monkeypatch, lambda: restore_all(side))
    assert await found(side) == {str(number) for number in range(_COUNT)}


async def test_a_result_missing_again_on_the_second_search_is_left_out(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns(_COUNT))
    await run(side)
    asked = 0

    async def nothing(*_: object) -> dict[str, Node]:
        nonlocal asked
        asked += 1
        return {}

    monkeypatch.setattr(expansion, "read_parts", nothing)
    assert await found(side) == set()
    assert asked == 2


async def test_a_result_deleted_before_it_is_shown_is_left_out(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, turns(_COUNT))
    (gone,) = await side.graph.items("t", "1", ["c"])

    async def expand(*args: Any) -> Neighbourhood:
        around = await own(*args)
        return replace(around, nodes={uid: node for uid, node in around.nodes.items() if uid != gone.uid})

    monkeypatch.setattr(expansion, "expand", expand)
    assert await found(side) == {str(number) for number in range(_COUNT)} - {"1"}
