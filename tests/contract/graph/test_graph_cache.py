"""What one question has read of a graph is answered from memory, as the graph would answer it."""

from __future__ import annotations

import random
from typing import Any, cast

from support.stores.graph_records import Graph, edge, node, put
from vicw_retrieval.request.engines import cached_graph
from vicw_shared.model import Label
from vicw_shared.ports import Direction, GraphStore, NameMatch, NameQuery, Spread, look_up
from vicw_shared.uids import make_uid

NODES = 12
TYPES = ("RELATED_TO", "MENTIONS", "NEXT")
SPREADS: tuple[Spread, ...] = tuple((name, way) for name in TYPES for way in Direction)
A, B, C, D = (make_uid(name) for name in "abcd")


class Counted:
    """Counts what a graph is asked."""

    def __init__(self, graph: GraphStore) -> None:
        self.graph = graph
        self.asked: list[str] = []

    def __getattr__(self, operation: str) -> Any:
        self.asked.append(operation)
        return getattr(self.graph, operation)


async def test_the_graph_cache_answers_like_the_graph(graph: Graph) -> None:
    chance = random.Random(5)
    names = [f"n{number}" for number in range(NODES)]
    things = [
        node(name, chance.choice([Label.ENTITY, Label.EVENT]), text=chance.choice([None, name])) for name in names
    ]
    # Weights that differ: which of equal ones comes first is the engine's choice.
    pairs = [(kind, chance.choice(names), chance.choice(names)) for kind in TYPES for _ in range(4 * NODES)]
    edges = [edge(*place, weight=number / 1000) for number, place in enumerate(dict.fromkeys(pairs), start=1)]
    await put(graph, things, edges)
    for _ in range(5):
        memory = cached_graph(graph)
        for _ in range(25):
            uids = [make_uid(name) for name in chance.choices([*names, "nobody"], k=chance.randint(1, 6))]
            spreads, limit = chance.sample(SPREADS, k=chance.randint(1, 4)), chance.choice([1, 2, 5, 20])
            expanded = [await store.expand("t", uids, spreads, limit) for store in (memory, graph)]
            assert expanded[0] == expanded[1]
            one = spreads[0]
            told = [await store.weighted_neighbours("t", uids, one, limit) for store in (memory, graph)]
            assert sorted(map(repr, told[0])) == sorted(map(repr, told[1]))
            for operation in ("nodes", "texts"):
                assert await getattr(memory, operation)("t", uids) == await getattr(graph, operation)("t", uids)
            assert await memory.nodes("u", uids) == {}


async def test_the_graph_cache_reads_no_node_or_edge_twice(graph: Graph) -> None:
    chunk = node("k", Label.CHUNK, text="words")
    item = node("a", Label.EVENT, content_hash="h", qdrant_id=chunk.uid)
    mentions = [edge("MENTIONS", "a", name) for name in "bd"]
    await put(graph, [item, *map(node, "bcd"), chunk], [edge("EVIDENCED_BY", "a", "k"), *mentions])
    counted = Counted(graph)
    memory = cached_graph(cast("GraphStore", counted))
    spreads: list[Spread] = [("MENTIONS", Direction.OUT), ("NEXT", Direction.OUT)]
    first = await memory.expand("t", [A, C], spreads, 5), await memory.owners("t", [chunk.uid])
    assert await memory.nodes("t", [C, chunk.uid])
    assert counted.asked == ["expand", "owners", "nodes"]
    assert (await memory.expand("t", [C, A], spreads[:1], 3), await memory.owners("t", [chunk.uid])) == first
    assert {lead.uid for lead in await memory.weighted_neighbours("t", [A], spreads[0], 9)} == {B, D}
    assert await memory.texts("t", [chunk.uid]) == {chunk.uid: "words"}
    assert set(await memory.nodes("t", [B, C])) == {B, C}
    assert counted.asked == ["expand", "owners", "nodes"], "edges, the nodes at them, and their texts are known"
    await memory.expand("t", [A], spreads, 1)
    assert counted.asked[3:] == ["expand"], "what more there is, or what comes first of equals, the graph knows"


async def test_edges_of_equal_weight_are_ordered_by_id(graph: Graph) -> None:
    edges = [edge("MENTIONS", "a", f"n{number}") for number in range(20)]
    random.Random(7).shuffle(edges)
    await put(graph, [node("a", Label.EVENT), *(node(f"n{number}") for number in range(20))], edges)
    found = await cached_graph(graph).expand("t", [A], [("MENTIONS", Direction.OUT)], 50)
    assert [one.edge.id for one in found] == sorted(one.id for one in edges)


async def test_the_graph_cache_looks_up_a_name_once(graph: Graph) -> None:
    await put(graph, [node("Ana")])
    counted = Counted(graph)
    memory = cached_graph(cast("GraphStore", counted))
    asked = [NameQuery(NameMatch.NAME, ("ana",)), NameQuery(NameMatch.TITLE, ("ana",), 3)]
    assert await memory.find_names("t", asked) == await graph.find_names("t", asked)
    assert await look_up(memory, "t", ["ana"], by=NameMatch.TITLE, limit=3) == {}
    assert counted.asked == ["find_names"]
    assert await memory.find_names("t", asked, contexts=["elsewhere"]) == [{}, {}]
