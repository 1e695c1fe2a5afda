"""What every graph must know of a change of the model, and tell to whoever makes a new index."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_core.index.points import payload_of
from vicw_shared.model import Label
from vicw_shared.ports import ModelChange, ModelIdentity, Models, Passages, PendingKind

OLD = ModelIdentity("old", 3, "0" * 64, 1)
NEW = ModelIdentity("new", 4, "1" * 64, 1)


async def test_set_model_stores_model_and_pending_change_together(graph: Graph) -> None:
    before = await graph.record.models()
    change = ModelChange(NEW, "/models/new.gguf", 1_700_000_000_000_000)
    await graph.record.set_model(OLD, change)
    assert before.change is None
    assert await graph.record.models() == Models(OLD, change)
    await graph.record.set_model(NEW)
    assert (await graph.record.models(), (await graph.record.models()).used) == (Models(NEW), NEW)


async def test_the_rebuilding_marker_is_cleared_only_by_its_own_timestamp(graph: Graph) -> None:
    await graph.record.set_model(OLD)
    assert (await graph.record.models()).rebuilding is None
    await graph.record.mark_rebuilding(AT)
    assert await graph.record.models() == Models(OLD, None, AT)
    again = AT + timedelta(microseconds=1)
    await graph.record.mark_rebuilding(again)
    assert not await graph.record.clear_rebuilding(AT), "it was lost once more"
    assert (await graph.record.models()).rebuilding == again
    assert await graph.record.clear_rebuilding(again)
    assert (await graph.record.models()).rebuilding is None
    assert not await graph.record.clear_rebuilding(again)


async def test_the_rebuilding_marker_is_dropped_when_the_model_changes(graph: Graph) -> None:
    await graph.record.set_model(OLD)
    await graph.record.mark_rebuilding(AT)
    await graph.record.set_model(OLD, ModelChange(NEW))
    assert await graph.record.models() == Models(OLD, ModelChange(NEW), AT)
    await graph.record.set_model(NEW)
    assert await graph.record.models() == Models(NEW), "the other index has everything"


def test_a_model_change_stored_in_phase_leaving_loads_as_finished() -> None:
    told = json.loads(ModelChange(NEW, "/models/new.gguf").dump())
    assert ModelChange.load(json.dumps(told | {"phase": "joining"})) == ModelChange(NEW, "/models/new.gguf")
    assert ModelChange.load(json.dumps(told | {"phase": "leaving"})) is None


async def test_the_model_change_lock_has_one_holder_and_expires(graph: Graph) -> None:
    assert await graph.record.lock_model_change("a", seconds=60)
    assert not await graph.record.lock_model_change("b", seconds=60)
    assert await graph.record.lock_model_change("a", seconds=0.2), "its holder renews it"
    await asyncio.sleep(0.3)
    assert await graph.record.lock_model_change("b", seconds=60), "whoever died has it no longer"
    assert not await graph.record.lock_model_change("a", seconds=60)
    assert await graph.record.lock_model_change("b", seconds=0)
    assert await graph.record.lock_model_change("a", seconds=60), "it was given back"
    await graph.record.lock_model_change("a", seconds=0)


async def test_set_model_is_refused_after_the_change_lock_was_lost(graph: Graph) -> None:
    change = ModelChange(NEW)
    assert await graph.record.lock_model_change("a", seconds=0.2)
    assert await graph.record.set_model(OLD, change, holder="a")
    await asyncio.sleep(0.3)
    assert await graph.record.set_model(OLD, change, holder="a"), "nobody has taken it yet"
    assert await graph.record.lock_model_change("b", seconds=60)
    assert not await graph.record.set_model(NEW, holder="a")
    assert await graph.record.models() == Models(OLD, change)
    assert await graph.record.set_model(NEW, holder="b")
    assert await graph.record.models() == Models(NEW)
    await graph.record.lock_model_change("b", seconds=0)


async def test_a_passage_scan_returns_the_same_payloads_as_an_outbox_claim(graph: Graph) -> None:
    sea, bucket = node("sea", Label.CONCEPT, subtype="tag"), node("box", Label.CONCEPT, subtype="bucket")
    item, ana = node("item", content_hash="h"), node("Ana")
    chunks = [node(f"chunk {n}", Label.CHUNK, text=f"proof {n}") for n in range(5)]
    told = [edge("TAGGED", "item", "sea"), edge("TAGGED", "item", "box"), edge("ABOUT", "item", "Ana")]
    proofs = [edge("EVIDENCED_BY", "item", chunk.name) for chunk in chunks]
    await put(graph, [item, ana, sea, bucket, *chunks], told + proofs)
    claimed = {point.point_id: point for point in await graph.outbox.claim(10, seconds=60)}

    first = await graph.scan(Passages(), limit=3)
    rest = await graph.scan(Passages(), after=first[-1].point_id, limit=10)
    found = [*first, *rest]
    assert (len(first), await graph.scan(Passages(), after=found[-1].point_id, limit=10)) == (3, [])
    assert [point.point_id for point in found] == sorted(chunk.uid for chunk in chunks)
    assert {point.point_id: payload_of(point) for point in found} == {
        uid: payload_of(point) for uid, point in claimed.items()
    }
    assert {(point.kind, point.seq, point.tries) for point in found} == {(PendingKind.UPSERT, 0, 0)}
    assert (await graph.audit.count(Label.CHUNK), await graph.audit.count(Label.ENTITY)) == (5, 2)

    await graph.outbox.acknowledge(list(claimed.values()))
    assert len(await graph.scan(Passages(), limit=10)) == 5, "queued or not"


async def test_a_passage_scan_marks_passages_without_an_item_for_deletion(graph: Graph) -> None:
    stray = node("stray", Label.CHUNK, text="of nothing")
    await put(graph, [stray])
    (found,) = await graph.scan(Passages(), limit=10)
    assert (found.point_id, found.kind, found.chunk, found.item) == (stray.uid, PendingKind.DELETE, None, None)


async def test_a_passage_scan_covers_all_tenants(graph: Graph) -> None:
    for tenant in ("t", "u"):
        item = replace(node(f"item of {tenant}", content_hash="h"), tenant=tenant)
        chunk = replace(node(f"chunk of {tenant}", Label.CHUNK, text="x"), tenant=tenant)
        await put(graph, [item, chunk], [edge("EVIDENCED_BY", item.name, chunk.name)], tenant)
    found = await graph.scan(Passages(), limit=10)
    assert {point.item.tenant for point in found if point.item is not None} == {"t", "u"}
