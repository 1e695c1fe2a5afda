"""The record of changes: who changed how much when, of one's own tenant alone, and never a text; on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.stores.pairs import Side, asked_for
from vicw_core.changes import ChangeKind, forget_changes, record_change
from vicw_ingest.audit.service import list_changes
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import choose_items
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import GraphTransaction, Steps
from vicw_shared.ports.sleep import AUDIT
from vicw_shared.wire.changes import AuditPage, AuditQuery

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
SECRET = "Wilhelmina keeps the spare crown jewels under the bread bin."


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def changes(side: Side, tenant: str = "t", **query: Any) -> AuditPage:
    return await list_changes(side.graph, tenant, AuditQuery.model_validate(query), LONG_AGO)


async def told(side: Side, tenant: str = "t") -> list[tuple[str, int]]:
    return [(record.kind, record.count) for record in reversed((await changes(side, tenant)).records)]


async def test_every_change_and_erasure_is_recorded_without_its_text(side: Side) -> None:
    items = [{"id": name, "text": f"{SECRET} {name}"} for name in "abcd"]
    await side.ingest({"context": "attic", "items": items}, "t", None)
    assert await told(side) == [], "what is new is no change"
    changed = [{"id": "a", "text": "Sold."}, {"id": "b", "text": "Lent."}, {"id": "c", "merge": True, "tags": ["x"]}]
    await side.ingest({"context": "attic", "items": [*changed, items[3]]}, "t", None)
    await side.patch("d", {"tags": ["y"]}, "t", "attic")
    await side.patch("d", {"tags": ["y"]}, "t", "attic")
    await side.retract({"context": "attic", "ids": ["a", "b", "nobody"], "dry_run": True}, "t")
    await side.retract({"context": "attic", "ids": ["a", "b", "nobody"]}, "t")
    await side.retract({"context": "attic", "ids": ["a"]}, "t")
    eraser = Eraser(side.graph, side.indexer.indexes, EdgeRegistry.with_core_types())
    erasure = await eraser.begin(await choose_items(side.graph, "t", ["c", "d"], "attic"), key="k1")
    await eraser.run(erasure)
    assert sorted((await told(side))[:2]) == [("patch", 1), ("update", 2)]
    assert (await told(side))[2:] == [("patch", 1), ("retract", 2), ("erase", 2)]
    page = await changes(side)
    assert [record.key for record in page.records] == ["k1", None, None, None, None]
    assert "Wilhelmina" not in page.model_dump_json()
    assert await told(side, "other") == []


async def record(side: Side, tenant: str, count: int, at: datetime) -> None:
    async def work(transaction: GraphTransaction) -> None:
        await record_change(transaction, tenant, ChangeKind.UPDATE, count, key="k", at=at)

    await side.graph.write(tenant, "", work)


async def test_pages_have_each_record_once_the_latest_first(side: Side) -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    for count in range(7):
        await record(side, "t", count, start + timedelta(minutes=count // 2))
    seen: list[int] = []
    after: str | None = None
    while True:
        page = await changes(side, limit=3, after=after)
        seen += [one.count for one in page.records]
        if (after := page.next) is None:
            break
        await record(side, "t", 99, start + timedelta(days=1))  # what comes meanwhile shifts no page
    assert sorted(seen) == list(range(7))
    assert [count // 2 for count in seen] == [3, 2, 2, 1, 1, 0, 0]
    for wrong in ("x", "bm90IGEgcGxhY2U=", "\u00e4"):
        with pytest.raises(InvalidInputError, match="after"):
            await changes(side, after=wrong)


async def test_records_are_kept_as_long_as_is_said(side: Side) -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    for tenant in ("t", "other"):
        for days in range(4):
            await record(side, tenant, days, start + timedelta(days=days))
    cut = start + timedelta(days=2)
    hidden = await list_changes(side.graph, "t", AuditQuery(), cut)
    assert ([one.count for one in hidden.records], hidden.next) == ([3, 2], None)
    assert await forget_changes(side.graph, cut) == 4
    assert len(await side.graph.scan(Steps(task=AUDIT), limit=99)) == 4
    assert await told(side) == [("update", 2), ("update", 3)]
