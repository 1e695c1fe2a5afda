"""Fields of stored items changed one by one: what stays, what goes, who else changed them, on both pairs of stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.sleep.test_consolidation import consolidate, draft, tell, thread, turn
from support.stores.pairs import Side, asked_for
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import choose_items
from vicw_shared.errors import InvalidInputError, MissingRecordError, VersionMismatchError
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.wire.ingest import IngestedItem

WHOLE: dict[str, Any] = {
    "id": "pass",
    "text": "My library card expires in October 2027. Yesterday I moved it to the red wallet. " * 3,
    "speaker": "Ines",
    "user": "ines-1",
    "timestamp": "2026-02-03T23:30:00-05:00",
    "flow_id": "errands",
    "flow_step": 4,
    "name": "Library card",
    "tags": ["card"],
    "bucket": "desk",
    "source": "phone",
    "metadata": {"shelf": 7, "box": {"colour": "red", "lid": True}},
    "sensitivity": "personal",
    "portable": False,
    "about": ["Ines", "Tom"],
    "importance": "critical",
    "trigger_phrases": ["red wallet"],
    "expires_at": "2099-01-01T00:00:00Z",
    "extraction": {
        "entities": [{"name": "Ines"}, {"name": "wallet", "subtype": "thing"}],
        "relations": [{"source": "Ines", "type": "RELATED_TO", "target": "wallet", "desc": "owns"}],
    },
}


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def send(side: Side, *items: dict[str, Any], tenant: str = "t") -> list[IngestedItem]:
    answer = await side.ingest({"context": "home", "items": items}, tenant, None)
    await side.indexer.drain()
    return list(answer.items)


async def live_graph(side: Side, tenant: str) -> tuple[list[Any], list[Any]]:
    """Return what is live of a tenant, by what it says, without uids and times of storing."""
    nodes = {uid: node for uid, node in (await side.nodes()).items() if node.tenant == tenant and not node.retired_at}
    edges = [edge for edge in (await side.edges()).values() if {edge.source, edge.target} <= nodes.keys()]
    fields = (
        "label name title subtype domain text speaker source source_id version tags bucket metadata timestamp "
        "timestamp_inferred expires_at flow_id flow_step own_step arrival sensitivity portable importance protected "
        "trigger_phrases indexed"
    ).split()
    told = sorted(([getattr(node, name) for name in fields] for node in nodes.values()), key=str)
    ends = sorted((e.type, nodes[e.source].name, nodes[e.target].name, str(e.properties.get("desc"))) for e in edges)
    return told, ends


async def one_live(side: Side) -> Node:
    items = [n for n in (await side.nodes()).values() if n.content_hash is not None and n.retired_at is None]
    (item,) = [item for item in items if item.tenant == "t"]
    return item


@pytest.mark.parametrize(
    "patch",
    [
        {"tags": ["card", "travel"]},
        {"text": "My library card was renewed until 2029."},
        {"importance": "normal", "sensitivity": "sensitive"},
        {"speaker": "Tom", "about": ["Tom"], "name": "The card"},
    ],
    ids=str,
)
@pytest.mark.parametrize("door", ["patch", "merge", "uid"])
async def test_a_patched_item_is_as_if_it_had_been_sent_whole(side: Side, patch: dict[str, Any], door: str) -> None:
    for tenant in ("t", "whole"):
        (stored,) = await send(side, WHOLE, tenant=tenant)
        if tenant == "whole":
            await send(side, WHOLE | patch, tenant=tenant)
        elif door == "merge":
            (changed,) = await send(side, {"id": "pass", "merge": True, **patch})
            assert (changed.status.value, changed.version, changed.dropped) == ("updated", 2, ())
        else:
            named = ("pass", patch, "t", "home") if door == "patch" else (stored.uid, patch, "t")
            answer = await side.patch(*named)
            assert (answer.item.status.value, answer.version, answer.context) == ("updated", 2, "home")
    await side.indexer.drain()
    assert await live_graph(side, "t") == await live_graph(side, "whole")


async def test_null_removes_a_field_and_metadata_is_merged_key_by_key(side: Side) -> None:
    await send(side, WHOLE)
    gone = ("speaker", "bucket", "expires_at", "importance", "tags", "sensitivity", "portable", "user", "about")
    change = dict.fromkeys(gone) | {"metadata": {"box": {"lid": None, "size": 2}, "shelf": None, "new": [1, None]}}
    await side.patch("pass", change, "t", "home")
    item = await one_live(side)
    assert item.metadata == {"box": {"colour": "red", "size": 2}, "new": [1, None]}
    assert (item.speaker, item.bucket, item.expires_at, item.importance, item.tags) == (None, None, None, None, ())
    assert (item.sensitivity.value, item.portable, item.protected) == ("public", True, False)
    assert (item.title, item.source, item.flow_id) == ("Library card", "phone", "errands")
    edges = [edge.type for edge in (await side.edges()).values() if edge.source == item.uid]
    assert {"ABOUT", "STATED_BY"}.isdisjoint(edges)
    await side.patch("pass", {"metadata": None}, "t", "home")
    assert (await one_live(side)).metadata == {}


@pytest.mark.parametrize(
    "patch", [{}, {"tags": ["card"]}, {"metadata": {"shelf": 7}}, {"importance": "critical"}], ids=str
)
async def test_a_patch_that_changes_nothing_makes_no_version(side: Side, patch: dict[str, Any]) -> None:
    (stored,) = await send(side, WHOLE)
    answer = await side.patch("pass", patch, "t", "home")
    assert (answer.item.status.value, answer.version, answer.item.uid) == ("unchanged", 1, stored.uid)
    (again,) = await send(side, WHOLE)
    assert again.status.value == "unchanged", "it is still what its caller sent"


async def test_an_update_says_which_fields_it_dropped(side: Side) -> None:
    await send(side, WHOLE)
    (changed,) = await send(side, {"id": "pass", "text": WHOLE["text"], "tags": ["card"], "speaker": "Ines"})
    assert {"user", "about", "metadata", "sensitivity", "importance", "timestamp"} < set(changed.dropped)
    assert {"tags", "speaker"}.isdisjoint(changed.dropped)


async def test_an_item_without_an_id_gets_its_uid_as_its_id(side: Side) -> None:
    (stored,) = await send(side, {"text": "The attic lamp needs a new bulb of the small kind.", "tags": ["attic"]})
    first = await side.patch(stored.uid, {"tags": ["lamp"]}, "t")
    assert (first.version, first.item.id) == (2, stored.uid)
    second = await side.patch(stored.uid, {"bucket": "jobs"}, "t")
    assert (second.version, (await one_live(side)).tags) == (3, ("lamp",))
    assert [i.status.value for i in (await side.retract({"uids": [stored.uid]}, "t")).items] == ["retracted"]
    with pytest.raises(MissingRecordError):
        await side.patch(stored.uid, {"bucket": "none"}, "t")


@pytest.mark.parametrize("named", ["first", "last"])
async def test_all_versions_of_an_item_without_an_id_are_erased(side: Side, named: str) -> None:
    (stored,) = await send(side, {"text": "The attic lamp needs a new bulb of the small kind."})
    last = await side.patch(stored.uid, {"text": "The attic lamp is gone for good."}, "t")
    await side.indexer.drain()
    eraser = Eraser(side.graph, side.indexer.indexes, EdgeRegistry.with_core_types())
    chosen = await choose_items(side.graph, "t", [stored.uid if named == "first" else last.item.uid], None)
    await eraser.run(await eraser.begin(chosen))
    assert [node for node in (await side.nodes()).values() if node.content_hash is not None] == []


async def test_a_consolidated_item_is_restored_and_changed(side: Side) -> None:
    texts = ("The kiln reached 900 degrees.", "The glaze ran.", "The shelf cracked.")
    await tell(side, [turn(n, text) | {"metadata": {"n": n}} for n, text in enumerate(texts)])
    items = await thread(side)
    await consolidate(side, await draft(side, items))
    answer = await side.patch("1", {"metadata": {"seen": True}}, "t", "c")
    assert answer.item.status.value == "updated"
    changed = (await thread(side))[1]
    assert (changed.source_id, changed.metadata, changed.speaker) == ("1", {"n": 1, "seen": True}, "Ben")


async def test_a_patch_for_another_version_is_refused(side: Side) -> None:
    await send(side, WHOLE)
    assert (await side.patch("pass", {"bucket": "bag"}, "t", "home", 1)).version == 2
    with pytest.raises(VersionMismatchError, match="has version 2"):
        await side.patch("pass", {"bucket": "shelf"}, "t", "home", 1)
    assert (await one_live(side)).bucket == "bag"


async def test_patches_at_the_same_time_lose_nothing(side: Side) -> None:
    await send(side, WHOLE)
    patches = [side.patch("pass", {"metadata": {f"k{n}": n}}, "t", "home") for n in range(4)]
    versions = {answer.version for answer in await asyncio.gather(*patches)}
    assert versions == {2, 3, 4, 5}
    assert {f"k{n}" for n in range(4)} < (await one_live(side)).metadata.keys()


async def test_no_item_of_another_tenant_is_changed(side: Side) -> None:
    (stored,) = await send(side, WHOLE)
    before = await side.nodes()
    for item, context in ((stored.uid, None), ("pass", "home")):
        with pytest.raises(MissingRecordError):
            await side.patch(item, {"bucket": "mine"}, "other", context)
    with pytest.raises(InvalidInputError):
        await send(side, {"id": "pass", "merge": True, "bucket": "mine"}, tenant="other")
    assert await side.nodes() == before


@pytest.mark.parametrize(
    ("item", "field"),
    [({"bucket": "a"}, "items[0].id"), ({"id": "nobody", "bucket": "a"}, "items[0].id")],
    ids=["no id", "unknown id"],
)
async def test_a_patch_of_nothing_names_the_field(side: Side, item: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await send(side, {"merge": True, **item})
    assert [problem.field for problem in refused.value.problems] == [field]


async def test_a_patch_with_a_text_stores_an_item_that_is_not_there(side: Side) -> None:
    (made,) = await send(side, {"id": "n", "merge": True, "text": "The hall clock is slow.", "metadata": {"a": None}})
    assert (made.status.value, made.version, (await one_live(side)).metadata) == ("created", 1, {})
