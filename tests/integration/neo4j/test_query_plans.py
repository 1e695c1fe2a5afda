"""No statement of ours scans: every plan begins at an index, on an empty database as on a filled one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import Any

import neo4j
import pytest

from support.servers.neo4j.server import Neo4jServer
from support.stores.graph_records import AT, edge, node
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import Audience, Direction, GraphTransaction, Scope
from vicw_stores.neo4j import Neo4jGraphStore
from vicw_stores.neo4j.cypher import (
    edges,
    item_list,
    items,
    names,
    nodes,
    outbox,
    pending_extractions,
    records,
    text,
    times,
)

TYPES = tuple(edge_type.name for edge_type in EdgeRegistry.with_core_types())
SPREADS = tuple((name, direction) for name in TYPES for direction in Direction)
SCOPE = Scope(tenant="t", now=AT)
WIDEST = replace(
    SCOPE,
    contexts=("c",),
    domains=("d",),
    tags_any=("a",),
    tags_all=("a", "b"),
    tags_none=("c",),
    as_of=AT,
    known_at=AT,
    audience=Audience(identities=("ana",), context="c"),
)


def statements() -> Iterator[tuple[str, str]]:
    for module in (edges, names, nodes, outbox, records, text, pending_extractions, items, times):
        yield from constants(module)
    yield from ((f"nodes.page {label}", nodes.page(label)) for label in Label)
    yield from ((f"nodes.put {label}", nodes.put(label)) for label in Label)
    yield from ((f"nodes.gaps {flow}", nodes.gaps(flow)) for flow in (True, False))
    yield from ((f"nodes.thread {one}", nodes.thread(descending=one)) for one in (True, False))
    yield from ((f"nodes.links {chain}", nodes.links(chain)) for chain in (NEXT, HAPPENED_AFTER))
    yield from ((f"edges.put {name}", edges.put(name)) for name in TYPES)
    yield from ((f"edges.drop {name}", edges.drop(name)) for name in TYPES)
    yield from ((f"edges.page {name}", edges.page(name)) for name in TYPES)
    yield "edges.touching", edges.touching(TYPES)
    yield "records.leaving", records.leaving(TYPES)
    yield from ((f"edges.touching {way}", edges.touching(TYPES, way)) for way in Direction)
    yield from ((f"names.page {one}", names.page(one)) for one in (True, False))
    yield from ((f"names.find {one}", names.find((False, True), one)) for one in (True, False))
    yield from ((f"names.triggered {one}", names.triggered(one)) for one in (True, False))
    yield from ((f"items.find {one}", items.find(one)) for one in (True, False))
    yield "names.degrees", names.degrees(TYPES)
    yield "edges.told", edges.extracted_edges(TYPES)
    yield "edges.along", edges.along(SPREADS)
    yield "edges.around", edges.around(TYPES)
    yield from ((f"edges.leads {spread}", edges.weighted_neighbours(spread)) for spread in SPREADS)
    yield "edges.isolated", edges.isolated(TYPES)
    yield from (
        (f"pending_extractions.failures {one}", pending_extractions.failures(of_tenant=one)) for one in (True, False)
    )
    yield from (
        (f"pending_extractions.backlog {one}", pending_extractions.backlog(of_tenant=one)) for one in (True, False)
    )
    for of_items in (True, False):
        for of_tenant in (True, False):
            yield (
                f"pending_extractions.replay {of_items} {of_tenant}",
                pending_extractions.replay(of_items=of_items, of_tenant=of_tenant),
            )
    for order in ItemOrder:
        for fixed, started in ((0, False), (0, True), (1, True), (2, True)):
            for one in (True, False):
                page = item_list.page(
                    order, fixed, "i.tenant = $tenant", of_context=one, started=started, descending=one
                )
                yield f"item_list.page {order} {fixed} {started} {one}", page
        for one in (True, False):
            every = item_list.passing("i.tenant = $tenant", order, among=False, of_contexts=one)
            yield f"item_list.passing {order} {one}", every
    some = item_list.passing("i.tenant = $tenant", ItemOrder.ARRIVAL, among=True, of_contexts=False)
    yield "item_list.passing among", some
    for edge_type, statement in item_list.WITH_EDGE.items():
        yield f"item_list.WITH_EDGE {edge_type}", statement
    yield "item_list.context_parts", item_list.context_parts("i.tenant = $tenant")
    yield "item_list.speaker_parts", item_list.speaker_parts("i.tenant = $tenant")
    yield "item_list.arrivals", item_list.arrivals("i.tenant = $tenant")
    yield "outbox.tenants", outbox.tenants()
    yield from ((f"outbox.backlog {one}", outbox.backlog(of_tenant=one)) for one in (True, False))
    yield from ((f"outbox.waiting {one}", outbox.waiting(of_contexts=one)) for one in (True, False))
    for of_items in (True, False):
        for of_tenant in (True, False):
            yield f"outbox.failures {of_items} {of_tenant}", outbox.failures(of_items=of_items, of_tenant=of_tenant)
    for of_points in (True, False):
        for of_tenant in (True, False):
            yield f"outbox.replay {of_points} {of_tenant}", outbox.replay(of_points=of_points, of_tenant=of_tenant)
    for name, scope in (("all", SCOPE), ("widest", WIDEST), ("as_of", replace(SCOPE, as_of=AT))):
        yield f"text.find {name}", text.find(text.inside(scope)[0])


def constants(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name, value in vars(module).items():
        if name[0].isupper() and isinstance(value, str) and re.match("MATCH|MERGE|UNWIND|CALL", value):
            yield f"{module.__name__.rpartition('.')[2]}.{name}", value


def operators(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield plan["operatorType"].partition("@")[0], plan["args"].get("Details", "")
    for child in plan.get("children", []):
        yield from operators(child)


async def fill(graph: Neo4jGraphStore) -> None:
    items = [
        node(
            f"i{n}",
            Label.EVENT if n % 2 else Label.ENTITY,
            content_hash="h",
            source_id=f"s{n}",
            flow_id="f" if n % 2 else None,
            flow_step=n,
            arrival=n if n % 2 else None,
            timestamp=AT + timedelta(seconds=n),
        )
        for n in range(1, 300)
    ]
    chunks = [node(f"k{n}", Label.CHUNK, text="words", text_key=f"k{n % 9}") for n in range(1, 300)]
    tags = [node(f"t{n}", Label.CONCEPT, subtype="tag") for n in range(100)]
    roots = [node(f"c{n}", Label.CONTEXT, context=f"c{n}") for n in range(50)]
    told = [edge("EVIDENCED_BY", f"i{n}", f"k{n}") for n in range(1, 300)]
    told += [edge("TAGGED", f"i{n}", f"t{n % 100}") for n in range(1, 300)]

    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes([*roots, *items, *chunks, *tags])
        await transaction.put_edges(told)

    await graph.write("t", "c", work)


@pytest.mark.parametrize("filled", [False, True])
async def test_no_cypher_statement_plans_a_scan(graph: Neo4jGraphStore, server: Neo4jServer, filled: bool) -> None:
    if filled:
        await fill(graph)
    found = dict(statements())
    assert len(found) > 130
    scans: dict[str, list[tuple[str, str]]] = {}
    with server.driver() as driver, driver.session(notifications_min_severity="OFF") as session:
        for name, statement in found.items():
            summary = session.run(neo4j.Query("EXPLAIN " + statement), VALUES).consume()
            assert summary.plan is not None
            scanning = [op for op in operators(summary.plan) if "Scan" in op[0]]
            if scanning:
                scans[name] = scanning
    assert scans == {}


@pytest.mark.parametrize("chain", [NEXT, HAPPENED_AFTER])
async def test_chain_links_are_read_from_their_index_without_a_full_sort(
    graph: Neo4jGraphStore, server: Neo4jServer, chain: str
) -> None:
    await fill(graph)  # of a few nodes the planner may as well put all in order
    with server.driver() as driver, driver.session(notifications_min_severity="OFF") as session:
        # What the planner knows of the indexes is sampled in the background, and may be of what other tests had stored.
        session.run("CALL db.prepareForReplanning(60)").consume()
        plan = session.run(neo4j.Query("EXPLAIN " + nodes.links(chain)), VALUES).consume().plan
    assert plan is not None
    found = {operator for operator, _ in operators(plan)}
    assert found & {"PartialSort", "PartialTop"}, "only what is at one place is put in order"
    assert not found & {"Sort", "Top"}


VALUES: dict[str, Any] = {
    "listed": "+t",
    "listed_in": "c",
    "either": ["+t", "-t"],
    "of_contexts": ["c"],
    "told_key": 0,
    "happened_key": 0,
    "importance_key": 0.5,
    "arrival_key": 0,
    **{key: ["a"] for key in ("uids", "keys", "ids", "items", "sources", "tenants", "places", "records", "among")},
    **{key: [{"uid": "a"}] for key in ("rows", "points", "counts")},
    "names": [{"name": "a", "term": "a"}],
    "homes": ["a"],
    "contexts": ["a"],
    "spans": [{"start": "a", "end": "b"}],
    "events": [{"uid": "a", "place": "a", "end": "b"}],
    **dict.fromkeys(
        ("after", "uid", "kind", "prefix", "end", "tenant", "tenant_key", "record", "turn", "query", "body", "words"),
        "a",
    ),
    **dict.fromkeys(
        ("limit", "most", "hub", "now", "until", "rest", "before", "created_at", "schema", "since", "day"), 1
    ),
}
"""Plausible values: the planner looks at their types."""


@pytest.mark.parametrize("of_subtype", [False, True])
async def test_name_pages_are_read_from_their_index_without_a_full_sort(
    graph: Neo4jGraphStore, server: Neo4jServer, of_subtype: bool
) -> None:
    await fill(graph)
    with server.driver() as driver, driver.session(notifications_min_severity="OFF") as session:
        session.run("CALL db.prepareForReplanning(60)").consume()
        plan = session.run(neo4j.Query("EXPLAIN " + names.page(of_subtype)), VALUES).consume().plan
    assert plan is not None
    found = {operator for operator, _ in operators(plan)}
    assert found & {"PartialSort", "PartialTop"}, "only names that are alike are put in order"
    assert not found & {"Sort", "Top"}


@pytest.mark.parametrize("of_context", [False, True])
@pytest.mark.parametrize("order", list(ItemOrder))
async def test_item_pages_are_read_from_their_index_without_sorting_what_follows(
    graph: Neo4jGraphStore, server: Neo4jServer, order: ItemOrder, of_context: bool
) -> None:
    await fill(graph)
    with server.driver() as driver, driver.session(notifications_min_severity="OFF") as session:
        session.run("CALL db.prepareForReplanning(60)").consume()
        for fixed, started, descending in ((0, False, True), (0, True, False), (1, True, True), (2, True, False)):
            statement = item_list.page(
                order, fixed, "i.tenant = $tenant", of_context=of_context, started=started, descending=descending
            )
            plan = session.run(neo4j.Query("EXPLAIN " + statement), VALUES).consume().plan
            assert plan is not None
            found = [operator for operator, _ in operators(plan)]
            assert sum(operator in {"Sort", "Top"} for operator in found) <= 1, "only the two labels' pages are merged"
