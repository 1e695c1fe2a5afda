"""Items taken back by uid, and what a dry run says of it, on either pair of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.sleep.test_consolidation import consolidate, draft, tell, thread, turn
from support.stores.pairs import Side, asked_for
from vicw_shared.errors import InvalidInputError
from vicw_shared.uids import make_uid


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def store_items(side: Side, *items: dict[str, Any], context: str = "shed", tenant: str = "t") -> list[str]:
    answer = await side.ingest({"context": context, "items": items}, tenant, None)
    await side.indexer.drain()
    return [item.uid for item in answer.items]


async def found(side: Side, query: str, tenant: str = "t") -> list[str]:
    return [result.text for result in (await side.retrieve({"query": query}, tenant)).results]


async def outcomes(side: Side, body: dict[str, Any], tenant: str = "t") -> list[str]:
    answer = await side.retract(body, tenant)
    await side.indexer.drain()
    return [item.status.value for item in answer.items]


async def test_an_item_without_an_id_is_taken_back_by_its_uid(side: Side) -> None:
    ladder, rope = await store_items(
        side, {"text": "The ladder leans on the north wall."}, {"text": "The rope is wet."}
    )
    assert await outcomes(side, {"uids": [ladder]}) == ["retracted"]
    assert await found(side, "ladder") == ["The rope is wet."]
    assert await outcomes(side, {"uids": [ladder]}) == ["already"]
    assert await outcomes(side, {"context": "shed", "ids": [rope]}) == ["retracted"], "as an id of its context, too"
    assert await found(side, "rope") == []


async def test_the_uid_of_any_version_takes_the_item_back(side: Side) -> None:
    (first,) = await store_items(side, {"id": "k", "text": "The key hangs by the door."})
    (second,) = await store_items(side, {"id": "k", "text": "The key hangs behind the clock."})
    answer = await side.retract({"uids": [first]}, "t")
    assert [(item.id, item.uid, item.status.value) for item in answer.items] == [("k", second, "retracted")]
    await side.indexer.drain()
    assert await found(side, "key") == []


async def test_items_of_several_contexts_are_taken_back_by_one_request(side: Side) -> None:
    (one,) = await store_items(side, {"text": "The saw is blunt."}, context="shed")
    (two,) = await store_items(side, {"text": "The oven hums."}, context="kitchen")
    assert await outcomes(side, {"context": "shed", "uids": [two]}) == ["unknown"], "it is of another context"
    assert await outcomes(side, {"uids": [one, two, make_uid("nobody"), "no uid"]}) == [
        "retracted",
        "retracted",
        "unknown",
        "unknown",
    ]
    assert await found(side, "saw oven") == []


async def test_a_callers_id_precedes_an_equal_uid(side: Side) -> None:
    (uid,) = await store_items(side, {"text": "The bucket leaks."})
    await store_items(side, {"id": uid, "text": "The hose is split."})
    assert await outcomes(side, {"context": "shed", "ids": [uid]}) == ["retracted"]
    assert await found(side, "bucket hose") == ["The bucket leaks."]


async def test_nothing_of_another_tenant_is_taken_back_or_counted(side: Side) -> None:
    (uid,) = await store_items(side, {"text": "The bucket leaks."})
    assert await outcomes(side, {"uids": [uid]}, tenant="other") == ["unknown"]
    await store_items(side, {"text": "The hose is split."}, tenant="other")
    assert await outcomes(side, {"context": "shed", "ids": [uid]}, tenant="other") == ["unknown"]
    assert await found(side, "bucket") == ["The bucket leaks."]


async def test_a_dry_run_counts_and_changes_nothing(side: Side) -> None:
    (anonymous,) = await store_items(side, {"text": "The bucket leaks."})
    await store_items(side, {"id": "h", "text": "The hose is split."}, {"id": "old", "text": "The rake was bent."})
    await outcomes(side, {"context": "shed", "ids": ["old"]})
    before = await side.nodes()
    asked = {"context": "shed", "ids": ["h", "old", "nobody", "h"], "uids": [anonymous]}
    told = await side.retract({**asked, "dry_run": True}, "t")
    assert told.dry_run
    assert {status.value: count for status, count in told.counts.items()} == {
        "retracted": 2,
        "already": 1,
        "unknown": 1,
    }
    assert await side.nodes() == before
    done = await side.retract(asked, "t")
    assert (done.items, done.counts, done.dry_run) == (told.items, told.counts, False)


async def test_a_consolidated_item_without_an_id_comes_back_before_it_is_taken_back(side: Side) -> None:
    texts = ("The kiln reached 900 degrees.", "The glaze ran.", "The shelf cracked.")
    await tell(side, [turn(n, text) | {"id": None} for n, text in enumerate(texts)])
    items = await thread(side)
    macro = await consolidate(side, await draft(side, items))
    told = await side.retract({"uids": [items[1].uid, macro.uid], "dry_run": True}, "t")
    assert [item.status.value for item in told.items] == ["retracted", "unknown"], "a summary is no caller's item"
    assert macro.uid in await side.nodes(), "a dry run restores nothing"
    assert await outcomes(side, {"uids": [items[1].uid]}) == ["retracted"]
    assert [item.uid for item in await thread(side)] == [items[0].uid, items[2].uid]


@pytest.mark.parametrize(("body", "field"), [({"ids": ["a"]}, "context"), ({"context": "shed"}, "ids")])
async def test_what_names_no_item_is_refused_by_field(side: Side, body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await side.retract(body, "t")
    assert [problem.field for problem in refused.value.problems] == [field]
