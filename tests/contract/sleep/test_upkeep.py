"""What is told of the sleep cycle and of the stores, over both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from contract.sleep.test_consolidation import tell, thread
from contract.sleep.test_consolidation_job import GRACE, LATER, consolidation, run, turns
from support.stores.pairs import Side, asked_for
from vicw_core.feedback import record_id
from vicw_ingest.audit.service import list_changes
from vicw_runtime.job_runs import recorded_run
from vicw_runtime.upkeep.drift import COMPARISON, record_drift
from vicw_runtime.upkeep.remote_undo import RemoteUndo, log_reason
from vicw_runtime.upkeep.service import check_state, sleep_state, step_to_undo
from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import Outcome
from vicw_shared.wire.changes import AuditQuery
from vicw_shared.wire.sleep import SleepQuery, SleepState
from vicw_standalone.settings import StandaloneSettings


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def state(side: Side, tenant: str, **query: object) -> SleepState:
    settings = StandaloneSettings.read()
    asked = SleepQuery.model_validate(query)
    return await sleep_state(side.graph, settings, tenant, asked, vectors=True, words=True)


async def test_a_tenant_pages_through_its_own_steps_and_undoes_these_alone(side: Side) -> None:
    await tell(side, turns(10))
    await run(side)
    first = await state(side, "t", limit=1)
    second = await state(side, "t", limit=1, after=first.next)
    (one,), (other,) = first.steps, second.steps
    assert (one.id != other.id, second.next, one.context, one.outcome) == (True, None, "c", "done")
    assert (await state(side, "u")).steps == ()
    assert (await state(side, "t", task="dream")).steps == ()
    log = side.graph.log
    with pytest.raises(MissingRecordError, match="no step"):
        await step_to_undo(log, "u", one.id, timedelta(days=36500))
    step = await step_to_undo(log, "t", one.id, timedelta(days=36500))
    await log_reason(side.graph, step, "for a test")
    assert (await state(side, "t", limit=1)).steps[0].reason == "for a test"
    await consolidation(side).undo(one.id, now=LATER, grace=GRACE, key="k1")
    assert (await log_reason(side.graph, step, "too late")).outcome is Outcome.UNDONE
    assert {step.id: step.outcome for step in (await state(side, "t")).steps} == {one.id: "undone", other.id: "done"}
    (record,) = (await list_changes(side.graph, "t", AuditQuery(), LATER - timedelta(days=9))).records
    assert (record.kind, record.count, record.key) == ("undo", 1, "k1")


async def test_records_of_changes_and_feedback_are_no_steps_to_undo_and_stay(side: Side) -> None:
    await tell(side, turns(2))
    await tell(side, [{**turns(1)[0], "text": "We talked about another ship."}])
    item = (await thread(side))[1]
    await side.feedback({"item": item.uid, "verdict": "useful", "query": "Which ship?"}, "t")
    (change,) = (await list_changes(side.graph, "t", AuditQuery(), LATER - timedelta(days=9))).records
    log, sent = side.graph.log, list[str]()

    async def send(step_id: str, key: str | None) -> None:
        sent.append(step_id)

    undo = RemoteUndo(side.graph, send, seconds=0)
    for step_id in (change.id, record_id(item.uid)):
        before = await log.step(step_id)
        assert before is not None
        with pytest.raises(MissingRecordError, match="cannot be undone"):
            await undo.undo(await step_to_undo(log, "t", step_id, timedelta(days=36500)), "k1")
        assert (await log.step(step_id), sent) == (before, [])


async def test_what_a_comparison_finds_is_added_up_over_its_slices_and_kept(side: Side) -> None:
    log = side.graph.log
    assert (await check_state(side.graph, None, "t")).model_dump(exclude={"passages_waiting"}) == {
        "compared": None,
        "drift": None,
        "rebuilding": None,
    }
    for first, counts in ((True, {"missing": 2, "stale": 0}), (False, {"missing": 1, "stale": 1, "orphaned": 4})):
        async with recorded_run(log, COMPARISON, first=first) as slice_:
            await record_drift(log, counts, {"t": counts, "u": {"stale": 1}})
            slice_.more = first
    for found in ({"missing": 0}, {}):
        async with recorded_run(log, COMPARISON, first=True):
            await record_drift(log, found, {"t": found})
    told = await check_state(side.graph, LATER, "t")
    assert told.drift is not None
    assert (told.drift.missing, told.drift.stale, told.drift.orphaned) == (3, 1, 4)
    assert told.compared is not None
    assert (told.compared.running, told.compared.error, told.rebuilding) == (False, None, LATER)
    assert told.compared.began > told.drift.began
    assert [job.job for job in (await state(side, "t")).jobs if job.job.startswith("drift")] == [], "it is no job"
    async with recorded_run(log, COMPARISON, first=True):
        await record_drift(log, {"orphaned": 1}, {"u": {"orphaned": 1}})
    latest = [(await check_state(side.graph, None, tenant)).drift for tenant in (None, "t", "u", "v")]
    assert [one and (one.missing, one.stale, one.orphaned) for one in latest] == [
        (0, 0, 1),
        (3, 1, 4),
        (0, 0, 1),
        None,
    ], "each tenant has its own numbers, and what it had before a difference of another's"


async def test_what_waits_is_counted_for_the_tenant_whose_it_is(side: Side) -> None:
    await side.ingest({"context": "c", "items": [{"text": "A ship waits."}, {"text": "So does another."}]}, "t", None)
    await side.ingest({"context": "c", "items": [{"text": "The lighthouse is dark."}]}, "u", None)
    waiting = [(await check_state(side.graph, None, tenant)).passages_waiting for tenant in ("t", "u", "v", None)]
    assert waiting == [2, 1, 0, 3]
