"""The right to erase on every pair of stores: what goes, what stays, that nothing is left, that a death is mended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from contract.sleep.test_consolidation import REGISTRY, sound, tell, thread, turn
from contract.sleep.test_consolidation_job import run, turns
from contract.sleep.test_dreams import dream, tags_of
from contract.sleep.test_dreams import items as alike
from contract.sleep.test_dreams import run as dream_of
from contract.sleep.test_dreams import tell as note_down
from support.stores.exports import exported
from support.stores.pairs import START, Side, asked_for
from vicw_core.archive.manifest import NAME
from vicw_core.archive.reader import ArchiveReader
from vicw_ingest.erasure.eraser import Eraser, ErasureReport
from vicw_ingest.erasure.fingerprints import FingerprintFinder, Fingerprints, new_key
from vicw_ingest.erasure.record import batch_record, fingerprints_of, sealed_note
from vicw_ingest.erasure.residue_scan import Residue, scan_store
from vicw_ingest.erasure.selection import ErasureSelection, choose_context, choose_items, choose_person, choose_tenant
from vicw_runtime.upkeep.drift import drift_task, is_drift, of_stored, record_drift
from vicw_shared.errors import MissingRecordError, StateConflictError
from vicw_shared.model import Label
from vicw_shared.ports import (
    Edges,
    ErasurePart,
    GraphTransaction,
    Lane,
    MaintenanceStep,
    Outcome,
    Receipt,
    Steps,
    look_up,
)
from vicw_shared.wire.ingest import IngestResponse
from vicw_sleep.consolidation.batches import ConsolidationRules

_SECRET = "Quirin Zeltner keeps the vermilion lockbox under the third stair of the Halde observatory."


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def eraser(side: Side) -> Eraser:
    return Eraser(side.graph, side.indexer.indexes, REGISTRY)


async def find_residue(side: Side, fingerprints: Fingerprints) -> list[str]:
    remains = Residue.of(fingerprints)
    await scan_store(side.graph, [side.vectors], remains)
    return remains.residual_places()


async def erase(side: Side, chosen: ErasureSelection) -> ErasureReport:
    """Erase, prove, and bring it to its end."""
    erasing = eraser(side)
    erasure = await erasing.begin(chosen)
    done = await erasing.run(erasure)
    fingerprints = await fingerprints_of(side.graph.erasures, erasure)
    assert fingerprints.marks, "something went"
    assert await find_residue(side, fingerprints) == []
    assert _SECRET not in str(await side.graph.erasures.erasures()), "the note holds no text"
    await side.graph.erasures.end_erasure(erasure)
    assert await side.graph.erasures.erasures() == []
    await sound(side)
    return done


async def ingest(side: Side, body: dict[str, Any], tenant: str, key: str | None) -> IngestResponse:
    """Ingest, and index: nothing else does it here, so that nobody need wait."""
    response = await side.ingest(body, tenant, key)
    await side.indexer.drain()
    return response


async def everything(side: Side) -> str:
    """Return all that is stored, as text; an engine may return the fields of a payload in any order."""
    stored = [await side.nodes(), await side.edges(), await side.payloads(), await side.graph.scan(Steps(), limit=1000)]
    return json.dumps(stored, sort_keys=True, ensure_ascii=False, default=str)


async def test_erasing_an_item_removes_all_its_versions_and_nothing_else(side: Side) -> None:
    await tell(side, [turn(0, "Ana told Ben of the amulet of Porto."), turn(2, "Ben moved to Lagos last Friday.")])
    nodes, edges, payloads = await side.nodes(), await side.edges(), await side.payloads()
    marked = {"tags": ["vermilion-archive"], "metadata": {"where": "the cellar of the Halde"}, "importance": 0.9}
    await tell(side, [turn(1, f"{_SECRET} Ana knows.", **marked)])
    await tell(side, [turn(1, f"{_SECRET} Ana and Quirin Zeltner know, and nobody else.", **marked)])
    await erase(side, await choose_items(side.graph, "t", ["1"], None))
    told = await everything(side)
    for word in ("Quirin", "Zeltner", "vermilion", "Halde", "lockbox", "cellar"):
        assert word not in told
    after = await side.nodes()
    assert nodes.keys() == after.keys(), "what the others said is as it was"
    assert {e for e in edges if edges[e].type not in {"NEXT", "HAPPENED_AFTER"}} <= (await side.edges()).keys()
    assert payloads.keys() == (await side.points()), "no point more, none less"
    assert [event.source_id for event in await thread(side)] == ["0", "2"]


async def test_an_export_says_whether_something_was_erased_while_it_was_written(side: Side, tmp_path: Path) -> None:
    await tell(side, [turn(0, "Ana told Ben."), turn(1, _SECRET), turn(2, "Ben left.")])
    assert not (await exported(side, tmp_path / "before")).erased_meanwhile
    assert "erased_meanwhile" not in (tmp_path / "before" / NAME).read_text("utf-8"), "earlier versions read it"
    chosen = [await choose_items(side.graph, "t", ["1"], None)]

    async def erase_first() -> None:
        if chosen:
            await erase(side, chosen.pop())

    during = await exported(side, tmp_path / "during", yield_to_foreground=erase_first)
    assert during.erased_meanwhile
    assert ArchiveReader(tmp_path / "during").manifest == during
    assert not (await exported(side, tmp_path / "after")).erased_meanwhile


async def test_an_erased_item_that_is_sent_again_is_new(side: Side) -> None:
    await tell(side, [turn(0, "Ana told Ben."), turn(1, _SECRET), turn(2, "Ben left.")])
    await tell(side, [turn(1, f"{_SECRET} Truly.")])
    await erase(side, await choose_items(side.graph, "t", ["1"], "c"))
    response = await ingest(side, {"context": "c", "items": [turn(1, _SECRET)]}, "t", None)
    assert [item.status.value for item in response.items] == ["created"]
    (node,) = await side.graph.items("t", "1", ["c"])
    assert (node.version, node.flow_step) == (1, 4), "the steps of others stay theirs"
    await sound(side)
    (steps,) = [n.metadata["vacated"] for n in (await side.nodes()).values() if n.label is Label.CONTEXT]
    assert list(steps.values()) == [[[2, 2]]]  # type: ignore[attr-defined]


async def test_flow_steps_restart_at_one_after_a_conversation_is_erased(side: Side) -> None:
    await tell(side, [turn(n, f"{_SECRET} Round {n}.") for n in range(3)])
    await tell(side, [turn(7, "Something else.", flow_id="g")])
    await erase(side, await choose_items(side.graph, "t", ["0", "1", "2"], None))
    await tell(side, [turn(9, "It begins anew.")])
    assert [event.flow_step for event in await thread(side)] == [1]
    await sound(side)


@pytest.mark.parametrize("levels", [1, 2])
async def test_sources_of_a_macro_event_come_back_except_erased_ones(side: Side, levels: int) -> None:
    told = turns(12)
    told[3]["text"] = "We talked about the vermilion lockbox of Halde in round 3."
    await tell(side, told)
    before = {node.source_id: node for node in await thread(side)}
    await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0))
    if levels == 2:
        await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(days=3), min_cohesion=0.0))
    macros = await thread(side)
    assert [macro.is_macro for macro in macros] == [True] * (3 if levels == 1 else 1)
    await erase(side, await choose_items(side.graph, "t", ["3"], None))
    told_of = await everything(side)
    assert "Halde" not in told_of
    assert "vermilion" not in told_of
    back = {node.source_id: node for node in await thread(side) if not node.is_macro}
    assert back.keys() >= {"0", "1", "2"}
    assert all(back[key].uid == before[key].uid for key in back)
    answer = await side.retrieve({"query": "the amulet of Porto in round 0", "limit": 20}, "t")
    assert "3" not in {result.id for result in answer.results}
    again = await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0))
    assert again.macros >= 1, "the others may be consolidated anew"
    await sound(side)


async def test_erasure_drops_receipts_of_erased_items_and_keeps_others(side: Side) -> None:
    body: dict[str, Any] = {"context": "c", "items": [turn(0, _SECRET)]}
    await ingest(side, body, "t", "one")
    await ingest(side, {"context": "c", "items": [turn(1, "Ben left.")]}, "t", "two")
    done = await erase(side, await choose_items(side.graph, "t", ["0"], None))
    assert done.receipts >= 1
    assert await side.graph.record.receipt("t", "key:one") is None
    assert await side.graph.record.receipt("t", "key:two") is not None
    again = await ingest(side, body, "t", "one")
    assert again.items[0].status.value == "created", "the same key is a new request"


async def test_erasure_removes_erased_text_from_the_maintenance_log(side: Side) -> None:
    told = turns(5)
    told[0]["text"] = _SECRET
    await tell(side, told)
    await run(
        side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0), dry=False
    )
    assert "Quirin" in str(await side.graph.scan(Steps(), limit=9))
    done = await erase(side, await choose_items(side.graph, "t", ["0"], None))
    assert done.steps >= 1
    assert "Quirin" not in str(await side.graph.scan(Steps(), limit=9))


TAG = "projekt nachtfalter geheim"


async def tag_spread(side: Side, said: str = "", **fields: Any) -> list[MaintenanceStep]:
    """Have a dream give a tag of one item to one like it, which ends with ``said``; return the steps."""
    tagged, like, *others = alike()
    like["text"] += said
    await note_down(side, {**tagged, "tags": [TAG], **fields}, like, *others)
    await dream_of(side)
    assert TAG in (await tags_of(side))["1"]
    return list(await side.graph.scan(Steps(), limit=100))


async def test_a_dreamt_tag_is_erased_with_the_item_it_came_from(side: Side) -> None:
    steps = await tag_spread(side)
    assert any(TAG in str(step.details) for step in steps)
    await erase(side, await choose_items(side.graph, "t", ["0"], None))
    assert "nachtfalter" not in await everything(side)
    others = await tags_of(side)
    assert others["2"] and others["3"], "what rests on their own words stays"
    await dream_of(side)
    assert "1" in await tags_of(side), "it is dreamt of anew"
    await sound(side)


async def test_a_dreamt_tag_named_in_the_items_own_text_survives_erasure(side: Side) -> None:
    await tag_spread(side, f" It is the {TAG}.")
    await erase(side, await choose_items(side.graph, "t", ["0"], None))
    assert TAG in (await tags_of(side))["1"]


async def test_a_dreamt_tag_that_another_item_carries_survives_erasure(side: Side) -> None:
    await tag_spread(side)
    await note_down(side, {"id": "9", "text": "Ben left.", "tags": [TAG]})
    await erase(side, await choose_items(side.graph, "t", ["0"], None))
    assert TAG in (await tags_of(side))["1"]


async def test_an_undone_dream_stays_undone_but_forgets_an_erased_tag(side: Side) -> None:
    steps = await tag_spread(side)
    subjects = {node.uid: node.source_id for node in (await side.nodes()).values()}
    (step,) = [step for step in steps if subjects[step.subject] == "1"]
    assert TAG in str(step.details), "it got the tag of what goes"
    now = datetime.now(START.tzinfo) + timedelta(hours=2)
    await dream(side).undo(step.id, now=now, grace=timedelta(days=7))
    await erase(side, await choose_items(side.graph, "t", ["0"], None))
    noted = await side.graph.log.step(step.id)
    assert noted is not None
    assert noted.outcome is Outcome.UNDONE
    assert TAG not in str(noted.details)
    await dream_of(side)
    assert "1" not in await tags_of(side), "a person has said that it is left alone"


async def test_a_copy_of_an_erased_item_keeps_the_text(side: Side) -> None:
    await ingest(side, {"context": "c", "items": [{"id": "a", "text": _SECRET}]}, "t", None)
    await ingest(side, {"context": "c", "items": [{"id": "b", "text": _SECRET}]}, "t", None)
    await erase(side, await choose_items(side.graph, "t", ["a"], None))
    answer = await side.retrieve({"query": "vermilion lockbox"}, "t")
    assert [(result.id, result.text) for result in answer.results] == [("b", _SECRET)], "nobody has erased that"


async def test_erasing_a_person_removes_items_said_by_and_about_them(side: Side) -> None:
    said = {"context": "c", "extract": "rules"}
    items = [
        {"id": "said", "text": "I hid the vermilion lockbox in the old granary.", "speaker": "Quirin Zeltner"},
        {"id": "about", "text": "Prefers tea over coffee, always has.", "about": ["Quirin Zeltner"]},
        {"id": "mention", "text": "Ana met Quirin Zeltner at the harbour.", "speaker": "Ana"},
        {"id": "other", "text": "Ben sailed to Lagos.", "speaker": "Ben"},
    ]
    await ingest(side, {**said, "items": items}, "t", None)
    chosen = await choose_person(side.graph, "t", "quirin zeltner", None)
    assert (chosen.count, chosen.mentioned) == (2, 1)
    await erase(side, chosen)
    left_over = {node.source_id for node in (await side.nodes()).values() if node.content_hash is not None}
    assert left_over == {"mention", "other"}
    named = await look_up(side.graph, "t", ["quirin zeltner"])
    assert named, "Ana still tells of them"
    await erase(side, await choose_person(side.graph, "t", "Quirin Zeltner", "c", with_mentions=True))
    assert "Zeltner" not in await everything(side)
    assert await look_up(side.graph, "t", ["quirin zeltner"]) == {}


async def test_person_erasure_finds_turns_inside_macro_events(side: Side) -> None:
    await tell(side, turns(5))
    await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0))
    chosen = await choose_person(side.graph, "t", "Ben", "c")
    assert chosen.count == 2, "turns 1 and 3"
    await erase(side, chosen)
    assert {node.source_id for node in await thread(side)} == {"0", "2", "4"}


async def test_person_erasure_refuses_a_name_used_in_several_contexts(side: Side) -> None:
    for context in ("c", "d"):
        await ingest(side, {"context": context, "items": [{"text": "I left.", "speaker": "Ana"}]}, "t", None)
    with pytest.raises(StateConflictError, match="Several things are called 'Ana'"):
        await choose_person(side.graph, "t", "Ana", None)
    assert (await choose_person(side.graph, "t", "Ana", "d")).items.keys() == {"d"}
    assert (await choose_person(side.graph, "t", "Ana", None, everywhere=True)).items.keys() == {"c", "d"}


async def test_erasing_a_context_keeps_the_other_contexts(side: Side) -> None:
    await ingest(side, {"context": "d", "items": [turn(0, "Ben left.")]}, "t", None)
    await ingest(side, {"context": "c", "items": [turn(n, f"{_SECRET} Round {n}.") for n in range(8)]}, "t", "k")
    await ingest(side, {"context": "d", "items": [{"id": "copy", "text": f"{_SECRET} Round 2."}]}, "t", None)
    await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0))
    await erase(side, await choose_context(side.graph, "t", "c"))
    assert [root.name for root in await side.graph.contexts("t")] == ["d"]
    assert {node.context for node in (await side.nodes()).values()} == {"d"}
    answer = await side.retrieve({"query": "vermilion lockbox"}, "t")
    told = [result.id for result in answer.results if "vermilion" in (result.text or "")]
    assert told == ["copy"], "it is another context's own"
    await tell(side, [turn(0, "It begins anew.")])
    assert [event.flow_step for event in await thread(side)] == [1]


async def test_erasing_a_tenant_keeps_the_other_tenants(side: Side) -> None:
    await ingest(side, {"context": "c", "items": [turn(0, _SECRET)]}, "t", "k")
    await ingest(side, {"context": "c", "items": [turn(0, "Ben left.")]}, "u", "k")
    await record_drift(side.graph.log, {"stale": 2}, {"t": {"stale": 1}, "u": {"stale": 1}})
    await erase(side, await choose_tenant(side.graph, "t"))
    drifts = {run.task for run in await side.graph.log.job_runs() if is_drift(run)}
    assert drifts == {drift_task(None), drift_task("u")}, "nor does a number of differences stay"
    late = await of_stored(side.graph, {"t": {"orphaned": 1}, "u": {"stale": 1}})
    assert late == {"u": {"stale": 1}}, "nor does a comparison that had begun before bring it back"
    assert {node.tenant for node in (await side.nodes()).values()} == {"u"}
    assert await side.graph.record.receipt("u", "key:k") is not None
    assert await side.graph.record.receipt("t", "key:k") is None


async def test_a_tenant_with_only_a_pending_erasure_can_be_chosen(side: Side) -> None:
    await ingest(side, {"context": "c", "items": [turn(0, _SECRET)]}, "t", "k")
    await ingest(side, {"context": "c", "items": [turn(0, "Ben left.")]}, "u", "k")
    erasure = await eraser(side).begin(await choose_tenant(side.graph, "t"))
    await eraser(side).run(erasure)
    assert await side.graph.contexts("t") == []
    assert await choose_tenant(side.graph, "t") == ErasureSelection("t", everything=True)
    await side.graph.erasures.end_erasure(erasure)
    with pytest.raises(MissingRecordError, match="Nothing of tenant 't' is stored; there is 'u'"):
        await choose_tenant(side.graph, "t")


async def test_an_erasure_killed_between_any_two_transactions_is_completed(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, [turn(n, f"{_SECRET} Round {n}.") for n in range(6)])
    await tell(side, [turn(9, "Ben left.")])
    chosen = await choose_items(side.graph, "t", [str(n) for n in range(6)], None)
    erasing = replace(eraser(side), item_batch=2)
    erasure = await erasing.begin(chosen)
    write, deaths = side.graph.write, 0
    for _ in range(40):
        with monkeypatch.context() as patch:
            patch.setattr(side.graph, "write", _dying_after_one(write))
            try:
                await erasing.run(erasure)
                break
            except RuntimeError:
                deaths += 1
    assert deaths > 4
    assert await find_residue(side, await fingerprints_of(side.graph.erasures, erasure)) == []
    assert [event.source_id for event in await thread(side)] == ["9"]
    await side.graph.erasures.end_erasure(erasure)
    await sound(side)


@pytest.mark.parametrize("whole", [False, True], ids=["items", "context"])
async def test_two_concurrent_runs_of_an_erasure_leave_nothing_unproven(side: Side, whole: bool) -> None:
    await tell(side, [turn(n, f"{_SECRET} Round {n}.") for n in range(12)])
    await tell(side, [turn(19, "Ben left.", flow_id="g")])
    before = set(await side.nodes())
    names = [str(n) for n in range(12)]
    chosen = ErasureSelection("t", contexts=("c",)) if whole else await choose_items(side.graph, "t", names, None)
    erasing = replace(eraser(side), item_batch=1, node_batch=2)
    erasure = await erasing.begin(chosen)
    await asyncio.gather(erasing.run(erasure), erasing.run(erasure))
    fingerprints = await fingerprints_of(side.graph.erasures, erasure)
    gone = before - set(await side.nodes())
    assert len(gone) >= 24
    finder = FingerprintFinder(fingerprints)
    assert all(finder.find(uid.encode()) for uid in gone), "whatever went is known to have gone"
    assert await find_residue(side, fingerprints) == []
    await side.graph.erasures.end_erasure(erasure)
    assert await eraser(side).run(erasure) == ErasureReport(), "there is nothing left to be done"
    assert await find_residue(side, await fingerprints_of(side.graph.erasures, erasure)) == [], "nor to be proven"
    if not whole:
        await sound(side)


def _dying_after_one(write: Any) -> Any:
    writes = iter([True])

    async def dying(*arguments: Any) -> Any:
        if not next(writes, False):
            raise RuntimeError("killed")
        return await write(*arguments)

    return dying


async def test_the_residue_scan_finds_erased_text_in_a_receipt(side: Side) -> None:
    await tell(side, [turn(0, _SECRET), turn(1, "Ben left.")])
    erasing = eraser(side)
    erasure = await erasing.begin(await choose_items(side.graph, "t", ["0"], None))
    await erasing.run(erasure)
    fingerprints = await fingerprints_of(side.graph.erasures, erasure)

    async def leave(transaction: GraphTransaction) -> None:
        await transaction.put_receipt(Receipt("job:x", "f", START, {"name": f"so {_SECRET[:60]}"}))

    await side.graph.write("t", "c", leave)
    assert await find_residue(side, fingerprints) == ["receipt job:x"]


async def test_a_selection_of_unknown_items_is_refused_by_name(side: Side) -> None:
    await tell(side, [turn(0, "Ben left.")])
    with pytest.raises(MissingRecordError, match="There is no item 'nope' in tenant 't'"):
        await choose_items(side.graph, "t", ["nope"], None)
    with pytest.raises(MissingRecordError, match="No person is called 'Nobody'"):
        await choose_person(side.graph, "t", "Nobody", None)
    with pytest.raises(MissingRecordError, match="there is 'c'"):
        await choose_context(side.graph, "t", "nope")
    for unstorable in ("\udcff", "\0"):
        for name, context in ((unstorable, None), ("Ben", unstorable)):
            with pytest.raises(MissingRecordError, match="There is no item"):
                await choose_items(side.graph, "t", [name], context)
            with pytest.raises(MissingRecordError, match="No person is called"):
                await choose_person(side.graph, "t", name, context)
    for name in ("nope", "../t", "T"):
        with pytest.raises(MissingRecordError, match=f"Nothing of tenant '{name}' is stored; there is 't'"):
            await choose_tenant(side.graph, name)
        with pytest.raises(MissingRecordError, match="No person is called 'Ben'"):
            await choose_person(side.graph, name, "Ben", None)


async def _erase_secret_item(side: Side) -> None:
    erasing = eraser(side)
    await erasing.run(await erasing.begin(await choose_items(side.graph, "t", ["1"], None)))


async def _index(side: Side, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], Awaitable[object]]) -> None:
    """Index what is pending; while the first of it is embedded, something else is done."""
    embed = side.embedder.embed

    async def interrupted(texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        monkeypatch.undo()
        await meanwhile()
        return await embed(texts, lane)

    monkeypatch.setattr(side.embedder, "embed", interrupted)
    await side.indexer.drain()


async def test_an_item_erased_during_indexing_leaves_no_point(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, [turn(0, "Ben left.")])
    points = await side.points()
    await side.ingest({"context": "c", "extract": "rules", "items": [turn(1, _SECRET)]}, "t", None)
    await _index(side, monkeypatch, lambda: _erase_secret_item(side))
    assert await side.points() == points
    await sound(side)


async def test_an_item_replaced_during_indexing_leaves_no_erased_text(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await side.ingest({"context": "c", "extract": "rules", "items": [turn(1, _SECRET)]}, "t", None)

    async def erase_and_send_anew() -> None:
        await _erase_secret_item(side)
        await side.ingest({"context": "c", "extract": "rules", "items": [turn(1, "Ben left.")]}, "t", None)

    await _index(side, monkeypatch, erase_and_send_anew)
    assert "Quirin" not in await everything(side)
    await sound(side)


async def test_an_item_stored_again_before_the_proof_is_no_residue(side: Side) -> None:
    told = turns(10)
    told[3]["text"] = _SECRET
    await tell(side, told)
    await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0))
    erasing = eraser(side)
    erasure = await erasing.begin(await choose_items(side.graph, "t", ["3", "8"], None))
    await erasing.run(erasure)
    await ingest(side, {"context": "c", "items": [told[8]], "flow_id": "f"}, "t", "again")
    await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0))
    await side.indexer.drain()
    fingerprints = await fingerprints_of(side.graph.erasures, erasure)
    assert await find_residue(side, fingerprints) == []
    await sound(side)


async def test_an_item_recorded_but_not_erased_is_reported_as_residue(side: Side) -> None:
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])
    nodes = (await side.nodes()).values()
    note = sealed_note(batch_record(ErasurePart("e", 0, "t", {}), list(nodes), new_key()))
    assert isinstance(marks := note.body["marks"], dict)
    assert {*await find_residue(side, Fingerprints.load(marks))} >= {f"{node.label} {node.uid}" for node in nodes}


async def test_an_item_stored_again_during_the_residue_scan_is_no_residue(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])
    erasing = eraser(side)
    erasure = await erasing.begin(await choose_items(side.graph, "t", ["1"], None))
    await erasing.run(erasure)
    scan = side.graph.scan

    async def come_again(what: Any, **how: Any) -> Any:
        if isinstance(what, Edges):
            monkeypatch.undo()
            await tell(side, [turn(1, _SECRET)])
        return await scan(what, **how)

    monkeypatch.setattr(side.graph, "scan", come_again)
    assert await find_residue(side, await fingerprints_of(side.graph.erasures, erasure)) == []
    assert "Quirin" in await everything(side)
