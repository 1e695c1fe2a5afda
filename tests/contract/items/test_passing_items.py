"""Items that pass a filter, without pages: every store finds those that a plain Python predicate accepts."""

from __future__ import annotations

import random

import pytest

from contract.items.test_item_list import Population, condition_of
from support.generators.example_count import TIMES
from support.stores.graph_records import Graph, node, put
from vicw_core.filters.predicate import accepts
from vicw_shared.ports.item_filter import EVERY, AllOf, Between, OneOf, Present
from vicw_shared.uids import make_uid
from vicw_stores.sqlite import SqliteGraphStore


@pytest.mark.parametrize("seed", range(2 * TIMES))
async def test_every_store_finds_what_plain_python_accepts(graph: Graph, seed: int) -> None:
    draw = random.Random(seed)
    population = Population(draw, 60)
    await put(graph, population.nodes, population.edges)
    uids = [fields.item.uid for fields in population.items]
    for _ in range(40 if isinstance(graph, SqliteGraphStore) else 8):
        sent = population.filter()
        condition = condition_of(sent)
        expected = {fields.item.uid for fields in population.items if accepts(condition, fields)}
        found = await graph.passing_items("t", condition, 1000)
        assert sorted(found) == sorted(expected), sent
        some = draw.sample(uids, 20)
        among = await graph.passing_items("t", condition, 1000, among=[*some, make_uid("none")])
        assert sorted(among) == sorted(expected.intersection(some)), sent
        live = {fields.item.uid for fields in population.items if fields.item.retired_at is None} & expected
        assert set(await graph.passing_items("t", condition, 1000, live=True)) == live, sent
        assert set(await graph.passing_items("t", condition, 1000, among=some, live=True)) == live.intersection(some)
        limit = draw.choice((1, 5))
        first = await graph.passing_items("t", condition, limit)
        assert len(first) == min(limit, len(expected))
        assert set(first) <= expected


async def test_only_items_of_the_tenant_pass(graph: Graph) -> None:
    await put(graph, [node("theirs", content_hash="h", tenant="other", metadata={"k": 1})], tenant="other")
    await put(graph, [node("mine", content_hash="h", metadata={"k": 1}), node("name", metadata={"k": 1})])
    for condition in (EVERY, OneOf("metadata.k", (1,)), OneOf("context", ("c",))):
        assert await graph.passing_items("t", condition, 10) == [make_uid("mine")]
        every = [make_uid(name) for name in ("mine", "theirs", "name")]
        assert await graph.passing_items("t", condition, 10, among=every) == [make_uid("mine")]


async def test_a_few_of_many_are_found_whatever_else_is_required(graph: Graph) -> None:
    """The rare one of two required values leads to them; if neither is rare, all are gone through."""
    items = [
        node(f"item {n}", content_hash="h", metadata={"even": n % 2 == 0, "n": n, "list": [n % 3, n % 3]})
        for n in range(120)
    ]
    await put(graph, items)
    every, odd = Present("metadata.n"), OneOf("metadata.even", (False,))
    rare = Between("metadata.n", low=(117, True))
    for limit in (3, 10, 50, 1000):
        both = await graph.passing_items("t", AllOf((every, AllOf((odd, rare)))), limit)
        assert sorted(both) == sorted(make_uid(f"item {n}") for n in (117, 119)), limit
        twice = await graph.passing_items("t", AllOf((OneOf("metadata.list", (0, 1)), rare)), limit)
        assert sorted(twice) == sorted(make_uid(f"item {n}") for n in (117, 118)), limit
