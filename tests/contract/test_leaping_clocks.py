"""A clock that leaps ahead and is put back, on every pair of stores: nothing that was told is lost by it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from contract.sides import START, Side, asked_for
from contract.test_capacity import capacity, forget, ids, to_go, weighing
from contract.test_consolidating import consolidation, turns
from contract.test_folding import plain, said, sound, tell, thread, turn
from vicw_ingest.capacity.capacity import FORGET, Done, keep
from vicw_ingest.capacity.policy import Policy
from vicw_ingest.capacity.turn import turn as take_turn
from vicw_shared.ports import Outcome
from vicw_shared.settings import ForgetSettings
from vicw_sleep.consolidation.batching import Rules

_NOW = datetime.now(START.tzinfo) + timedelta(days=60)
_DAY = timedelta(days=1)
_YEARS = timedelta(days=3650)
_POLICY = Policy(items=3, patience=timedelta(hours=12))


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def rules(now: datetime) -> Rules:
    return Rules(before=now - timedelta(hours=1), cohesion=0.0)


async def test_a_leap_of_the_clock_is_no_grace(side: Side) -> None:
    await tell(side, weighing(0.9, 0.1, None, 0.2, 0.8))
    assert await forget(side, _NOW, _POLICY) == Done(marked=2)
    for _ in range(2):
        assert await forget(side, _NOW + 8 * _DAY, _POLICY) == Done(), "one run alone has found it over"
    assert await forget(side, _NOW + _DAY, _POLICY) == Done(), "the clock is right again"
    assert len(await thread(side)) == 5
    assert await forget(side, _NOW + 7 * _DAY, _POLICY) == Done(), "what the clock said when it was ahead is void"
    assert await forget(side, _NOW + 8 * _DAY, _POLICY) == Done(erased=2)
    assert await ids(side) == ["0", "2", "4"]
    await sound(side)


async def test_what_is_kept_in_between_stays(side: Side) -> None:
    await tell(side, weighing(0.9, 0.1, None, 0.2, 0.8))
    await forget(side, _NOW, _POLICY)
    await forget(side, _NOW + 7 * _DAY, _POLICY)
    steps = await side.graph.steps(None, task=FORGET, limit=9)
    await keep(side.graph, steps[0].id, now=_NOW + 7 * _DAY)
    kept = (await side.graph.nodes("t", [steps[0].subject]))[steps[0].subject]
    assert (await forget(side, _NOW + 8 * _DAY, _POLICY)).erased == 1
    assert kept.source_id in await ids(side)


async def test_a_night_erases_what_the_night_before_has_found_due(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, weighing(*[None] * 5))
    left = []
    for days in (0, 7, 8):
        monkeypatch.setattr("vicw_ingest.capacity.turn.now", lambda days=days: _NOW + days * _DAY)
        assert not await take_turn(capacity(side), ForgetSettings(items=3))
        left.append(len(await thread(side)))
    assert left == [5, 5, 3]


async def test_what_a_clock_that_was_ahead_has_chosen_is_chosen_anew(side: Side) -> None:
    await tell(side, weighing(None, None, None, None, None, 0.1))
    assert await forget(side, _NOW + _YEARS, _POLICY) == Done(marked=3)
    ahead = {step.subject: step for step in await side.graph.steps(None, task=FORGET, limit=9)}
    nodes = {node.source_id: uid for uid, node in (await side.graph.nodes("t", list(ahead))).items()}
    await keep(side.graph, ahead[nodes["5"]].id, now=_NOW + _YEARS)
    await side.graph.note_uses("t", {nodes["0"]: 9}, _NOW)
    assert await forget(side, _NOW, _POLICY, dry=True) == Done(marked=3)
    assert await forget(side, _NOW, _POLICY) == Done(marked=3)
    assert await to_go(side) == {"1", "2", "3"}, "what was shown since weighs more; what a person kept stays"
    steps = await side.graph.steps(None, task=FORGET, limit=9)
    assert {step.at for step in steps if step.outcome is Outcome.DONE} == {_NOW}


@pytest.mark.parametrize("leap", [_YEARS, -_YEARS])
async def test_consolidation_folds_nothing_that_is_protected_and_loses_nothing(side: Side, leap: timedelta) -> None:
    told = turns(12)
    told[4] |= {"protected": True}
    await tell(side, told)
    nodes, edges, payloads = await side.nodes(), await side.edges(), await side.payloads()
    done = await consolidation(side).run(rules(_NOW + leap), now=_NOW + leap)
    assert done.events == (11 if leap > timedelta(0) else 0), "a clock that is behind finds everything young"
    await sound(side)
    assert "4" in await ids(side), "what is protected is as it was"
    found = await side.retrieve({"query": "What did we talk about?", "limit": 20}, "t")
    assert {result.id for result in found.results} == {str(n) for n in range(12)}
    steps = await side.graph.steps("t", limit=9)
    for step in steps:
        await consolidation(side).undo(step.id, now=_NOW, grace=timedelta(days=7))
    await sound(side)
    assert plain(await side.nodes()) == plain(nodes)
    assert said(await side.edges()) == said(edges)
    assert await side.payloads() == payloads


async def test_a_thread_goes_on_after_a_night_of_a_clock_that_was_ahead(side: Side) -> None:
    await tell(side, turns(10))
    assert (await consolidation(side).run(rules(_NOW + _YEARS), now=_NOW + _YEARS)).events == 10
    await tell(side, [turn(n, f"Then we spoke of ship {n}.") for n in range(10, 22)])
    done = await consolidation(side).run(rules(_NOW), now=_NOW)
    assert done.events == 12
    await sound(side)
    found = await side.retrieve({"query": "What did we talk about?", "limit": 30}, "t")
    assert {result.id for result in found.results} == {str(n) for n in range(22)}
    for step in await side.graph.steps("t", limit=9):
        await consolidation(side).undo(step.id, now=_NOW, grace=timedelta(days=7))
    await sound(side)
    assert await ids(side) == [str(n) for n in range(22)]
