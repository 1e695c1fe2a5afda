"""Items taken back by a filter, and what a dry run counts, on either pair of stores."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from contract.items.test_filtered_search import by_predicate, drawn_filter, fill
from contract.sleep.test_consolidation import consolidate, draft, tell, thread, turn
from support.generators.example_count import TIMES
from support.stores.graph_records import Graph
from support.stores.pairs import Side, asked_for
from vicw_shared.clock import now
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import Node
from vicw_shared.ports import ListingQuery, Scope
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.retract import RetractedStatus


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def listed(side: Side) -> set[str | None]:
    scope = Scope(tenant="t", now=now())
    return {item.source_id for item in await side.graph.list_items(ListingQuery(scope=scope), 1000)}


@pytest.mark.parametrize("seed", range(TIMES))
async def test_what_plain_python_accepts_is_taken_back(side: Side, seed: int) -> None:
    draw = random.Random(seed)
    await fill(side, draw, 40)
    for _ in range(5):
        sent = drawn_filter(draw)
        before, expected = await listed(side), await by_predicate(side, sent, Scope(tenant="t", now=now()))
        told = await side.retract({"filter": sent, "dry_run": True}, "t")
        assert (told.selected, told.counts[RetractedStatus.RETRACTED]) == (len(expected), len(expected)), sent
        assert await listed(side) == before, "a dry run changes nothing"
        done = await side.retract({"filter": sent}, "t")
        assert {item.id for item in done.items} == expected, sent
        assert await listed(side) == before - expected, sent


async def test_only_the_named_context_and_tenant_are_touched(side: Side) -> None:
    for context, tenant in (("a", "t"), ("b", "t"), ("a", "other")):
        item = {"id": f"{context} of {tenant}", "text": "The gate is shut.", "metadata": {"k": 1}}
        await side.ingest({"context": context, "items": [item]}, tenant, None)
    done = await side.retract({"context": "a", "filter": {"metadata.k": 1}}, "t")
    assert (done.context, [item.id for item in done.items]) == ("a", ["a of t"])
    again = await side.retract({"context": "a", "filter": {"metadata.k": 1}}, "t")
    assert (again.selected, again.items) == (0, ())
    assert (await side.retract({"filter": {"metadata.k": 1}, "dry_run": True}, "other")).selected == 1


async def test_a_request_takes_back_as_many_as_one_may_and_the_next_goes_on(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [{"id": str(n), "text": f"The gate number {n} is shut.", "tags": ["gate"]} for n in range(7)]
    await side.ingest({"context": "a", "items": [*items, {"id": "other", "text": "The well is dry."}]}, "t", None)
    monkeypatch.setattr("support.stores.pairs.LimitSettings", lambda: LimitSettings(items=3))
    rounds = []
    while True:
        done = await side.retract({"filter": {"tags": "GATE"}}, "t")
        rounds.append((done.selected, len(done.items)))
        if not done.items:
            break
    assert rounds == [(7, 3), (4, 3), (1, 1), (0, 0)]
    assert await listed(side) == {"other"}


async def test_what_one_request_takes_back_is_all_that_it_reads(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [{"id": str(n), "text": f"The gate number {n} is shut.", "tags": ["gate"]} for n in range(30)]
    await side.ingest({"context": "a", "items": items}, "t", None)
    monkeypatch.setattr("support.stores.pairs.LimitSettings", lambda: LimitSettings(items=3))
    stored = {node.uid for node in await side.graph.list_items(ListingQuery(scope=Scope(tenant="t", now=now())), 1000)}
    read: set[str] = set()
    nodes = type(side.graph).nodes

    async def reading(graph: Graph, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        read.update(stored.intersection(uids))
        return await nodes(graph, tenant, uids)

    monkeypatch.setattr(type(side.graph), "nodes", reading)
    told = await side.retract({"filter": {"tags": "gate"}, "dry_run": True}, "t")
    assert (told.selected, {item.uid for item in told.items}) == (30, read)


async def test_an_item_counts_by_what_it_is_now(side: Side) -> None:
    await side.ingest({"context": "a", "items": [{"id": "k", "text": "The gate.", "metadata": {"k": 1}}]}, "t", None)
    await side.patch("k", {"metadata": {"k": 2}}, "t", "a")
    assert (await side.retract({"filter": {"metadata.k": 1}}, "t")).selected == 0
    assert (await side.retract({"filter": {"metadata.k": 2}}, "t")).selected == 1


async def test_a_consolidated_item_is_chosen_by_its_own_fields(side: Side) -> None:
    fields = [{"metadata": {"n": n}, "tags": [f"tag {n}"], "user": f"u{n}"} for n in range(4)]
    await tell(side, [turn(n, f"The gate number {n} is shut.", **fields[n]) for n in range(4)])
    await consolidate(side, await draft(side, await thread(side)))
    for sent, ids in (
        ({"metadata.n": 2}, ["2"]),
        ({"tags": "TAG 1"}, ["1"]),
        ({"user": "u3"}, ["3"]),
        ({"metadata.n": {"lt": 2}, "tags": {"none": ["tag 0"]}}, ["1"]),
    ):
        told = await side.retract({"filter": sent, "dry_run": True}, "t")
        assert [item.id for item in told.items] == ids, sent
    done = await side.retract({"filter": {"metadata.n": 2}}, "t")
    assert [(item.id, item.status.value) for item in done.items] == [("2", "retracted")]
    assert (await side.retract({"filter": {"metadata.n": 2}}, "t")).selected == 0
    assert (await side.retract({"filter": {"metadata.n": {"gte": 0}}, "dry_run": True}, "t")).selected == 3


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"filter": {}}, "filter"),
        ({"filter": {"not": {}}}, "filter"),
        ({"filter": {"label": "Thing"}}, "filter.label"),
        ({"filter": {"tags": "a"}, "uids": ["a"]}, "filter"),
        ({"uids": ["a"], "all": True}, "all"),
        ({"all": True}, "ids"),
    ],
    ids=str,
)
async def test_a_request_that_is_unclear_changes_nothing(side: Side, body: dict[str, Any], field: str) -> None:
    await side.ingest({"context": "a", "items": [{"id": "1", "text": "The gate."}]}, "t", None)
    with pytest.raises(InvalidInputError) as refused:
        await side.retract(body, "t")
    assert refused.value.problems[0].field == field
    assert await listed(side) == {"1"}


async def test_all_may_be_meant(side: Side) -> None:
    await side.ingest({"context": "a", "items": [{"id": "1", "text": "The gate."}]}, "t", None)
    assert (await side.retract({"filter": {}, "all": True}, "t")).selected == 1
    assert await listed(side) == set()
