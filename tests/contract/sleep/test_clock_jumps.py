"""A clock that leaps ahead and is put back, on every pair of stores: nothing that was told is lost by it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from contract.erasure.test_eviction import item_ids
from contract.sleep.test_consolidation import plain, said, sound, tell, turn
from contract.sleep.test_consolidation_job import consolidation, turns
from support.stores.pairs import START, Side, asked_for
from vicw_shared.ports import Steps
from vicw_sleep.consolidation.batches import ConsolidationRules

_NOW = datetime.now(START.tzinfo) + timedelta(days=60)
_YEARS = timedelta(days=3650)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def rules(now: datetime) -> ConsolidationRules:
    return ConsolidationRules(before=now - timedelta(hours=1), min_cohesion=0.0)


@pytest.mark.parametrize("leap", [_YEARS, -_YEARS])
async def test_consolidation_after_a_clock_jump_keeps_protected_events(side: Side, leap: timedelta) -> None:
    told = turns(12)
    told[4] |= {"protected": True}
    await tell(side, told)
    nodes, edges, payloads = await side.nodes(), await side.edges(), await side.payloads()
    done = await consolidation(side).run(rules(_NOW + leap), now=_NOW + leap)
    assert done.events == (11 if leap > timedelta(0) else 0), "a clock that is behind finds everything young"
    await sound(side)
    assert "4" in await item_ids(side), "what is protected is as it was"
    found = await side.retrieve({"query": "What did we talk about?", "limit": 20}, "t")
    assert {result.id for result in found.results} == {str(n) for n in range(12)}
    steps = await side.graph.scan(Steps(tenant="t"), limit=9)
    for step in steps:
        await consolidation(side).undo(step.id, now=_NOW, grace=timedelta(days=7))
    await sound(side)
    assert plain(await side.nodes()) == plain(nodes)
    assert said(await side.edges()) == said(edges)
    assert await side.payloads() == payloads


async def test_a_flow_is_consolidated_after_a_clock_that_was_ahead(side: Side) -> None:
    await tell(side, turns(10))
    assert (await consolidation(side).run(rules(_NOW + _YEARS), now=_NOW + _YEARS)).events == 10
    await tell(side, [turn(n, f"Then we spoke of ship {n}.") for n in range(10, 22)])
    done = await consolidation(side).run(rules(_NOW), now=_NOW)
    assert done.events == 12
    await sound(side)
    found = await side.retrieve({"query": "What did we talk about?", "limit": 30}, "t")
    assert {result.id for result in found.results} == {str(n) for n in range(22)}
    for step in await side.graph.scan(Steps(tenant="t"), limit=9):
        await consolidation(side).undo(step.id, now=_NOW, grace=timedelta(days=7))
    await sound(side)
    assert await item_ids(side) == [str(n) for n in range(22)]
