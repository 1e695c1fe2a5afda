"""Points that are older than the graph, or of something else, on both pairs of stores: told, queued, mended."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from support.stores.graph_records import node, put
from support.stores.pairs import Side, asked_for
from support.stores.term_counts import lose_all_counts, lose_counts
from vicw_core.index.sparse import question_terms
from vicw_shared.clock import now
from vicw_shared.model import Label
from vicw_shared.ports import Lane, Point, TermCounts, TermScope
from vicw_sleep.reconcile.model import ReconcileBookmark, ReconcileReport
from vicw_sleep.reconcile.service import reconcile

HARBOUR = question_terms("harbour")
NOTHING = ReconcileReport(missing=0, stale=0, orphaned=0, next=None)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    """Stores with five items in them, that agree."""
    async with asked_for(request, store) as side:
        await ingest(side, *({"id": f"m{n}", "text": f"harbour {n}", **PRIVATE} for n in range(5)))
        await side.indexer.drain()
        assert (await side.check()).violations == []
        side.embedder.seen.clear()
        yield side


PRIVATE: dict[str, Any] = {"sensitivity": "personal", "about": ["Ana"], "tags": ["sea", "night"], "importance": 0.5}


async def ingest(side: Side, *items: dict[str, Any]) -> None:
    await side.ingest({"context": "c", "items": list(items)}, "t", None)


async def change_payloads(side: Side, count: int = 1, **fields: object) -> list[str]:
    """Write other fields into so many payloads, None to leave one out; return the points."""
    payloads = await side.vectors.payloads(sorted(await side.payloads())[:count])
    spoilt = {
        point: {name: value for name, value in (dict(payload) | fields).items() if value is not None}
        for point, payload in payloads.items()
    }
    await side.vectors.set_payload(spoilt)
    return sorted(spoilt)


def count_stale_points() -> float:
    return REGISTRY.get_sample_value("vicw_reconcile_stale_total") or 0


async def test_terms_that_are_not_counted_are_reported_and_counted(side: Side) -> None:
    before = await side.graph.frequencies("t", ["c"], HARBOUR)
    assert before.asked == TermCounts(5, dict.fromkeys(HARBOUR, 5))
    await lose_counts(side.graph, TermScope("t", "c"))
    wrong = "The counts of context 'c' of tenant 't' are not those of its passages and items"
    assert (await side.check()).violations == [wrong]
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors, dry=True) == NOTHING
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors) == NOTHING
    assert (await side.check()).violations == []
    await lose_all_counts(side.graph)
    chunks = sorted(await side.payloads())
    told = [f"Chunk {uid} is not counted with the terms of its text" for uid in chunks]
    assert (await side.check()).violations == told
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors) == ReconcileReport(0, 5, 0, None)
    await side.indexer.drain()
    assert (await side.check()).violations == []
    assert side.embedder.seen == []
    assert await side.graph.frequencies("t", ["c"], HARBOUR) == before


async def test_a_payload_that_differs_from_the_graph_is_reported_and_rewritten(side: Side) -> None:
    before, counted = await side.payloads(), count_stale_points()
    (point,) = await change_payloads(side, sensitivity="public", about=None)
    assert (await side.check()).violations == [f"Point {point} differs from the graph: about, sensitivity"]
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors) == ReconcileReport(0, 1, 0, None)
    assert count_stale_points() == counted + 1
    report = await side.check()
    assert (report.violations, report.waiting) == ([], 0), "it waits in the outbox, and the passage stays indexed"
    await side.indexer.drain()
    assert (await side.payloads(), side.embedder.seen) == (before, [])
    assert (await side.check()).violations == []
    assert await side.graph.outbox.queued([point]) == set()


async def test_a_point_with_a_stale_text_is_embedded_again(side: Side) -> None:
    before = await side.payloads()
    (point,) = await change_payloads(side, text="another text", tags=None)
    assert (await side.check()).violations == [f"Point {point} differs from the graph: tags, text"]
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors) == ReconcileReport(0, 1, 0, None)
    await side.indexer.drain()
    assert (await side.payloads(), len(side.embedder.seen)) == (before, 1)
    assert (await side.check()).violations == []


async def test_a_point_of_a_passage_without_an_item_is_removed(side: Side) -> None:
    lone = node("lone", Label.CHUNK, text="of nothing")
    await put(side.graph, [lone])
    await side.indexer.drain()
    (dense,) = await side.embedder.embed(["of nothing"], Lane.BULK)
    await side.vectors.upsert([Point(lone.uid, dense, None, {"tenant": "t", "label": "Chunk"})])
    assert f"Point {lone.uid} belongs to a Chunk without an item" in (await side.check()).violations
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors) == ReconcileReport(0, 1, 0, None)
    await side.indexer.drain()
    assert await side.vectors.present([lone.uid]) == set()
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors) == NOTHING
    assert [said for said in (await side.check()).violations if said.startswith(("Point", "Chunk"))] == []


@pytest.mark.parametrize(("looks", "left"), [(1, True), (2, False)], ids=["waited for", "removed, and made anew"])
async def test_a_point_whose_passage_is_stored_meanwhile_is_not_orphaned(
    side: Side, monkeypatch: pytest.MonkeyPatch, looks: int, left: bool
) -> None:
    (point, *_) = sorted(await side.payloads())
    real, asked = type(side.graph.audit).point_states, 0

    async def too_early(self: Any, uids: Sequence[str]) -> dict[str, bool]:
        nonlocal asked
        asked += 1
        return {uid: at for uid, at in (await real(self, uids)).items() if asked > looks or uid != point}

    monkeypatch.setattr(type(side.graph.audit), "point_states", too_early)
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors) == NOTHING
    assert (point in await side.payloads()) is left
    await side.indexer.drain()
    assert (await side.check()).violations == []


async def test_queued_points_are_no_violation_and_not_queued_again(side: Side) -> None:
    await ingest(side, {"id": "m0", "text": "a volcano"})
    (retired,) = await side.graph.outbox.queued(sorted(await side.payloads()))
    report = await side.check()
    assert (report.violations, report.waiting) == ([], 1)
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors) == NOTHING
    await side.indexer.drain()
    assert "retired_at" in (await side.payloads())[retired]


async def test_points_updated_between_two_comparisons_are_left_alone(side: Side) -> None:
    (point,) = await change_payloads(side, sensitivity="public")
    old = await side.vectors.payloads([point])
    await reconcile(side.graph.outbox, side.graph.audit, side.vectors)
    await side.indexer.drain()
    looks: list[int] = []

    class Late:
        """Shows at the first look what was there before."""

        async def payloads(self, ids: Sequence[str]) -> dict[str, Mapping[str, object]]:
            looks.append(len(ids))
            return await side.vectors.payloads(ids) | (old if len(looks) == 1 else {})

        def __getattr__(self, name: str) -> Any:
            return getattr(side.vectors, name)

    late: Any = Late()
    assert await reconcile(side.graph.outbox, side.graph.audit, late) == NOTHING
    assert looks == [5, 5]


async def test_what_differs_is_counted_for_the_tenant_whose_it_is(side: Side) -> None:
    await side.ingest({"context": "c", "items": [{"text": f"heron {n}"} for n in range(3)]}, "u", None)
    await side.indexer.drain()
    payloads = await side.payloads()
    first, *lost = sorted(point for point, payload in payloads.items() if payload["tenant"] == "u")
    await side.vectors.delete(lost)
    other = next(point for point, payload in payloads.items() if payload["tenant"] == "t")
    await side.vectors.set_payload({one: payloads[one] | {"domain": "coding"} for one in (first, other)})
    (dense,) = await side.embedder.embed(["of nothing"], Lane.BULK)
    orphans = [Point(str(uuid.UUID(int=n)), dense, None, {"tenant": "v", "label": "Chunk"}) for n in range(2)]
    await side.vectors.upsert(orphans)
    found = await reconcile(side.graph.outbox, side.graph.audit, side.vectors)
    assert (found.missing, found.stale, found.orphaned) == (2, 2, 2)
    assert found.tenants == {"t": {"stale": 1}, "u": {"missing": 2, "stale": 1}, "v": {"orphaned": 2}}


async def test_a_lost_index_counts_as_rebuilt_once_all_earlier_points_exist(side: Side) -> None:
    passages = sorted(await side.payloads())
    await side.vectors.delete(passages)
    lost = ReconcileBookmark(lost_at=now())
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors, start=lost) == ReconcileReport(
        5, 0, 0, None
    )
    again = await reconcile(side.graph.outbox, side.graph.audit, side.vectors, start=lost)
    assert again == NOTHING, "they are queued, and lack their points still"
    await side.indexer.drain()
    await ingest(side, {"id": "later", "text": "it waits as it always did"})
    done = await reconcile(side.graph.outbox, side.graph.audit, side.vectors, start=lost)
    assert done == replace(NOTHING, rebuilt=lost.lost_at)
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors) == NOTHING, "there is no mark to clear"


async def test_dead_entries_do_not_keep_an_index_marked_as_lost(side: Side) -> None:
    passages = sorted(await side.payloads())
    await side.graph.outbox.requeue(passages[:1])
    claimed = await side.graph.outbox.claim(10, seconds=60)
    lost = ReconcileBookmark(lost_at=now())
    assert await reconcile(side.graph.outbox, side.graph.audit, side.vectors, start=lost) == NOTHING
    await side.graph.outbox.postpone(claimed, seconds=None, error="it cannot be embedded")
    done = await reconcile(side.graph.outbox, side.graph.audit, side.vectors, start=lost)
    assert done == replace(NOTHING, rebuilt=lost.lost_at)
    await side.graph.outbox.replay()


async def test_a_missing_point_on_any_page_keeps_the_mark_of_a_lost_index(side: Side) -> None:
    first, *_, last = sorted(await side.payloads())
    lost = ReconcileBookmark(lost_at=now())

    async def rebuilt() -> datetime | None:
        place: ReconcileBookmark | None = lost
        while place is not None:
            done = await reconcile(side.graph.outbox, side.graph.audit, side.vectors, start=place, pages=1, page_size=2)
            place = done.next
        return done.rebuilt

    for lacking in (first, last):
        await side.vectors.delete([lacking])
        assert await rebuilt() is None
        await side.indexer.drain()
    assert await rebuilt() == lost.lost_at


async def test_reconciliation_is_continued_page_by_page(side: Side) -> None:
    spoilt = await change_payloads(side, 5, portable=0)
    assert len((await side.check()).violations) == 5
    place: ReconcileBookmark | None = ReconcileBookmark()
    found: list[int] = []
    while place is not None:
        done = await reconcile(side.graph.outbox, side.graph.audit, side.vectors, start=place, pages=1, page_size=2)
        found, place = [*found, done.stale], done.next
    assert found == [2, 2, 1, 0, 0, 0, 0, 0], "three pages of each side and the end of each"
    assert await side.graph.outbox.queued(spoilt) == set(spoilt)
    await side.indexer.drain()
    assert (await side.check()).violations == []
