"""What every GraphStore knows of what things are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.names import ATTRIBUTE
from vicw_shared.ports import Direction, GraphTransaction, NamedNodes, NameMatch, NameQuery, look_up
from vicw_shared.text import fold_case
from vicw_shared.uids import make_uid

LONG = "x" * 9000


def person(name: str, **fields: object) -> Node:
    return replace(node(name, subtype="person"), **fields)  # type: ignore[arg-type]


def names(found: dict[str, list[Node]]) -> dict[str, list[str]]:
    return {name: sorted(thing.name for thing in things) for name, things in found.items()}


async def names_in_transaction(graph: Graph, wanted: Sequence[str], *, context: str = "c") -> dict[str, list[str]]:
    async def work(transaction: GraphTransaction) -> dict[str, list[Node]]:
        return await transaction.named([fold_case(name) for name in wanted])

    return names(await graph.write("t", context, work))


async def test_entities_and_concepts_are_found_by_name_in_any_casing(graph: Graph) -> None:
    wizard = replace(node("Wizard", Label.CONCEPT, subtype="class"), uid=make_uid("class"))
    await put(graph, [person("Wizard"), wizard, person("Ana"), person(LONG)])
    assert await names_in_transaction(graph, ["WIZARD", "ana ", "nobody", LONG]) == {
        "wizard": ["Wizard", "Wizard"],
        "ana": ["Ana"],
        LONG: [LONG],
    }
    assert await names_in_transaction(graph, []) == {}
    assert await names_in_transaction(graph, ["ana"], context="other") == {}
    assert await look_up(graph, "u", ["ana"]) == {}


async def test_names_find_only_live_entities_and_no_items(graph: Graph) -> None:
    event, chunk = node("fire", Label.EVENT), node("proof", Label.CHUNK, text="t")
    await put(graph, [event, chunk, node("file", content_hash="h"), person("Ben", retired_at=AT), person("Ana")])
    wanted = ["fire", "proof", "file", "ben", "ana"]
    assert await names_in_transaction(graph, wanted) == {"ana": ["Ana"]}
    await put(graph, [person("Ana", retired_at=AT), person("Ben")])
    assert await names_in_transaction(graph, wanted) == {"ben": ["Ben"]}


async def test_an_entity_is_found_by_its_aliases(graph: Graph) -> None:
    ana = person("Ana")
    await put(graph, [ana])
    await put(graph, [replace(ana, name="Ana Souza", aliases=("Ana", "A. Souza"))])
    assert await names_in_transaction(graph, ["ana", "a. souza", "ana souza"]) == {
        "ana": ["Ana Souza"],
        "a. souza": ["Ana Souza"],
        "ana souza": ["Ana Souza"],
    }
    assert (await graph.nodes("t", [ana.uid]))[ana.uid].aliases == ("Ana", "A. Souza")
    await put(graph, [replace(ana, name="Anna")])
    assert await names_in_transaction(graph, ["ana", "a. souza", "ana souza", "anna"]) == {"anna": ["Anna"]}
    assert await look_up(graph, "t", ["souza"], by=NameMatch.WORD) == {}


async def test_a_person_is_found_by_one_word_of_the_name(graph: Graph) -> None:
    people = [person("Ana Souza"), person("Ana van Dijk"), person("J. Smith"), person("Jean-Luc O'Neil")]
    others = [node("deep learning", Label.CONCEPT), node("v 2 beta"), node("one two three four five"), node("Souza")]
    await put(graph, [*people, *others])
    words = ["ana", "souza", "van", "j", "smith", "jean-luc", "o'neil", "deep", "beta", "three"]
    assert names(await look_up(graph, "t", words, by=NameMatch.WORD)) == {
        "ana": ["Ana Souza", "Ana van Dijk"],
        "souza": ["Ana Souza"],
        "smith": ["J. Smith"],
        "jean-luc": ["Jean-Luc O'Neil"],
        "o'neil": ["Jean-Luc O'Neil"],
    }


async def test_an_entity_is_found_by_a_prefix_of_a_name_or_word(graph: Graph) -> None:
    inn = person("The Old Quibblegate", aliases=("Quibble House", "Bad%_Name"))
    others = [person("Quibble"), node("quibbling at law", Label.CONCEPT), person("Quib", retired_at=AT)]
    away = replace(person("Quibbleton"), context="d")
    await put(graph, [inn, *others, away, node("Quibbles", content_hash="h"), person(LONG), person("Zoé")])

    async def begun(*beginnings: str, **where: Any) -> dict[str, list[str]]:
        return names(await look_up(graph, "t", beginnings, limit=9, **where, by=NameMatch.BEGINNING))

    within = {"contexts": ["c"]}
    assert await begun("quibble", "qu", **within) == {
        "quibble": ["The Old Quibblegate"],
        "qu": ["Quibble", "The Old Quibblegate", "quibbling at law"],
    }, "a thing comes once, and none for what is its name"
    assert (await begun("quibble"))["quibble"] == ["Quibbleton", "The Old Quibblegate"]
    assert await begun("house", "gate", "quibblegate", "bad", "%", "x" * 20, **within) == {
        "bad": ["The Old Quibblegate"],
        "x" * 20: [LONG],
    }, "whatever signs it has; a whole word goes on to nothing"
    assert await begun("quibble", contexts=[]) == {}
    assert await begun() == {}
    assert await look_up(graph, "u", ["quibble"], limit=9, by=NameMatch.BEGINNING) == {}
    assert len((await look_up(graph, "t", ["qu"], limit=2, by=NameMatch.BEGINNING))["qu"]) == 2
    await put(graph, [replace(inn, name="The Mill", aliases=())])
    assert await begun("quibble", **within) == {}


async def test_a_batch_of_name_queries_finds_the_same_as_single_queries(graph: Graph) -> None:
    page = node("a page", content_hash="h", title="Ana (film)")
    away = replace(person("Ana Lima"), context="d")
    await put(graph, [person("Ana"), person("Ana Souza", aliases=("Nana",)), person("Anatol"), away, page])
    places: list[dict[str, Any]] = [{}, {"contexts": ["c"]}, {"contexts": []}]
    for where in places:
        alone = [
            await look_up(graph, "t", ["ana", "nana"], **where),
            await look_up(graph, "t", ["ana", "souza", "nobody"], by=NameMatch.WORD, limit=1, **where),
            await look_up(graph, "t", ["ana", "sou"], limit=9, **where, by=NameMatch.BEGINNING),
            await look_up(graph, "t", ["ana"], limit=9, **where, by=NameMatch.TITLE),
            {},
        ]
        queries = [
            NameQuery(NameMatch.NAME, ("ana", "nana")),
            NameQuery(NameMatch.WORD, ("ana", "souza", "nobody"), 1),
            NameQuery(NameMatch.BEGINNING, ("ana", "sou"), 9),
            NameQuery(NameMatch.TITLE, ("ana",), 9),
            NameQuery(NameMatch.NAME, ()),
        ]
        at_once = await graph.find_names("t", queries, **where)
        assert [names(found) for found in at_once] == [names(found) for found in alone]
        assert [names(found) for found in await graph.find_names("t", queries[::-1], **where)] == [
            *map(names, alone[::-1])
        ]
    assert await graph.find_names("t", []) == []
    assert await graph.find_names("u", queries) == [{}] * 5


async def test_a_name_look_up_respects_its_limit_per_word(graph: Graph) -> None:
    await put(graph, [person(f"Ana {last * 3}") for last in "abcdefgh"])
    found = await look_up(graph, "t", ["ana", "aaa"], by=NameMatch.WORD, limit=3)
    assert {word: len(things) for word, things in found.items()} == {"ana": 3, "aaa": 1}
    assert len((await look_up(graph, "t", ["ana"], by=NameMatch.WORD, limit=5))["ana"]) == 5


async def test_names_are_searched_in_some_or_all_contexts_of_a_tenant(graph: Graph) -> None:
    await put(graph, [replace(person("Ana"), uid=make_uid("Ana", c), context=c) for c in ("c", "d", "e")])
    everywhere = (await look_up(graph, "t", ["ana"]))["ana"]
    assert sorted(thing.context for thing in everywhere) == ["c", "d", "e"]
    some = (await look_up(graph, "t", ["ana"], contexts=["d", "e", "none"]))["ana"]
    assert sorted(thing.context for thing in some) == ["d", "e"]
    assert await look_up(graph, "t", ["ana"], contexts=[]) == {}
    assert await look_up(graph, "t", []) == {}


async def test_a_transaction_finds_its_own_writes_by_name(graph: Graph) -> None:
    async def work(transaction: GraphTransaction) -> list[dict[str, list[Node]]]:
        await transaction.put_nodes([person("Ana")])
        first = await transaction.named(["ana"])
        await transaction.put_nodes([person("Ana", retired_at=AT)])
        return [first, await transaction.named(["ana"])]

    first, second = await graph.write("t", "c", work)
    assert (names(first), second) == ({"ana": ["Ana"]}, {})


async def test_named_nodes_are_listed_by_name_in_pages(graph: Graph) -> None:
    called = ["Ana", "ana", "Zoé", "Ben", "an", "anb", "\U0001f98a", LONG, f"{LONG}y"]
    things = [replace(person(name), uid=make_uid("thing", name)) for name in called]
    away = replace(person("Ann"), context="d")
    tag = node("anchor", Label.CONCEPT, subtype="Tag")
    slot = node("ana's age", Label.CONCEPT, subtype=ATTRIBUTE)
    await put(graph, [*things, tag, slot, away, node("and so on", content_hash="h"), person("ancient", retired_at=AT)])

    async def listed(**only: str) -> list[str]:
        found: list[Node] = []
        after = None
        while page := await graph.scan(NamedNodes(tenant="t", context="c", **only), after=after, limit=2):
            found += page
            after = (fold_case(page[-1].name), page[-1].uid)
        assert len({thing.uid for thing in found}) == len(found)
        return [thing.name for thing in found]

    everything = await listed()
    assert sorted(everything) == sorted([*called, "anchor"])
    assert [fold_case(name) for name in everything if len(name) < 99] == sorted(
        fold_case(name) for name in [*called, "anchor"] if len(name) < 99
    )
    assert [fold_case(name) for name in await listed(prefix="an")] == ["an", "ana", "ana", "anb", "anchor"]
    assert await listed(prefix="an", subtype="tag") == ["anchor"]
    assert await listed(prefix="an", subtype=ATTRIBUTE) == ["ana's age"]
    assert await listed(prefix="q") == []
    assert await graph.scan(NamedNodes(tenant="u", context="c"), limit=9) == []


async def test_degrees_count_edges_other_than_merges_and_context(graph: Graph) -> None:
    await put(
        graph,
        [node(name) for name in "abc"] + [node("root", Label.CONTEXT)],
        [
            edge("RELATED_TO", "a", "b"),
            edge("DEPENDS_ON", "b", "a"),
            edge("MERGED_INTO", "a", "c"),
            edge("BELONGS_TO", "a", "root"),
        ],
    )
    a, b, c = map(make_uid, "abc")
    assert await graph.degrees("t", [a, b, c, make_uid("none")]) == {a: 2, b: 2, c: 0}
    assert await graph.degrees("u", [a]) == {}
    assert await graph.degrees("t", []) == {}


async def test_edges_are_read_by_direction(graph: Graph) -> None:
    out, back = edge("RELATED_TO", "a", "b"), edge("RELATED_TO", "b", "a")
    await put(graph, [node("a"), node("b")], [out, back])

    async def work(transaction: GraphTransaction) -> list[list[Edge]]:
        ways = (Direction.OUT, Direction.IN, None)
        return [await transaction.edges([make_uid("a")], ["RELATED_TO"], way) for way in ways]

    leading, coming, both = await graph.write("t", "c", work)
    assert (leading, coming) == ([out], [back])
    assert {found.id for found in both} == {out.id, back.id}
