"""Forgetting for want of room on every pair of stores: what goes first, what never goes, and how it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contract.sides import START, Side, asked_for
from contract.test_consolidating import consolidation, turns
from contract.test_consolidating import run as consolidate
from contract.test_erasing import TAG, everything, tag_spread
from contract.test_folding import REGISTRY, sound, tell, thread, turn
from vicw_ingest.capacity import capacity as module
from vicw_ingest.capacity.capacity import FORGET, Capacity, Done, Fate, keep
from vicw_ingest.capacity.policy import Policy
from vicw_ingest.erasing.eraser import Eraser
from vicw_ingest.erasing.erasing import Erasing
from vicw_shared.errors import NotFoundError, UnavailableError
from vicw_shared.model import Node
from vicw_shared.ports import Outcome

_NOW = datetime.now(START.tzinfo) + timedelta(days=60)
_AFTER = _NOW + timedelta(days=8)
_POLICY = Policy(items=3)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def capacity(side: Side) -> Capacity:
    return Capacity(side.graph, Eraser(side.graph, side.indexer.indexes, REGISTRY), side.indexer)


async def forget(side: Side, now: datetime = _NOW, policy: Policy = _POLICY, **how: Any) -> Done:
    done = await capacity(side).run(policy, now=now, **how)
    await side.indexer.drain()
    return done


def hearing(side: Side) -> tuple[Capacity, list[tuple[Fate, str | None]]]:
    """Return what forgets, and what it tells."""
    heard: list[tuple[Fate, str | None]] = []

    def tell(fate: Fate, item: Node, weight: float) -> None:
        heard.append((fate, item.source_id))

    return replace(capacity(side), told=tell), heard


async def ids(side: Side) -> list[str | None]:
    return [event.source_id for event in await thread(side)]


async def to_go(side: Side) -> set[str | None]:
    steps = [step for step in await side.graph.steps(None, task=FORGET, limit=99) if step.outcome is Outcome.DONE]
    nodes = await side.graph.nodes("t", [step.subject for step in steps])
    return {node.source_id for node in nodes.values()}


def weighing(*weights: float | None) -> list[dict[str, Any]]:
    return [turn(n, f"Ana told Ben of ship {n}.", importance=weight) for n, weight in enumerate(weights)]


async def test_who_has_room_loses_nothing(side: Side) -> None:
    await tell(side, weighing(None, None, None))
    assert await forget(side) == Done()
    assert await forget(side, _AFTER) == Done()
    assert len(await thread(side)) == 3


async def test_what_weighs_least_goes_after_a_grace_in_which_all_is_as_before(side: Side) -> None:
    await tell(side, weighing(0.9, 0.1, None, 0.2, 0.8))
    before = await everything(side)
    assert await forget(side, dry=True) == Done(marked=2)
    assert await everything(side) == before
    assert await forget(side) == Done(marked=2)
    assert await to_go(side) == {"1", "3"}
    assert await forget(side, _NOW + timedelta(days=6)) == Done(), "they are on their way, no more is chosen"
    found = await side.retrieve({"query": "What did Ana tell of ship 3?", "limit": 5}, "t")
    assert "3" in [result.id for result in found.results]
    assert len(await thread(side)) == 5
    assert await forget(side, _AFTER) == Done(erased=2)
    assert await ids(side) == ["0", "2", "4"]
    await sound(side)
    told = await everything(side)
    assert "ship 1" not in told
    assert "ship 3" not in told
    assert await side.graph.steps(None, limit=9) == []
    assert await side.graph.erasures() == []


async def test_a_dry_run_tells_what_a_run_does(side: Side) -> None:
    now = [turn(0, "I live in Lyon.", importance=0.1), turn(2, "I live in Porto now.", importance=0.2)]
    await tell(side, [*now, *[turn(n, f"We spoke of ship {n}.") for n in range(4, 20, 2)]])
    policy = replace(_POLICY, items=4)
    assert await forget(side, policy=policy) == Done(marked=6)
    shown, changed = sorted(one or "" for one in await to_go(side) - {"0"})[:2]
    uids = {event.source_id: event.uid for event in await thread(side)}
    await side.graph.note_uses("t", {uids[shown]: 1}, _NOW + timedelta(days=1))
    await tell(side, [turn(int(changed), "Ana told Ben of another ship.")])
    before = await everything(side), await side.graph.steps(None, limit=99)
    policy = replace(_POLICY, rest=timedelta(0))
    dry, told = hearing(side)
    foretold = await dry.run(policy, now=_AFTER, dry=True)
    assert foretold == Done(erased=4, kept=2, marked=3)
    assert (await everything(side), await side.graph.steps(None, limit=99)) == before, "nothing is changed"
    real, done = hearing(side)
    assert await real.run(policy, now=_AFTER) == foretold
    assert set(done) == set(told)
    assert (Fate.ERASED, "0") in told
    assert await ids(side) == [source for source in uids if (Fate.ERASED, source) not in told]


async def test_what_is_protected_young_or_of_others_stays(side: Side) -> None:
    await tell(side, [one | {"protected": True} for one in weighing(0.1, 0.1, 0.1, 0.1)])
    await side.ingest({"context": "c", "items": weighing(0.1, 0.1)}, "u", None)
    await side.indexer.drain()
    assert await forget(side) == Done()
    await tell(side, [turn(9, "Ana told Ben of a boat.")])
    assert await forget(side, datetime.now(START.tzinfo)) == Done(), "it was learnt of late"
    assert await forget(side) == Done(marked=1)
    assert await to_go(side) == {"9"}


async def test_what_is_shown_weighs_more_and_is_kept_at_the_last_moment(side: Side) -> None:
    await tell(side, weighing(None, None, None, None, None))
    uids = [event.uid for event in await thread(side)]
    await side.graph.note_uses("t", dict.fromkeys(uids[:3], 2), _NOW - timedelta(days=40))
    assert await forget(side) == Done(marked=2)
    assert await to_go(side) == {"3", "4"}
    await side.graph.note_uses("t", {uids[3]: 1}, _NOW + timedelta(days=1))
    done = await forget(side, _AFTER, replace(_POLICY, rest=timedelta(0)))
    assert (done.erased, done.kept) == (1, 1)
    assert await ids(side) == ["0", "1", "2", "3"]
    reasons = [s.reason for s in await side.graph.steps(None, limit=9) if s.outcome is Outcome.REFUSED]
    assert reasons == ["an answer has shown it since"]


async def test_a_person_may_keep_it_and_it_is_not_chosen_again(side: Side) -> None:
    await tell(side, weighing(0.1, None, None, None))
    assert await forget(side) == Done(marked=1)
    (step,) = await side.graph.steps(None, task=FORGET, limit=9)
    await keep(side.graph, step.id, now=_NOW)
    assert await forget(side, _AFTER) == Done(marked=1), "another goes in its place"
    assert await to_go(side) == {"1"}
    assert len(await thread(side)) == 4
    with pytest.raises(NotFoundError, match="undone already"):
        await keep(side.graph, step.id, now=_NOW)


@pytest.mark.parametrize("way", ["room", "change", "retraction"])
async def test_what_need_not_go_any_more_stays(side: Side, way: str) -> None:
    await tell(side, weighing(0.1, None, None, None))
    assert await forget(side) == Done(marked=1)
    policy = _POLICY
    if way == "room":
        policy = replace(_POLICY, items=4)
    elif way == "change":
        await tell(side, [turn(0, "Ana told Ben of another ship.")])
    else:
        await side.retract({"context": "c", "ids": ["2"]}, "t")
    foretold = await forget(side, _AFTER, policy, dry=True)
    assert (foretold.erased, foretold.kept) == (0, 1)
    assert await forget(side, _AFTER, policy) == foretold
    assert "0" in await ids(side)


async def test_a_correction_stays_as_long_as_what_it_corrects(side: Side) -> None:
    now = [turn(0, "I live in Lyon."), turn(2, "I live in Porto now.", importance=0.1)]
    await tell(side, [*now, *[turn(n, f"We spoke of ship {n}.") for n in (4, 6)]])
    assert any(edge.type == "SUPERSEDES" for edge in (await side.edges()).values())
    assert await forget(side) == Done(marked=1)
    assert await to_go(side) == {"0"}
    assert await forget(side, _AFTER, replace(_POLICY, items=2)) == Done(erased=1, marked=1)
    assert await to_go(side) == {"4"}, "what it corrects was there yet when that was chosen"
    assert await forget(side, _AFTER, replace(_POLICY, items=1)) == Done(marked=1)
    assert await to_go(side) == {"2", "4"}, "there is nothing left that it corrects"


async def test_what_may_go_is_found_behind_what_may_not(side: Side) -> None:
    told = [turn(0, "I live in Lyon.", importance=0.9), turn(2, "I live in Porto now.", importance=0.1)]
    others = [turn(4, "I work at Acme.", importance=0.9), turn(6, "I work at Zeta now.", importance=0.1)]
    await tell(side, [*told, *others, turn(8, "We spoke of a ship.", importance=0.5)])
    assert await forget(side, policy=replace(_POLICY, items=4)) == Done(marked=1)
    assert await to_go(side) == {"8"}


async def test_a_tag_that_a_dream_has_spread_goes_too(side: Side) -> None:
    await tag_spread(side, importance=0.1)
    assert await forget(side) == Done(marked=1)
    assert TAG in await everything(side)
    assert await forget(side, _AFTER) == Done(erased=1)
    assert "nachtfalter" not in await everything(side)
    await sound(side)


async def test_a_macro_event_goes_with_all_that_it_stands_for(side: Side) -> None:
    await tell(side, turns(12))
    assert (await consolidate(side)).macros == 3
    policy = replace(_POLICY, items=2)
    assert await forget(side, policy=policy) == Done(marked=1)
    assert await forget(side, _AFTER, policy) == Done(erased=4)
    await sound(side)
    left = await side.retrieve({"query": "What did we talk about?", "limit": 20}, "t")
    assert {result.id for result in left.results} == {str(n) for n in range(4, 12)}


async def test_a_death_in_the_middle_is_mended_by_the_next_run(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, weighing(*[0.1] * 5, None, None, None))
    assert await forget(side) == Done(marked=5)
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    erase, left = Erasing.erase, [1]

    async def dies(erasing: Erasing, uids: Sequence[str]) -> list[Node]:
        if not left:
            raise UnavailableError("graph", "it is away")
        left.pop()
        return await erase(erasing, uids)

    with monkeypatch.context() as broken:
        broken.setattr(Erasing, "erase", dies)
        with pytest.raises(UnavailableError):
            await forget(side, _AFTER)
    assert len(await thread(side)) == 6
    (still, *_) = [one for one in await thread(side) if one.source_id in await to_go(side)]
    await tell(side, [turn(int(still.source_id or 0), "Ana told Ben of an ark.", protected=True)])
    done = await forget(side, _AFTER)
    assert (done.erased, done.kept) == (2, 1), "what was changed meanwhile is judged as it is now"
    assert len(await thread(side)) == 4
    await sound(side)


async def test_two_at_once_erase_no_more_than_one(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, weighing(*[None] * 9))
    assert await forget(side) == Done(marked=6)
    await side.retract({"context": "c", "ids": ["6", "7", "8"]}, "t")  # now three have to go, and six are on their way
    await asyncio.gather(forget(side, _AFTER), forget(side, _AFTER), forget(side, _AFTER))
    assert len(await thread(side)) == 3
    await sound(side)


async def test_what_is_folded_keeps_that_it_was_shown(side: Side) -> None:
    await tell(side, turns(12))
    uids = [event.uid for event in await thread(side)]
    await side.graph.note_uses("t", {uids[1]: 50}, _NOW - timedelta(days=5))
    assert (await consolidate(side)).macros == 3
    policy = replace(_POLICY, items=0)
    assert await forget(side, policy=policy) == Done(marked=2), "one of three was shown within the month"
    chosen = {step.subject for step in await side.graph.steps(None, task=FORGET, limit=9)}
    (step,) = [step for step in await side.graph.steps(None, limit=9) if step.subject not in chosen]
    await consolidation(side).undo(step.id, now=_NOW, grace=timedelta(days=999))
    assert (await side.graph.uses("t", [uids[1]]))[uids[1]].times == 50


async def test_two_at_once_do_everything_once(side: Side) -> None:
    await tell(side, weighing(*[None] * 9))
    await asyncio.gather(forget(side), forget(side))
    assert len(await to_go(side)) == 6
    await asyncio.gather(forget(side, _AFTER), forget(side, _AFTER))
    await forget(side, _AFTER)
    assert len(await thread(side)) == 3
    await sound(side)


async def test_a_run_may_be_bounded_and_says_that_there_is_more(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    await tell(side, weighing(*[None] * 9))
    assert await forget(side, most=4) == Done(marked=4, more=True)
    assert await forget(side, most=4) == Done(marked=2)
    assert await forget(side, _AFTER, most=4) == Done(erased=4, more=True)
    assert await forget(side, _AFTER, most=4) == Done(erased=2)
    assert len(await thread(side)) == 3
