"""Erasing what passes a filter: every item by what it is now, with all its versions; on both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.erasure.test_erasure_jobs import Erasing
from contract.sleep.test_consolidation import consolidate, draft, tell, thread, turn
from support.stores.pairs import Side, asked_for
from vicw_shared.errors import InvalidInputError, MissingRecordError


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def put(side: Side, *items: dict[str, Any], context: str = "attic") -> None:
    await side.ingest({"context": context, "items": items}, "t", None)
    await side.indexer.drain()


def box(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"b{number}", "text": f"Box number {number * 37} holds lamps.", "metadata": {"n": number}} | fields


async def stored(side: Side) -> set[str | None]:
    """Return the ids of all items of which anything is stored, live or not, consolidated or not."""
    nodes = (await side.nodes()).values()
    return {node.source_id for node in nodes if node.content_hash is not None and not node.is_macro}


async def counted(side: Side, sent: dict[str, Any], **fields: Any) -> int:
    return (await Erasing(side).begin(filter=sent, dry_run=True, **fields)).selected.items


async def erase(side: Side, sent: dict[str, Any], **fields: Any) -> int:
    """Erase, and return how many items were selected."""
    erasing = Erasing(side)
    begun = await erasing.begin(filter=sent, **fields)
    await erasing.worker.run_once()
    done = await erasing.jobs.status("t", begun.erasure or "")
    assert (done.status, done.proof is not None and done.proof.proven) == ("done", True)
    return done.selected.items


async def test_an_item_goes_by_what_it_is_now_with_all_its_versions(side: Side) -> None:
    await put(side, *(box(n) for n in range(4)))
    await side.patch("b0", {"metadata": {"n": 9}}, "t", "attic")
    await side.retract({"context": "attic", "ids": ["b1"]}, "t")
    assert await counted(side, {"metadata.n": 0}) == 0, "it is another by now"
    assert await erase(side, {"metadata.n": 1}) == 1, "what was taken back is still stored"
    assert await stored(side) == {"b0", "b2", "b3"}
    assert await erase(side, {"any": [{"metadata.n": 9}, {"id": "b2"}]}) == 2
    assert await stored(side) == {"b3"}, "the version before the patch is gone, too"


async def test_an_item_without_an_id_goes_by_what_it_is_now(side: Side) -> None:
    await put(side, {"text": "A lamp without a box.", "metadata": {"n": 1}}, box(2))
    (lamp,) = [node.uid for node in (await side.nodes()).values() if node.metadata.get("n") == 1]
    await side.patch(lamp, {"metadata": {"n": 3}}, "t")
    assert await counted(side, {"metadata.n": 1}) == 0
    assert await erase(side, {"metadata.n": 3}) == 1
    assert await stored(side) == {"b2"}


async def test_to_erase_everything_has_to_be_said(side: Side) -> None:
    await put(side, box(0), box(2))
    await side.patch("b0", {"metadata": {"n": 9}}, "t", "attic")  # what it was does not pass, and does not count
    await put(side, box(3), context="cellar")
    for sent in ({}, {"metadata.n": {"gte": 1}}, {"not": {"metadata.n": 7}}):
        for dry_run in (True, False):
            with pytest.raises(InvalidInputError) as refused:
                await Erasing(side).begin(filter=sent, dry_run=dry_run)
            assert [problem.field for problem in refused.value.problems] == ["all"]
    assert await counted(side, {}, all=True) == 3
    assert await erase(side, {}, context="attic") == 2, "another context is left"
    with pytest.raises(InvalidInputError, match="all"):
        await Erasing(side).begin(filter={}, context="cellar")
    assert await erase(side, {}, all=True) == 1
    assert await stored(side) == set()


async def test_whether_all_pass_is_seen_however_much_was_replaced(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vicw_ingest.versions.filtered_items.BATCH", 2)
    await put(side, *(box(n) for n in range(1, 6)))
    for number in range(1, 5):
        await side.patch(f"b{number}", {"metadata": {"n": number + 10}}, "t", "attic")
    with pytest.raises(InvalidInputError, match="all"):
        await counted(side, {"any": [{"metadata.n": {"gte": 10}}, {"id": "b5"}]})
    assert await counted(side, {"metadata.n": {"gte": 10}}) == 4, "the fifth does not pass"


async def test_what_passes_is_decided_when_the_erasure_begins(side: Side) -> None:
    await put(side, *(box(n) for n in range(3)))
    erasing = Erasing(side)
    begun = await erasing.begin(filter={"metadata.n": 1})
    await side.patch("b1", {"metadata": {"n": 2}}, "t", "attic")
    await put(side, box(3, metadata={"n": 1}))
    await erasing.worker.run_once()
    done = await erasing.jobs.status("t", begun.erasure or "")
    assert (done.status, done.selected.items) == ("done", 1)
    assert await stored(side) == {"b0", "b2", "b3"}


async def test_a_filter_that_nothing_passes_erases_nothing(side: Side) -> None:
    await put(side, box(1), box(2))
    assert await counted(side, {"metadata.n": 7}) == 0
    with pytest.raises(MissingRecordError, match="No item passes"):
        await Erasing(side).begin(filter={"metadata.n": 7})
    with pytest.raises(InvalidInputError) as refused:
        await Erasing(side).begin(filter={"metadata.n": 7}, items=["b1"])
    assert [problem.field for problem in refused.value.problems] == ["filter"]
    assert await stored(side) == {"b1", "b2"}


async def test_a_consolidated_item_goes_by_its_own_fields(side: Side) -> None:
    turns = [turn(n, f"The gate number {n * 37} is shut.", metadata={"n": n}) for n in range(4)]
    await tell(side, turns)
    await consolidate(side, await draft(side, await thread(side)))
    await side.indexer.drain()
    with pytest.raises(InvalidInputError, match="all"):
        await counted(side, {"metadata.n": {"gte": 0}})
    assert await erase(side, {"metadata.n": {"in": [1, 2]}}) == 2
    texts = [node.text for node in (await side.nodes()).values() if node.text]
    assert not [text for text in texts if "number 37 " in text or "number 74 " in text]
    assert [text for text in texts if "number 111 " in text]
