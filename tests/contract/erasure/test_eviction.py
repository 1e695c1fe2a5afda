"""Forgetting for want of room on every pair of stores: what goes first, what never goes, and how it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contract.erasure.test_erasure import TAG, everything, tag_spread
from contract.sleep.test_consolidation import REGISTRY, sound, tell, thread, turn
from contract.sleep.test_consolidation_job import consolidation, turns
from contract.sleep.test_consolidation_job import run as consolidate
from support.stores.model_claims import Claim, add_claim
from support.stores.pairs import START, Side, asked_for
from vicw_core.consolidation.consolidate import MAKER
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.transaction import ErasureTransaction
from vicw_ingest.eviction import service as module
from vicw_ingest.eviction.policy import EvictionPolicy, lightest_items
from vicw_ingest.eviction.service import EVICT, Eviction, EvictionReport
from vicw_shared.errors import UnavailableError
from vicw_shared.model import Node
from vicw_shared.ports import Steps
from vicw_shared.uids import context_uid

_NOW = datetime.now(START.tzinfo) + timedelta(days=60)
_POLICY = EvictionPolicy(items=3)
IN_LYON, IN_PORTO = Claim("I live in Lyon.", "Lyon"), Claim("I live in Porto now.", "Porto", changed=True)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def eviction_of(side: Side, batch: int = 25) -> Eviction:
    return Eviction(side.graph, Eraser(side.graph, side.indexer.indexes, REGISTRY), side.indexer, batch=batch)


async def run_eviction(
    side: Side, now: datetime = _NOW, policy: EvictionPolicy = _POLICY, batch: int = 25, **how: Any
) -> EvictionReport:
    done = await eviction_of(side, batch).run(policy, now=now, **how)
    await side.indexer.drain()
    return done


async def claim(side: Side, **claims: Claim) -> None:
    """Add claims of the items called ``i`` and a number; the later one of an attribute supersedes the earlier."""
    for event in await thread(side):
        if found := claims.get(f"i{event.source_id}"):
            await add_claim(side.graph, "t", "c", event.uid, found)


def recording_eviction(side: Side) -> tuple[Eviction, list[str | None]]:
    """Return what forgets, and the ids of what it tells of."""
    heard: list[str | None] = []

    def tell(item: Node, weight: float) -> None:
        heard.append(item.source_id)

    return replace(eviction_of(side), on_evicted=tell), heard


async def item_ids(side: Side) -> list[str | None]:
    return [event.source_id for event in await thread(side)]


def turns_of_importance(*weights: float | None) -> list[dict[str, Any]]:
    return [turn(n, f"Ana told Ben of ship {n}.", importance=weight) for n, weight in enumerate(weights)]


async def test_no_item_of_a_tenant_under_its_limit_is_evicted(side: Side) -> None:
    await tell(side, turns_of_importance(None, None, None))
    assert await run_eviction(side) == EvictionReport()
    assert len(await thread(side)) == 3
    assert await side.graph.scan(Steps(), limit=9) == []


async def test_the_least_important_items_are_evicted_and_their_number_logged(side: Side) -> None:
    await tell(side, turns_of_importance(0.9, 0.1, None, 0.2, 0.8))
    before = await everything(side)
    dry, foretold = recording_eviction(side)
    assert await dry.run(_POLICY, now=_NOW, dry=True) == EvictionReport(erased=2)
    assert await everything(side) == before
    real, told = recording_eviction(side)
    assert await real.run(_POLICY, now=_NOW) == EvictionReport(erased=2)
    await side.indexer.drain()
    assert told == foretold == ["1", "3"]
    assert await item_ids(side) == ["0", "2", "4"]
    await sound(side)
    left = await everything(side)
    assert "ship 1" not in left
    assert "ship 3" not in left
    (step,) = await side.graph.scan(Steps(task=EVICT), limit=9)
    assert (step.context, step.subject, step.details) == ("c", context_uid("t", "c"), {"items": 2})
    assert await side.graph.erasures.erasures() == []
    assert await run_eviction(side, _NOW + timedelta(days=8)) == EvictionReport()


async def test_eviction_keeps_protected_and_recent_items(side: Side) -> None:
    await tell(side, [one | {"protected": True} for one in turns_of_importance(0.1, 0.1, 0.1, 0.1)])
    await side.ingest({"context": "c", "items": turns_of_importance(0.1, 0.1)}, "u", None)
    await side.indexer.drain()
    assert await run_eviction(side) == EvictionReport()
    await tell(side, [turn(9, "Ana told Ben of a boat.")])
    assert await run_eviction(side, datetime.now(START.tzinfo)) == EvictionReport(), "it was learnt of late"
    assert await run_eviction(side) == EvictionReport(erased=1)
    assert await item_ids(side) == ["0", "1", "2", "3"]


async def test_eviction_spares_used_items_for_a_grace_period(side: Side) -> None:
    await tell(side, turns_of_importance(None, None, None, None, None))
    uids = [event.uid for event in await thread(side)]
    await side.graph.uses.add_uses("t", dict.fromkeys(uids[:3], 2), _NOW - timedelta(days=40))
    await side.graph.uses.add_uses("t", {uids[3]: 1}, _NOW - timedelta(days=1))
    assert await run_eviction(side) == EvictionReport(erased=2)
    assert await item_ids(side) == ["1", "2", "3"], "one was shown of late; of those that weigh alike the first goes"


@pytest.mark.parametrize("way", ["protected", "changed", "retracted", "shown"])
async def test_an_item_changed_after_its_selection_is_not_evicted(
    side: Side, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    await tell(side, turns_of_importance(0.1, None, None, None))
    uid = (await thread(side))[0].uid

    async def meanwhile(*asked: Any) -> Any:
        chosen = await lightest_items(*asked)
        if way == "shown":
            await side.graph.uses.add_uses("t", {uid: 1}, _NOW)
        elif way == "retracted":
            await side.retract({"context": "c", "ids": ["0"]}, "t")
        else:
            await tell(side, [turn(0, "Ana told Ben of another ship.", protected=way == "protected")])
        return chosen

    monkeypatch.setattr(module, "lightest_items", meanwhile)
    assert await run_eviction(side) == EvictionReport()
    assert len(await thread(side)) == (3 if way == "retracted" else 4)
    assert await side.graph.scan(Steps(), limit=9) == []


async def test_a_superseding_item_is_not_evicted_before_the_superseded_one(side: Side) -> None:
    now = [turn(0, "I live in Lyon."), turn(2, "I live in Porto now.", importance=0.1)]
    await tell(side, [*now, *[turn(n, f"We spoke of ship {n}.") for n in (4, 6)]])
    await claim(side, i0=IN_LYON, i2=IN_PORTO)
    assert any(edge.type == "SUPERSEDES" for edge in (await side.edges()).values())
    assert await run_eviction(side) == EvictionReport(erased=1)
    assert await item_ids(side) == ["2", "4", "6"]
    assert await run_eviction(side, policy=replace(_POLICY, items=2)) == EvictionReport(erased=1)
    assert await item_ids(side) == ["4", "6"], "there is nothing left that it corrects"


async def test_eviction_skips_superseding_items_to_find_evictable_ones(side: Side) -> None:
    told = [turn(0, "I live in Lyon.", importance=0.9), turn(2, "I live in Porto now.", importance=0.1)]
    others = [turn(4, "I work at Acme.", importance=0.9), turn(6, "I work at Zeta now.", importance=0.1)]
    await tell(side, [*told, *others, turn(8, "We spoke of a ship.", importance=0.5)])
    await claim(side, i0=IN_LYON, i2=IN_PORTO)
    await claim(
        side, i4=Claim("I work at Acme.", "Acme", "job"), i6=Claim("I work at Zeta now.", "Zeta", "job", changed=True)
    )
    assert await run_eviction(side, policy=replace(_POLICY, items=4)) == EvictionReport(erased=1)
    assert await item_ids(side) == ["0", "2", "4", "6"]


async def test_eviction_removes_tags_that_a_dream_spread(side: Side) -> None:
    await tag_spread(side, importance=0.1)
    assert TAG in await everything(side)
    assert await run_eviction(side) == EvictionReport(erased=1)
    assert "nachtfalter" not in await everything(side)
    await sound(side)


async def test_a_macro_event_is_evicted_with_all_its_sources(side: Side) -> None:
    await tell(side, turns(12))
    assert (await consolidate(side)).macros == 3
    policy = replace(_POLICY, items=2)
    assert await run_eviction(side, policy=policy, dry=True) == EvictionReport(erased=4)
    assert await run_eviction(side, policy=policy) == EvictionReport(erased=4)
    await sound(side)
    left = await side.retrieve({"query": "What did we talk about?", "limit": 20}, "t")
    assert {result.id for result in left.results} == {str(n) for n in range(4, 12)}


async def test_an_interrupted_eviction_is_completed_by_the_next_run(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns_of_importance(*[0.1] * 5, None, None, None))
    erase, left = ErasureTransaction.erase, [1]

    async def dies(erasing: ErasureTransaction, uids: Sequence[str]) -> list[Node]:
        if not left:
            raise UnavailableError("graph", "it is away")
        left.pop()
        return await erase(erasing, uids)

    with monkeypatch.context() as broken:
        broken.setattr(ErasureTransaction, "erase", dies)
        with pytest.raises(UnavailableError):
            await run_eviction(side, batch=2)
    assert await item_ids(side) == ["2", "3", "4", "5", "6", "7"]
    assert await run_eviction(side, batch=2) == EvictionReport(erased=3)
    assert await item_ids(side) == ["5", "6", "7"]
    await sound(side)


async def test_concurrent_evictions_erase_no_more_than_one_run(side: Side) -> None:
    await tell(side, turns_of_importance(*[None] * 9))
    await asyncio.gather(run_eviction(side), run_eviction(side), run_eviction(side))
    assert await item_ids(side) == ["6", "7", "8"]
    await sound(side)


async def test_consolidated_events_keep_their_usage_counts(side: Side) -> None:
    await tell(side, turns(12))
    uids = [event.uid for event in await thread(side)]
    await side.graph.uses.add_uses("t", {uids[1]: 50}, _NOW - timedelta(days=5))
    assert (await consolidate(side)).macros == 3
    assert await run_eviction(side, policy=replace(_POLICY, items=0)) == EvictionReport(erased=8), (
        "one of three was shown of late"
    )
    (step,) = await side.graph.scan(Steps(task=MAKER), limit=9)
    await consolidation(side).undo(step.id, now=_NOW, grace=timedelta(days=999))
    assert (await side.graph.uses.uses("t", [uids[1]]))[uids[1]].times == 50


async def test_a_limited_eviction_reports_that_more_is_left(side: Side) -> None:
    await tell(side, turns_of_importance(*[None] * 9))
    assert await run_eviction(side, batch=2, limit=4) == EvictionReport(erased=4, more=True)
    assert await run_eviction(side, batch=2, limit=4) == EvictionReport(erased=2)
    assert len(await thread(side)) == 3
