"""An item that a person says replaces another: what is found, from version to version, and back, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contract.sleep.test_consolidation import consolidate, draft, tell, thread, turn
from support.stores.exports import exported, imported
from support.stores.pairs import Side, asked_for, embedded
from vicw_ingest.audit.service import list_changes
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import choose_items
from vicw_shared.errors import InvalidInputError, MissingRecordError, StateConflictError
from vicw_shared.model import EdgeRegistry
from vicw_shared.wire.changes import AuditQuery

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
EXTRACTED: dict[str, Any] = {"entities": [{"name": "Nadia"}], "relations": []}
ITEMS: list[dict[str, Any]] = [
    {
        "id": name,
        "text": f"Nadia keeps the spare key {where}.",
        "timestamp": f"2026-0{month}-01T00:00:00Z",
        "extraction": EXTRACTED,
    }
    for month, (name, where) in enumerate(
        [("pot", "under the flower pot"), ("hook", "on the hook"), ("box", "in the box")], start=1
    )
]
ALL = {"pot", "hook", "box"}


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


@pytest.fixture
async def uids(side: Side) -> dict[str, str]:
    answer = await side.ingest({"context": "home", "items": ITEMS}, "t", None)
    await side.indexer.drain()
    return {str(item.id): item.uid for item in answer.items}


async def found(side: Side, **fields: Any) -> set[str | None]:
    await side.indexer.drain()
    body = {"query": "Where does Nadia keep the spare key?", "limit": 20, **fields}
    return {result.id for result in (await side.retrieve(body, "t")).results}


def named(new: str, old: str, **fields: Any) -> dict[str, Any]:
    return {"context": "home", "new": new, "old": old, **fields}


async def test_the_old_item_is_past_from_then_on_and_undo_brings_it_back(side: Side, uids: dict[str, str]) -> None:
    assert await found(side) == ALL
    answer = await side.supersede({"new": uids["hook"], "old": uids["pot"]}, "t")
    assert (answer.new, answer.old, answer.changed) == (uids["hook"], uids["pot"], True)
    assert answer.superseded_at == datetime(2026, 2, 1, tzinfo=UTC)
    assert await found(side) == {"hook", "box"}
    assert await found(side, as_of="2026-01-15T00:00:00Z") == {"pot"}
    assert await found(side, query="Where did Nadia keep the spare key before?") >= {"pot"}
    assert (await side.supersede(named("hook", "pot"), "t")).changed is False
    undone = await side.supersede(named("hook", "pot", undo=True), "t")
    assert (undone.superseded_at, undone.changed) == (None, True)
    assert await found(side) == ALL
    assert (await side.supersede(named("hook", "pot", undo=True), "t")).changed is False
    records = (await list_changes(side.graph, "t", AuditQuery(), LONG_AGO)).records
    assert [(one.kind, one.count) for one in records] == [("supersede", 1)] * 2
    assert (await side.check()).violations == []


async def test_it_follows_both_items_from_version_to_version(side: Side, uids: dict[str, str]) -> None:
    await side.supersede(named("hook", "pot", at="2026-03-05T00:00:00Z"), "t")
    assert await found(side, as_of="2026-03-04T00:00:00Z") == ALL
    await side.patch("pot", {"tags": ["clay"]}, "t", "home")
    await side.patch("hook", {"tags": ["brass"]}, "t", "home")
    assert await found(side) == {"hook", "box"}
    answer = await side.supersede({"new": uids["hook"], "old": uids["pot"], "undo": True}, "t")
    assert (answer.changed, answer.new != uids["hook"]) == (True, True)
    assert await found(side) == ALL
    await side.patch("pot", {"tags": []}, "t", "home")
    assert await found(side) == ALL


async def test_what_was_never_true_or_is_erased_replaces_nothing(side: Side, uids: dict[str, str]) -> None:
    await side.supersede(named("hook", "pot"), "t")
    await side.retract({"context": "home", "ids": ["hook"]}, "t")
    assert await found(side) == {"pot", "box"}
    await side.ingest({"context": "home", "items": [ITEMS[1]]}, "t", None)
    assert await found(side) == {"hook", "box"}
    await side.supersede(named("box", "hook"), "t")
    assert await found(side) == {"box"}
    eraser = Eraser(side.graph, side.indexer.indexes, EdgeRegistry.with_core_types())
    await eraser.run(await eraser.begin(await choose_items(side.graph, "t", ["box"], "home"), key=None))
    assert await found(side) == {"hook"}


async def test_a_consolidated_item_is_restored_and_replaced(side: Side) -> None:
    await tell(side, [turn(number, f"Reef survey {number}: the coral is pale.") for number in range(1, 6)])
    items = await thread(side)
    await consolidate(side, await draft(side, items))
    await side.indexer.drain()
    answer = await side.supersede({"new": items[3].uid, "old": items[1].uid}, "t")
    assert (answer.new, answer.old, answer.changed) == (items[3].uid, items[1].uid, True)
    await side.indexer.drain()
    shown = {result.uid for result in (await side.retrieve({"query": "pale coral reef survey"}, "t")).results}
    assert shown == {item.uid for item in items} - {items[1].uid}
    assert (await side.check()).violations == []


async def test_an_export_takes_it_along(side: Side, uids: dict[str, str], store: Path, tmp_path: Path) -> None:
    await side.supersede(named("hook", "pot"), "t")
    await side.indexer.drain()
    await exported(side, tmp_path / "export")
    async with embedded(store) as other:
        await imported(tmp_path / "export", other)
        assert await found(other) == {"hook", "box"}
        await other.patch("pot", {"tags": ["clay"]}, "t", "home")
        assert await found(other) == {"hook", "box"}, "it is still what a person stated"
        assert (await other.supersede(named("hook", "pot", undo=True), "t")).changed is True
        assert await found(other) == ALL
        assert (await other.check()).violations == []


async def test_what_cannot_be_stated_is_refused_and_changes_nothing(side: Side, uids: dict[str, str]) -> None:
    await side.ingest({"context": "work", "items": [{"id": "desk", "text": "The desk key."}]}, "t", None)
    await side.supersede(named("hook", "pot"), "t")
    await side.supersede(named("box", "hook"), "t")
    before = await side.edges(), await side.nodes()
    for error, tenant, body, problem in (
        (StateConflictError, "t", named("pot", "hook"), "new"),
        (StateConflictError, "t", named("pot", "box"), "new"),
        (InvalidInputError, "t", named("pot", "pot"), "old: is the same item"),
        (InvalidInputError, "t", named("box", "pot", at="2999-01-01T00:00:00Z"), "at: "),
        (InvalidInputError, "t", {"new": "box", "old": "pot"}, "context: "),
        (MissingRecordError, "t", named("nobody", "pot"), "new: "),
        (MissingRecordError, "t", named("box", "desk"), "old: "),
        (MissingRecordError, "t", named("box", "pot") | {"context": "attic"}, "context: "),
        (MissingRecordError, "other", {"new": uids["box"], "old": uids["pot"]}, "new: "),
        (MissingRecordError, "other", named("box", "pot"), "context: "),
    ):
        with pytest.raises(error, match=problem):
            await side.supersede(body, tenant)
    assert (await side.edges(), await side.nodes()) == before
    await side.retract({"context": "home", "ids": ["pot"]}, "t")
    with pytest.raises(StateConflictError, match="old: "):
        await side.supersede(named("box", "pot"), "t")
