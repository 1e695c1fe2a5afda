"""After an item's time is over nothing of what it told is left standing, on both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contract.erasure.test_erasure import erase, eraser, find_residue
from contract.sleep.test_consolidation import consolidate, draft, thread
from support.stores.graph_queries import GraphClient
from support.stores.pairs import Side, asked_for
from vicw_ingest.erasure.record import fingerprints_of
from vicw_ingest.erasure.selection import choose_items
from vicw_ingest.expiry.service import EXPIRE, Expiry
from vicw_shared.clock import now
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.ports import MaintenanceStep, Outcome, Steps, look_up

START = datetime(2026, 1, 1, tzinfo=UTC)
# Told when the file is read, which may be an hour before its tests run.
OVER = now() + timedelta(days=1)
AFTER = OVER + timedelta(seconds=1)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let it be another time for whoever writes."""

    def be(instant: datetime) -> None:
        for module in ("vicw_ingest.expiry.service", "vicw_ingest.pipeline"):
            monkeypatch.setattr(f"{module}.now", lambda: instant)

    return be


def turn(name: str, minute: int, text: str, **fields: Any) -> dict[str, Any]:
    at = (START + timedelta(minutes=minute)).isoformat()
    return {"id": name, "text": text, "speaker": "Ben", "timestamp": at, "flow_id": "f", **fields}


async def tell(side: Side) -> None:
    extraction = {
        "entities": [{"name": "Ben", "subtype": "person"}, {"name": "tea", "subtype": "thing"}],
        "relations": [{"source": "Ben", "type": "RELATED_TO", "target": "tea", "desc": "hates"}],
    }
    lasting = {"entities": extraction["entities"]}
    items = [
        turn("a", 0, "Ben drank tea in Lisbon.", extraction=lasting),
        turn(
            "b",
            1,
            "My sister Clara left Porto because the bridge burned.",
            expires_at=OVER.isoformat(),
            tags=["fire"],
            extraction=extraction,
        ),
        turn("c", 2, "Nothing else happened in Lisbon."),
    ]
    await side.ingest({"context": "c", "items": items, "extract": "rules"}, "t", None)
    await side.indexer.drain()


async def sweep(side: Side) -> int:
    count = await Expiry(side.graph, EdgeRegistry.with_core_types(), side.indexer).drain()
    await side.indexer.drain()
    return count


async def live(side: Side) -> dict[str, Node]:
    return {uid: node for uid, node in (await side.nodes()).items() if node.retired_at is None}


async def test_statements_and_edges_of_an_item_expire_with_it(side: Side) -> None:
    await tell(side)
    nodes = await side.nodes()
    item = next(node for node in nodes.values() if node.source_id == "b")
    edges = [edge for edge in (await side.edges()).values() if edge.properties.get(SOURCE_ITEM) == item.uid]
    told = {uid for edge in edges for uid in (edge.source, edge.target)} - {item.uid}
    ending = {nodes[uid].label for uid in told if nodes[uid].expires_at == OVER}
    assert ending == {Label.EVENT, Label.CHUNK}
    assert not [uid for uid in told if nodes[uid].label is Label.EVENT and nodes[uid].expires_at != OVER]
    assert {edge.type for edge in edges} >= {"CAUSED", "INITIATED", "RELATED_TO", "MENTIONS", "EVIDENCED_BY"}


async def test_an_expired_item_is_in_no_answer_before_it_is_retired(side: Side) -> None:
    await tell(side)
    asker = GraphClient(side.graph)
    before = await asker.ask("walk", start=["ben"], context="c", hops=2)
    assert "hates" in {edge.desc for edge in before.edges}
    for fields in ({"query_time": AFTER.isoformat()}, {"query_time": AFTER.isoformat(), "as_of": START.isoformat()}):
        walk = await asker.ask("walk", start=["ben"], context="c", hops=3, statements=True, **fields)
        assert "hates" not in {edge.desc for edge in walk.edges}
        assert "CAUSED" not in {edge.type for edge in walk.edges}
        assert "b" not in {node.id for node in walk.nodes}
        answer = await side.retrieve({"query": "Why did Clara leave Porto?", "query_time": fields["query_time"]}, "t")
        assert {result.id for result in answer.results} == {"a", "c"}
        assert not any("bridge" in (node.text or "") for node in answer.graph.nodes)


async def test_entities_that_rest_only_on_an_expired_item_are_retired(side: Side, at: Any) -> None:
    await tell(side)
    assert await sweep(side) == 0, "its time is not over yet"
    at(AFTER)
    assert await sweep(side) == 1
    assert await sweep(side) == 0
    find_residue = await live(side)
    names = {node.name for node in find_residue.values() if node.content_hash is None and node.label is not Label.CHUNK}
    assert {"Ben", "tea", "Lisbon"} <= names
    assert names.isdisjoint({"Clara", "Porto", "fire"})
    assert not any("bridge" in (node.text or "") for node in find_residue.values())
    assert await look_up(side.graph, "t", ["clara", "porto"]) == {}
    (item,) = [node for node in (await side.nodes()).values() if node.source_id == "b" and node.label is Label.EVENT]
    assert (item.retired_at, item.valid_to) == (AFTER, OVER)
    edges = list((await side.edges()).values())
    assert not [
        e for e in edges if e.properties.get(SOURCE_ITEM) == item.uid and {e.source, e.target} <= find_residue.keys()
    ]
    after = {find_residue[e.source].source_id: find_residue[e.target].source_id for e in edges if e.type == "NEXT"}
    assert after["a"] == "c"
    assert (await side.check()).violations == []


async def logged(side: Side) -> list[MaintenanceStep]:
    return await side.graph.scan(Steps(), limit=1000)


async def test_an_expiry_is_logged_once_without_the_text(side: Side, at: Any) -> None:
    await tell(side)
    assert await logged(side) == []
    at(AFTER)
    await sweep(side)
    await sweep(side)
    (step,) = await logged(side)
    (item,) = [node for node in (await side.nodes()).values() if node.source_id == "b" and node.label is Label.EVENT]
    assert (step.tenant, step.context, step.task, step.outcome) == ("t", "c", EXPIRE, Outcome.DONE)
    assert (step.at, step.subject, step.reason) == (AFTER, item.uid, "")
    assert step.details == {"item": "b", "expired": OVER.isoformat()}


async def test_an_item_that_expires_again_is_logged_again(side: Side, at: Any) -> None:
    await tell(side)
    at(AFTER)
    await sweep(side)
    later = OVER + timedelta(days=1)
    again = turn("b", 1, "My sister Clara left Porto.", expires_at=later.isoformat())
    await side.ingest({"context": "c", "items": [again], "extract": "rules"}, "t", None)
    at(later)
    assert await sweep(side) == 1
    ends = [step.details["expired"] for step in await logged(side)]
    assert ends == [later.isoformat(), OVER.isoformat()]


async def test_log_steps_of_an_erased_item_are_erased_with_it(side: Side, at: Any) -> None:
    fields: dict[str, Any] = {"expires_at": OVER.isoformat()}
    items = [turn("vermilion-lockbox", 0, "Quirin keeps it.", **fields), turn("x", 1, "Nobody knows.", **fields)]
    await side.ingest({"context": "c", "items": items, "extract": "rules"}, "t", None)
    await side.indexer.drain()
    at(AFTER)
    assert await sweep(side) == 2
    assert len(await logged(side)) == 2
    done = await erase(side, await choose_items(side.graph, "t", ["vermilion-lockbox"], None))
    assert done.steps == 1
    assert [step.details["item"] for step in await logged(side)] == ["x"]


async def test_an_expired_macro_event_is_logged_once_and_erased_with_its_items(side: Side, at: Any) -> None:
    fields: dict[str, Any] = {"expires_at": OVER.isoformat()}
    items = [turn(name, n, f"We spoke of ship {name}.", **fields) for n, name in enumerate(("a", "b", "c"))]
    await side.ingest({"context": "c", "items": items, "extract": "rules"}, "t", None)
    await side.indexer.drain()
    macro = await consolidate(side, await draft(side, (await thread(side))[:2]))
    at(AFTER)
    assert await sweep(side) == 2
    told = {step.subject: step.details for step in await logged(side)}
    assert told.pop(macro.uid) == {"item": None, "expired": OVER.isoformat(), "flow": "f", "sources": 2}
    assert [details["item"] for details in told.values()] == ["c"]
    erasing = eraser(side)
    erasure = await erasing.begin(await choose_items(side.graph, "t", ["b"], None))
    assert (await erasing.run(erasure)).steps == 1
    await side.indexer.drain()
    assert await find_residue(side, await fingerprints_of(side.graph.erasures, erasure)) == []
    assert [step.details["item"] for step in await logged(side)] == ["c"]


async def test_a_query_time_before_expiry_still_finds_the_item(side: Side, at: Any) -> None:
    await tell(side)
    at(AFTER)
    await sweep(side)
    before = (OVER - timedelta(minutes=1)).isoformat()
    asked = {"query": "Why did Clara leave Porto?", "as_of": before}
    assert "b" not in {one.id for one in (await side.retrieve(asked | {"query_time": AFTER.isoformat()}, "t")).results}
    assert "b" in {one.id for one in (await side.retrieve(asked | {"query_time": before}, "t")).results}


async def test_an_expired_item_that_is_sent_again_is_extracted_anew(side: Side, at: Any) -> None:
    await tell(side)
    at(AFTER)
    await sweep(side)
    again = turn("b", 1, "My sister Clara left Porto because the bridge burned.")
    response = await side.ingest({"context": "c", "items": [again], "extract": "rules"}, "t", None)
    assert response.items[0].status == "created"
    assert {node.name for node in (await live(side)).values()} >= {"Clara", "Porto"}
    at(AFTER + timedelta(days=1))
    assert await sweep(side) == 0
    await side.indexer.drain()
    assert (await side.check()).violations == []


async def test_expiry_retires_many_items_of_all_tenants(side: Side, at: Any) -> None:
    items = [{"id": f"i{n}", "text": f"note {n}", "expires_at": OVER.isoformat()} for n in range(130)]
    for tenant, context in (("t", "c"), ("u", "c"), ("u", "d")):
        await side.ingest({"context": context, "items": items, "extract": "none"}, tenant, None)
    at(OVER)
    assert await sweep(side) == 390
    assert not [node for node in (await live(side)).values() if node.label is not Label.CONTEXT]
