"""Items exported by a filter, as they are ingested: sent to another tenant they are the same items; on both pairs."""

from __future__ import annotations

import gc
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.items.test_filtered_search import by_predicate, drawn_filter, fill
from contract.sleep.test_consolidation import consolidate, draft, tell, thread, turn
from support.stores.pairs import Side, asked_for
from vicw_core.filters.compiler import compile_filter
from vicw_ingest.item_export.service import items_as_sent
from vicw_shared.clock import now
from vicw_shared.model import Node
from vicw_shared.ports import ListingQuery, Scope
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.filters import Filter

_WHOLE: dict[str, Any] = {
    "id": "w",
    "text": "My locker number at the gym is fourteen.",
    "name": "Locker",
    "speaker": "Petra",
    "user": "petra",
    "timestamp": "2026-04-02T11:00:00+02:00",
    "flow_id": "f",
    "tags": ["gym", "Numbers"],
    "importance": "critical",
    "metadata": {"floor": 2, "via": ["watch", None, {"deep": True}]},
    "sensitivity": "personal",
    "about": ["Petra"],
    "source": "mail/1",
    "trigger_phrases": ["which locker"],
}


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def exported(side: Side, sent: dict[str, Any], tenant: str = "t") -> list[dict[str, Any]]:
    condition = compile_filter(Filter.model_validate(sent), LimitSettings())
    return [fields async for _, fields in items_as_sent(side.graph, tenant, condition) if fields is not None]


async def send(side: Side, items: list[dict[str, Any]], tenant: str) -> None:
    for item in items:
        place = {name: item.pop(name) for name in ("context", "domain")}
        await side.ingest({**place, "items": [item]}, tenant, None)
    await side.indexer.drain()


async def listed(side: Side, tenant: str) -> list[Node]:
    return await side.graph.list_items(ListingQuery(scope=Scope(tenant=tenant, now=now())), 1000)


async def test_what_passes_is_exported_and_is_the_same_elsewhere(side: Side) -> None:
    draw = random.Random(5)
    await fill(side, draw, 30)
    for _ in range(5):
        sent = drawn_filter(draw)
        expected = await by_predicate(side, sent, Scope(tenant="t", now=now()))
        assert {item["id"] for item in await exported(side, sent)} == expected, sent
    await send(side, await exported(side, {"metadata.house": {"gte": 2}}), "elsewhere")
    items = {(node.context, node.source_id): node for node in await listed(side, "t")}
    copies = await listed(side, "elsewhere")
    assert copies
    for copy in copies:
        item = items[copy.context, copy.source_id]
        assert (copy.content_hash, copy.metadata, copy.tags) == (item.content_hash, item.metadata, item.tags)


async def test_an_item_is_exported_whole(side: Side) -> None:
    await side.ingest({"context": "c", "domain": "coding", "items": [_WHOLE]}, "t", None)
    assert await exported(side, {"id": "w"}) == [{"context": "c", "domain": "coding", **_WHOLE}]


async def test_a_consolidated_item_is_exported_as_it_was(side: Side) -> None:
    turns = [turn(n, f"The gate number {n * 37} is shut.", metadata={"n": n}) for n in range(4)]
    await tell(side, turns)
    before = await exported(side, {"metadata.n": {"gte": 1}})
    await consolidate(side, await draft(side, await thread(side)))
    assert await exported(side, {"metadata.n": {"gte": 1}}) == before
    assert [item["text"] for item in before] == [turns[n]["text"] for n in (1, 2, 3)]


async def test_an_export_holds_a_batch_of_nodes_not_all(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vicw_ingest.item_export.service.BATCH", 10)
    much = {"note": "x" * 3000}  # such a node is in no cache of the graph
    items = [{"id": f"{n:02}", "text": f"The gate number {n * 37} is shut.", "metadata": much} for n in range(60)]
    await side.ingest({"context": "c", "items": items}, "t", None)

    def held() -> int:
        gc.collect()
        return sum(isinstance(one, Node) and one.content_hash is not None for one in gc.get_objects())

    before, most, names = held(), 0, []
    async for node, _ in items_as_sent(side.graph, "t", compile_filter(Filter(), LimitSettings())):
        names.append(node.source_id)
        if len(names) % 10 == 1:
            most = max(most, held() - before)
    assert names == [item["id"] for item in items], "in order of their arrival"
    assert most < 40, "two batches at most, of 60 items"


async def test_nothing_of_another_tenant_is_exported(side: Side) -> None:
    await side.ingest({"context": "c", "items": [_WHOLE]}, "other", None)
    assert await exported(side, {}) == []
