"""The timeline of a flow follows its NEXT chain, as ``/graph/flow`` does, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.stores.graph_queries import GraphClient
from support.stores.pairs import Side, asked_for
from vicw_retrieval.items.timeline import read_timeline
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_shared.errors import InvalidInputError, MissingRecordError
from vicw_shared.settings import LimitSettings, RetrievalSettings
from vicw_shared.wire.items import ItemPage
from vicw_shared.wire.timeline import TimelineQuery


def turn(item: str, day: int, step: int | None = None, **fields: Any) -> dict[str, Any]:
    told = {"id": item, "text": f"Step {item} was done.", "timestamp": f"2026-02-{day:02}T10:00:00Z", **fields}
    return told | ({"flow_step": step} if step is not None else {})


TURNS = [
    turn("last told", 9, 1),
    turn("second", 5, 2),
    turn("hidden", 4, 3, sensitivity="personal", about=["Sib"]),
    turn("third", 1, 4),
    turn("without a step", 2),
    turn("without a step, later", 3),
    turn("gone", 6, 5),
]
IN_CHAIN = ["last told", "second", "hidden", "third", "without a step", "without a step, later"]


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        for flow, items in (("f", TURNS), ("g", [turn("of another flow", 1, 1)]), (None, [turn("of none", 7)])):
            await opened.ingest({"context": "c", "flow_id": flow, "items": items}, "t", None)
        await opened.ingest({"context": "c/2", "flow_id": "f", "items": [turn("elsewhere", 1, 1)]}, "t", None)
        await opened.retract({"context": "c", "ids": ["gone"]}, "t")
        yield opened


async def page(side: Side, tenant: str = "t", context: str = "c", **query: Any) -> ItemPage:
    settings = (LimitSettings(), RetrievalSettings(), CircuitBreaker())
    ports = RetrievalPorts(side.graph, side.vectors, side.embedder, "", *settings)
    return await read_timeline(context, TimelineQuery.model_validate(query), tenant, ports)


async def ids(side: Side, **query: Any) -> list[str | None]:
    """Return the ids of all pages."""
    found = await page(side, **query)
    items = [item.id for item in found.items]
    while found.next is not None:
        found = await page(side, **query, cursor=found.next)
        items += [item.id for item in found.items]
    return items


async def test_the_timeline_of_a_flow_follows_its_chain(side: Side) -> None:
    by_uid = {item.uid: item.id for item in (await page(side, flow="f")).items}
    answer = await GraphClient(side.graph).ask("flow", flow="f", context="c")
    assert [by_uid[node.uid] for node in answer.nodes] == IN_CHAIN, "as /graph/flow"
    assert await ids(side, flow="f") == IN_CHAIN
    assert await ids(side, flow="f", order="flow", limit=1) == IN_CHAIN
    assert await ids(side, flow="f", direction="desc", limit=2) == IN_CHAIN[::-1]
    by_time = ["third", "without a step", "without a step, later", "hidden", "second", "last told"]
    assert await ids(side, flow="f", order="told") == by_time
    assert (await page(side, flow="f", limit=1)).items[0].text == "Step last told was done."


async def test_hidden_items_take_no_place_on_a_page_of_a_flow(side: Side) -> None:
    visible = [item for item in IN_CHAIN if item != "hidden"]
    assert await ids(side, flow="f", viewer="Ivo", limit=1) == visible
    assert await ids(side, flow="f", viewer="Ivo", direction="desc", limit=2) == visible[::-1]
    assert (await page(side, flow="f", viewer="Ivo", limit=5)).next is None
    assert await ids(side, flow="f", viewer="Sib") == IN_CHAIN


async def test_a_window_of_a_flow_is_of_the_time_told(side: Side) -> None:
    window = {"since": "2026-02-02T10:00:00Z", "until": "2026-02-05T10:00:00Z"}
    assert await ids(side, flow="f", **window) == ["hidden", "without a step", "without a step, later"]
    assert await ids(side, flow="f", since="2026-02-06T00:00:00Z", limit=1) == ["last told"]


async def test_items_that_come_during_the_paging_shift_no_page(side: Side) -> None:
    first = await page(side, flow="f", limit=2)
    await side.ingest({"context": "c", "flow_id": "f", "items": [turn("before all", 1, 0)]}, "t", None)
    await side.retract({"context": "c", "ids": ["second"]}, "t")
    rest = await page(side, flow="f", cursor=first.next)
    assert [item.id for item in (*first.items, *rest.items)] == IN_CHAIN


async def test_what_is_not_there_is_said_of_a_flow_too(side: Side) -> None:
    assert await ids(side, flow="of nobody") == []
    for tenant, context in (("t", "unknown"), ("other", "c")):
        with pytest.raises(MissingRecordError):
            await page(side, tenant, context, flow="f")
    with pytest.raises(InvalidInputError, match="flow"):
        await page(side, order="flow")
    cursor = (await page(side, flow="f", limit=2)).next
    for other in ({"flow": "g"}, {"flow": "f", "direction": "desc"}, {"flow": "f", "order": "told"}):
        with pytest.raises(InvalidInputError, match="cursor"):
            await page(side, **other, cursor=cursor)
