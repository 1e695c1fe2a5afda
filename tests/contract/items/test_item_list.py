"""Items in pages: every store lists the items that a plain Python predicate accepts, in the order it sorts them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from support.generators.example_count import TIMES
from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_core.filters.compiler import compile_filter
from vicw_core.filters.order import listing_place
from vicw_core.filters.predicate import ItemFields, accepts
from vicw_retrieval.access.scope import may_see
from vicw_shared.model import Edge, Label, Node, Sensitivity
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import Audience, ContextPart, ListingQuery, NamePage, Scope, SpeakerPage, SpeakerPart
from vicw_shared.settings import LimitSettings
from vicw_shared.text import fold_case
from vicw_shared.uids import make_uid
from vicw_shared.wire.filters import Filter
from vicw_stores.sqlite import SqliteGraphStore

_TAGS, _USERS, _PEOPLE = ("Sea", "red tape", "sky"), ("u1", "u2"), ("Ana", "Ben")
_CONTEXTS, _SPEAKERS, _FLOWS = ("c", "c/2", "C", "d%_"), ("Ana", "Ben", None), ("f", "g", None)
_TEXTS = ("1", "", "Büro", "büro", "\U0001f98a")
_VALUES: tuple[Any, ...] = (1, 1.0, 2, -3, 0.1, -0.0, True, False, *_TEXTS, None, [1, "x"], [], {"a": 1})
_KEYS = ("k", "k.l", "ключ", "e[]", 'q"', "k\x01", "k\x01s")
NOW = AT + timedelta(days=100)


class Population:
    """Random items with their tags, users and subjects, of a tenant, beside those of another."""

    def __init__(self, draw: random.Random, count: int) -> None:
        self.draw = draw
        self.nodes: list[Node] = [
            *(node(tag, Label.CONCEPT, subtype="tag") for tag in _TAGS),
            node("sky bucket", Label.CONCEPT, subtype="bucket", aliases=("sea",)),
            *(node(user, subtype="user") for user in _USERS),
            *(node(name, subtype="person", aliases=("Old " + name,)) for name in _PEOPLE),
        ]
        self.edges: list[Edge] = []
        self.items: list[ItemFields] = []
        self.about: dict[str, set[str]] = {}
        for number in range(count):
            self._add(f"item {number}", number)

    def _add(self, name: str, number: int) -> None:
        draw = self.draw
        item = node(
            name,
            draw.choice((Label.EVENT, Label.ENTITY)),
            context=draw.choice(_CONTEXTS),
            domain=draw.choice(("general", "coding")),
            subtype=draw.choice(("note", "message")),
            speaker=draw.choice(_SPEAKERS),
            source=draw.choice((None, "mail/1", "mail/2", "file")),
            source_id=draw.choice((None, "a/b#c", f"id {number}")),
            flow_id=draw.choice(_FLOWS),
            content_hash="h",
            arrival=draw.choice((None, number)),
            created_at=AT + timedelta(days=draw.randrange(3)),
            timestamp=draw.choice((None, AT - timedelta(days=draw.randrange(4)))),
            timestamp_inferred=draw.random() < 0.3,
            importance=draw.choice((None, 0.0, 0.5, 0.7, 1.0)),
            sensitivity=draw.choice((Sensitivity.PUBLIC, *Sensitivity)),
            portable=draw.random() < 0.8,
            retired_at=draw.choice((None, None, None, AT)),
            superseded_at=draw.choice((None, None, AT)),
            expires_at=draw.choice((None, None, AT, NOW + timedelta(days=1))),
            metadata={key: draw.choice(_VALUES) for key in draw.sample(_KEYS, draw.randrange(4))},
        )
        tags = draw.sample(_TAGS, draw.randrange(3))
        users = draw.sample(_USERS, draw.randrange(2))
        people = draw.sample(_PEOPLE, draw.randrange(2))
        self.nodes.append(item)
        self.edges += [edge("TAGGED", name, tag) for tag in tags]
        self.edges += [edge("TAGGED", name, "sky bucket")] if draw.random() < 0.2 else []
        self.edges += [edge("STATED_BY", name, user) for user in users]
        self.edges += [edge("ABOUT", name, person) for person in people]
        self.items.append(ItemFields(item, frozenset(map(fold_case, tags)), frozenset(users)))
        self.about[item.uid] = {fold_case(known) for person in people for known in (person, "Old " + person)}

    def filter(self, depth: int = 2) -> dict[str, Any]:
        """Return a random filter of one or two conditions."""
        conditions = [self._condition(depth) for _ in range(self.draw.choice((1, 1, 2)))]
        return {name: value for condition in conditions for name, value in condition.items()}

    def _condition(self, depth: int) -> dict[str, Any]:
        draw = self.draw
        kind = draw.randrange(11 if depth else 8)
        if kind >= 8:
            inner = [self.filter(depth - 1) for _ in range(2)]
            return {"not": inner[0]} if kind == 8 else {"any" if kind == 9 else "all": inner}
        if kind == 0:
            tags = draw.sample((*_TAGS, "nothing"), 2)
            return {"tags": {draw.choice(("any", "all", "none")): tags}}
        if kind in {1, 2}:
            return {f"metadata.{draw.choice(_KEYS)}": self._value()}
        if kind == 3:
            return {"importance": draw.choice(({"gte": 0.5}, {"lt": 0.7}, {"exists": False}, 0.5, {"gt": 0, "lte": 1}))}
        if kind == 4:
            window = {"gte": (AT - timedelta(days=1)).isoformat(), "lt": (AT + timedelta(days=2)).isoformat()}
            return {
                draw.choice(("told", "happened", "arrival")): draw.choice((window, {"exists": draw.random() < 0.5}))
            }
        name, values = draw.choice(
            (
                ("context", _CONTEXTS),
                ("speaker", ("Ana", "ana")),
                ("user", _USERS),
                ("source", ("mail/1", "file")),
                ("id", ("a/b#c",)),
                ("flow", ("f", "g")),
                ("label", ("Event", "Entity")),
                ("sensitivity", ("public", "personal")),
                ("uid", tuple(fields.item.uid for fields in self.items[:3])),
            )
        )
        operators = [{"eq": values[0]}, {"in": list(values[:2])}, {"exists": draw.random() < 0.5}]
        operators += [{"prefix": values[0][:1]}] if name not in {"label", "sensitivity", "uid"} else []
        return {name: draw.choice(operators)}

    def _value(self) -> Any:
        draw = self.draw
        scalars = [value for value in _VALUES if isinstance(value, str | int | float)]
        ordered = draw.choice(
            ([v for v in scalars if isinstance(v, str)], [v for v in scalars if not isinstance(v, str | bool)])
        )
        return draw.choice(
            (
                draw.choice(scalars),
                {"in": draw.sample(scalars, 2)},
                {draw.choice(("gt", "gte", "lt", "lte")): draw.choice(ordered)},
                {"gte": min(ordered), "lt": max(ordered)},
                {"exists": draw.random() < 0.5},
            )
        )

    def viewer(self) -> Audience | None:
        draw = self.draw
        identities = (draw.choice(("ana", "old ben", "nobody")),)
        return draw.choice((None, Audience(identities=identities, private=draw.random() < 0.5, context="c")))

    def expected(self, query: ListingQuery) -> list[str]:
        """Return the uids that a query lists, by plain Python."""
        scope = replace(query.scope, with_past=True)
        kept = [
            fields.item
            for fields in self.items
            if may_see(scope, replace(fields.item, retired_at=None), self.about[fields.item.uid])
            and (query.retired or fields.item.retired_at is None)
            and accepts(query.condition, fields)
        ]
        kept.sort(key=lambda item: listing_place(query.order, item), reverse=query.descending)
        return [item.uid for item in kept]


async def pages(graph: Graph, query: ListingQuery, size: int) -> list[str]:
    """Return the uids of all pages, each of which begins behind the last item of the one before."""
    found: list[Node] = []
    while page := await graph.list_items(query, size):
        found += page
        query = replace(query, after=listing_place(query.order, page[-1]))
    return [item.uid for item in found]


def condition_of(sent: dict[str, Any]) -> Any:
    return compile_filter(Filter.model_validate(sent), LimitSettings(filter_values=1000))


def scopes(draw: random.Random, population: Population) -> Scope:
    contexts = draw.choice((None, None, ("c",), ("c", "C"), ("none",), ()))
    return Scope(tenant="t", now=NOW, contexts=contexts, audience=population.viewer())


@pytest.mark.parametrize("seed", range(3 * TIMES))
async def test_every_store_lists_what_plain_python_lists(graph: Graph, seed: int) -> None:
    draw = random.Random(seed)
    population = Population(draw, 60)
    await put(graph, population.nodes, population.edges)
    # Neo4j compiles a plan for each shape of a filter.
    for _ in range(40 if isinstance(graph, SqliteGraphStore) else 8):
        sent = population.filter()
        query = ListingQuery(
            scope=scopes(draw, population),
            condition=condition_of(sent),
            order=draw.choice(list(ItemOrder)),
            descending=draw.random() < 0.5,
            retired=draw.random() < 0.3,
        )
        size = draw.choice((3, 20, 100))
        assert await pages(graph, query, size) == population.expected(query), (sent, query)


async def test_each_item_is_listed_once_while_items_are_written_changed_and_retired(graph: Graph) -> None:
    draw = random.Random(0)
    old = [node(f"old {n}", content_hash="h", arrival=n, importance=draw.choice((None, 0.5))) for n in range(40)]
    for order in ItemOrder:
        for descending in (False, True):
            await put(graph, old)
            query = ListingQuery(scope=Scope(tenant="t", now=NOW), order=order, descending=descending)
            seen: list[str] = []
            for turn in range(100):
                page = await graph.list_items(query, 5)
                if not page:
                    break
                seen += [item.uid for item in page]
                query = replace(query, after=listing_place(order, page[-1]))
                new = node(f"new {order} {descending} {turn}", content_hash="h", arrival=100 + turn, importance=0.1)
                await put(graph, [new, replace(page[0], name="changed"), replace(page[-1], retired_at=AT)])
            assert sorted(uid for uid in seen if uid in {item.uid for item in old}) == sorted(i.uid for i in old)
            assert len(seen) == len(set(seen))


async def test_another_tenants_items_are_not_listed(graph: Graph) -> None:
    await put(graph, [node("theirs", content_hash="h", tenant="other")], tenant="other")
    await put(graph, [node("mine", content_hash="h")])
    for order in ItemOrder:
        query = ListingQuery(scope=Scope(tenant="t", now=NOW), order=order, retired=True)
        assert await pages(graph, query, 10) == [make_uid("mine")]


async def test_metadata_that_changes_is_filtered_by_its_new_values(graph: Graph) -> None:
    first = node("x", content_hash="h", metadata={"k": 1})
    await put(graph, [first])
    await put(graph, [replace(first, metadata={"k": 2})])

    async def listed(value: int) -> Sequence[str]:
        query = ListingQuery(scope=Scope(tenant="t", now=NOW), condition=condition_of({"metadata.k": value}))
        return await pages(graph, query, 10)

    assert (await listed(1), await listed(2)) == ([], [first.uid])


@pytest.mark.parametrize("seed", range(2))
async def test_contexts_are_counted_by_what_is_listed(graph: Graph, seed: int) -> None:
    population = Population(random.Random(seed), 60)
    proofs = [node(f"passage {n}", Label.CHUNK, text="\U0001f98a" * n) for n in range(60)]
    edges = [edge("EVIDENCED_BY", f"item {n}", f"passage {n}") for n in range(60)]
    await put(graph, [*population.nodes, *proofs], [*population.edges, *edges])
    await graph.outbox.acknowledge(await graph.outbox.claim(20, seconds=60))
    known = await graph.nodes("t", [proof.uid for proof in proofs])
    indexed = {make_uid(f"item {n}"): known[proof.uid].indexed for n, proof in enumerate(proofs)}
    assert sum(indexed.values()) == 20
    chars = {make_uid(f"item {n}"): n for n in range(60)}
    for retired in (False, True, False, True):
        scope = scopes(population.draw, population)
        items = {uid: fields.item for fields in population.items for uid in [fields.item.uid]}
        parts: dict[tuple[str, str, Label], list[Node]] = {}
        for uid in population.expected(ListingQuery(scope=scope, retired=retired)):
            item = items[uid]
            if (item.retired_at is not None) == retired:
                parts.setdefault((item.context, item.domain, item.label), []).append(item)
        assert await graph.context_parts(scope, retired=retired) == [
            ContextPart(
                *key,
                items=len(group),
                first=min(item.timestamp or item.created_at for item in group),
                last=max(item.timestamp or item.created_at for item in group),
                passages=len(group),
                chars=sum(chars[item.uid] for item in group),
                indexed=sum(indexed[item.uid] for item in group),
            )
            for key, group in sorted(parts.items())
        ]


@pytest.mark.parametrize("seed", range(2))
async def test_speakers_are_counted_by_what_is_listed(graph: Graph, seed: int) -> None:
    population = Population(random.Random(seed), 60)
    claimed = node("somebody", Label.ENTITY, subtype="person")  # no user: the item is still of its speaker alone
    await put(graph, [*population.nodes, claimed], [*population.edges, edge("STATED_BY", "item 0", "somebody")])
    items = {fields.item.uid: fields for fields in population.items}
    for _ in range(3):
        scope = scopes(population.draw, population)
        groups: dict[tuple[str | None, str | None, str], list[Node]] = {}
        for uid in population.expected(ListingQuery(scope=scope)):
            item, users = items[uid].item, items[uid].users
            if users or item.speaker is not None:
                groups.setdefault((min(users, default=None), item.speaker, item.context), []).append(item)
        told = {key: [item.timestamp or item.created_at for item in group] for key, group in groups.items()}
        expected = {SpeakerPart(*key, len(times), min(times), max(times)) for key, times in told.items()}
        found = await graph.speaker_parts(scope)
        assert (set(found), len(found)) == (expected, len(expected))


async def test_pages_of_counts_are_those_of_all(graph: Graph) -> None:
    population = Population(random.Random(3), 60)
    await put(graph, population.nodes, population.edges)
    for scope in (Scope(tenant="t", now=NOW), *(scopes(population.draw, population) for _ in range(3))):
        contexts, speakers = await graph.context_parts(scope), await graph.speaker_parts(scope)
        for prefix in ("", "c", "d%", "u", "A"):
            named, said = NamePage(prefix=prefix, limit=2), SpeakerPage(prefix=prefix, limit=2)
            for _ in range(4):
                parts, spoken = await graph.context_parts(scope, page=named), await graph.speaker_parts(scope, said)
                assert parts == named.parts_of(contexts)
                assert sorted(map(str, spoken)) == sorted(map(str, said.parts_of(speakers)))
                named = replace(named, after=parts[-1].context if parts else named.after)
                said = replace(said, after=max((part.key for part in spoken), default=said.after))


@pytest.mark.parametrize("seed", range(2))
async def test_arrivals_are_counted_by_day_of_what_is_listed(graph: Graph, seed: int) -> None:
    population = Population(random.Random(seed), 60)
    await put(graph, population.nodes, population.edges)
    items = {fields.item.uid: fields.item for fields in population.items}
    for since in (AT - timedelta(days=1), AT + timedelta(days=1), AT + timedelta(seconds=1), AT + timedelta(days=9)):
        scope = scopes(population.draw, population)
        listed = [items[uid] for uid in population.expected(ListingQuery(scope=scope))]
        days = Counter(item.created_at.date() for item in listed if item.created_at >= since)
        found = await graph.arrivals_by_day(scope, since)
        assert (found, list(found)) == (days, sorted(days))


async def test_a_day_begins_at_midnight_of_utc(graph: Graph) -> None:
    midnight = datetime(2026, 1, 20, tzinfo=UTC)
    for name, at in (("a", midnight - timedelta(microseconds=1)), ("b", midnight), ("c", midnight)):
        await put(graph, [node(name, content_hash="h", arrival=1, created_at=at)])
    found = await graph.arrivals_by_day(Scope(tenant="t", now=NOW), midnight - timedelta(days=1))
    assert found == {date(2026, 1, 19): 1, date(2026, 1, 20): 2}
