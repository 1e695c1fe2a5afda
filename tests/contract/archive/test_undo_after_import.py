"""A step of the sleep cycle is taken back in the store that an export was imported into as in the one it is from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from contract.sleep import test_dreams as dreams
from contract.sleep import test_entity_resolution as resolving
from contract.sleep.test_consolidation import sound, tell, turn
from contract.sleep.test_consolidation_job import GRACE, LATER, consolidation, turns
from contract.sleep.test_consolidation_job import run as consolidate
from support.stores.exports import assert_same_exports, exported, imported, registries
from support.stores.pairs import Side, asked_for, embedded
from vicw_core.graph.edge_factory import DREAM, RESOLVE
from vicw_shared.ports import MaintenanceStep, Outcome, Steps
from vicw_sleep.consolidation.batches import ConsolidationRules
from vicw_sleep.dream.service import Dreamer
from vicw_sleep.resolve.service import EntityResolver


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def fill_with_maintained_data(side: Side) -> None:
    """Two levels of Macro-Events, dreams, merges; what is new, changed, retracted, expired and of another tenant."""
    soon = (LATER - timedelta(hours=1)).isoformat()
    await tell(side, turns(12))
    await tell(side, [turn(40, "Kept for an hour.", flow_id="g", expires_at=soon), turn(41, "Of g.", flow_id="g")])
    assert (await consolidate(side)).macros == 3
    await sound(side)
    assert (await consolidate(side, ConsolidationRules(before=LATER + timedelta(days=2), min_cohesion=0.0))).macros == 1
    await side.indexer.drain()
    await tell(side, [turn(50, "Ben has left."), turn(51, "It rains.")])
    await tell(side, [turn(50, "Ben has not left.")])
    await side.retract({"context": "c", "ids": ["51"]}, "t")
    await dreams.tell(side, *dreams.items(), context="dreams")
    await resolving.tell(side, *resolving.two_similar_people(), context="names")
    await dreams.tell(side, *dreams.items(), tenant="u")
    assert (await dreams.run(side)).dreamt > 0
    assert (await resolving.run(side)).merged == 1
    await sound(side)


async def undoable_steps(side: Side) -> list[MaintenanceStep]:
    """Return what can be undone, the latest first: a second consolidation before what it was made of."""
    steps = [step for step in await side.graph.scan(Steps(), limit=1000) if step.outcome is Outcome.DONE]
    macros = [node for node in (await side.nodes()).values() if node.is_macro]
    level = {macro.uid: len(macro.items) for macro in macros}
    return sorted(steps, key=lambda step: (-level.get(step.subject, 0), step.id))


async def undo_step(side: Side, step: MaintenanceStep) -> Any:
    if step.task == DREAM:
        return await Dreamer(side.graph, side.indexer.indexes, registries().edges, side.indexer, None).undo(
            step.id, now=LATER, grace=GRACE
        )
    if step.task == RESOLVE:
        return await EntityResolver(side.graph, registries().edges).undo(step.id, now=LATER, grace=GRACE)
    return [item.uid for item in (await consolidation(side).undo(step.id, now=LATER, grace=GRACE)).items]


async def test_maintenance_steps_are_undone_alike_in_source_and_importing_store(
    side: Side, store: Path, tmp_path: Path
) -> None:
    async with embedded(store) as source, embedded(store) as third:
        await fill_with_maintained_data(source)
        await exported(source, tmp_path / "0")
        await imported(tmp_path / "0", side)
        await exported(side, tmp_path / "1")
        assert_same_exports(tmp_path / "0", tmp_path / "1")
        await imported(tmp_path / "1", third)
        steps = await undoable_steps(source)
        assert {step.task for step in steps} >= {DREAM, RESOLVE}
        assert max(len(node.items) for node in (await source.nodes()).values() if node.is_macro) > 5
        assert steps == await undoable_steps(side) == await undoable_steps(third)
        for step in steps:
            first, *others = [await undo_step(one, step) for one in (source, side, third)]
            assert others == [first, first], step
        for one in (source, side, third):
            await sound(one)
        for number, one in enumerate((source, side, third)):
            await exported(one, tmp_path / f"after{number}")
        assert_same_exports(tmp_path / "after0", tmp_path / "after1", error=0.01)
        assert_same_exports(tmp_path / "after0", tmp_path / "after2", error=0.01)
