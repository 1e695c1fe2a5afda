"""Merges, splits and new names, on every GraphStore."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.generators.example_count import TIMES
from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_core.graph.canonical import canonical
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.identity.changes import merge, rename, split
from vicw_ingest.identity.entities import ComparisonScope, candidates, entity_by_uid, list_entities
from vicw_shared.errors import FixableError, InvalidInputError, MissingRecordError, StateConflictError
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.ports import Direction, look_up
from vicw_shared.uids import make_uid

DECISION = MergeDecision("t", AT, EdgeRegistry.with_core_types())
EVERYTHING = ComparisonScope(("c",), None, 0.88, 5000)
NAMES = "abcdef"


def person(name: str, **fields: object) -> Node:
    return replace(node(name, subtype="person"), **fields)  # type: ignore[arg-type]


async def merge_by_name(graph: Graph, one: str, other: str) -> bool:
    return await merge(graph, DECISION, make_uid(one), make_uid(other))


async def split_by_name(graph: Graph, one: str, other: str | None = None) -> bool:
    return await split(graph, DECISION, make_uid(one), make_uid(other) if other else None)


async def canonical_names(graph: Graph, *names: str) -> dict[str, str]:
    called = {make_uid(name): name for name in names}
    return {called[uid]: called[end] for uid, end in (await canonical(graph, "t", called)).items()}


async def edges_of(graph: Graph, *names: str) -> set[tuple[str, str, str]]:
    types = [(edge_type.name, Direction.OUT) for edge_type in DECISION.registry]
    found = await graph.expand("t", [make_uid(name) for name in names], types, 99)
    called = {make_uid(name): name for name in names}
    return {(called[n.edge.source], n.edge.type, called[n.edge.target]) for n in found}


async def test_a_split_undoes_a_merge_and_keeps_other_edges(graph: Graph) -> None:
    told = [edge("RELATED_TO", "a", "b"), edge("RELATED_TO", "b", "c")]
    await put(graph, [person(name) for name in "abc"], told)
    before = await edges_of(graph, *"abc")

    assert await merge_by_name(graph, "a", "b")
    assert not await merge_by_name(graph, "a", "b"), "it was so already"
    assert await edges_of(graph, *"abc") == before | {("a", "MERGED_INTO", "b")}
    assert await canonical_names(graph, *"abc") == {"a": "b", "b": "b", "c": "c"}

    assert await split_by_name(graph, "a")
    assert await edges_of(graph, *"abc") == before | {("a", "DISTINCT_FROM", "b")}
    assert await canonical_names(graph, *"abc") == {"a": "a", "b": "b", "c": "c"}
    assert not await split_by_name(graph, "a", "b")
    assert not await split_by_name(graph, "b", "a")

    assert await merge_by_name(graph, "b", "a"), "who told them apart may think again"
    assert await edges_of(graph, *"abc") == before | {("b", "MERGED_INTO", "a")}


async def test_entities_of_two_contexts_can_be_merged(graph: Graph) -> None:
    away = person("b", context="other")
    await put(graph, [person("a"), away])
    assert await merge_by_name(graph, "a", "b")
    assert await canonical_names(graph, "a", "b") == {"a": "b", "b": "b"}


async def test_a_merge_of_unmergeable_nodes_is_refused_with_the_field_and_the_fix(graph: Graph) -> None:
    item = node("item", content_hash="h")
    mine = [person("a"), person("b"), node("idea", Label.CONCEPT), item, node("event", Label.EVENT)]
    await put(graph, [*mine, person("gone", retired_at=AT)])
    await put(graph, [replace(person("theirs"), tenant="u")], tenant="u")
    for into, says in (
        ("a", "into: is the entity itself"),
        ("idea", "into: 'idea' has the label Concept, the entity has Entity"),
        ("item", "an item"),
        ("event", "a node with the label Event"),
        ("gone", "a retired Entity"),
        ("theirs", "no node has the uid"),
        ("nobody", "no node has the uid"),
    ):
        with pytest.raises(InvalidInputError, match=says):
            await merge_by_name(graph, "a", into)
        with pytest.raises(InvalidInputError, match="apart_from"):
            await split_by_name(graph, "a", into)
    with pytest.raises(InvalidInputError, match=r"entity: .*an item"):
        await merge_by_name(graph, "item", "a")
    with pytest.raises(InvalidInputError, match="entity: no node has the uid x"):
        await merge(graph, DECISION, "x", make_uid("a"))
    assert await edges_of(graph, "a", "b") == set()


async def test_a_merge_that_makes_a_circle_or_a_second_target_is_refused(graph: Graph) -> None:
    await put(graph, [person(name) for name in "abcd"])
    await merge_by_name(graph, "a", "b")
    await merge_by_name(graph, "b", "c")
    with pytest.raises(StateConflictError, match="cycle"):
        await merge_by_name(graph, "c", "a")
    with pytest.raises(StateConflictError, match=r"is merged into .* already"):
        await merge_by_name(graph, "a", "d")
    with pytest.raises(StateConflictError, match="joined by other merges"):
        await split_by_name(graph, "a", "c")
    with pytest.raises(StateConflictError, match="is not merged"):
        await split_by_name(graph, "d")
    await split_by_name(graph, "b")
    assert await canonical_names(graph, *"abcd") == {"a": "b", "b": "b", "c": "c", "d": "d"}
    assert await merge_by_name(graph, "c", "a")
    assert set((await canonical_names(graph, *"abc")).values()) == {"b"}


async def test_opposite_concurrent_merges_make_no_circle(graph: Graph) -> None:
    await put(graph, [person("a"), replace(person("b"), context="other")])

    async def attempt(one: str, other: str) -> bool | None:
        try:
            return await merge_by_name(graph, one, other)
        except FixableError:
            return None

    for _ in range(5):
        outcomes = await asyncio.gather(attempt("a", "b"), attempt("b", "a"))
        assert sorted(outcomes, key=str) == [None, True]
        ends = await canonical_names(graph, "a", "b")
        assert len(set(ends.values())) == 1
        (merged,) = [name for name, end in ends.items() if name != end]
        await split_by_name(graph, merged)


async def test_random_merges_and_splits_make_no_circle_and_can_be_undone(
    graph: Graph,
) -> None:
    await put(graph, [person(name) for name in NAMES])
    stories: list[list[tuple[bool, str, str]]] = []
    step = st.tuples(st.sampled_from([True, True, False]), st.sampled_from(NAMES), st.sampled_from(NAMES))

    @settings(max_examples=20 * TIMES, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(step, min_size=4, max_size=20))
    def draw(story: list[tuple[bool, str, str]]) -> None:
        stories.append(story)

    draw()
    for story in stories:
        into: dict[str, str] = {}
        for merges, one, other in story:
            await _step(graph, into, merges, one, other)
        for one in list(into):
            assert await split_by_name(graph, one)
        assert await canonical_names(graph, *NAMES) == {name: name for name in NAMES}
        assert {kind for _, kind, _ in await edges_of(graph, *NAMES)} <= {"DISTINCT_FROM"}


async def _step(graph: Graph, into: dict[str, str], merges: bool, one: str, other: str) -> None:
    """Do one thing to the graph and to ``into``, what is merged into what; both must agree afterwards."""
    try:
        if merges:
            done = await merge_by_name(graph, one, other)
            assert done == (into.get(one) != other)
            into[one] = other
        else:
            await split_by_name(graph, one)
            del into[one]
    except FixableError:
        if merges:
            assert one == other or into.get(one, other) != other or _end(into, other) == one
        else:
            assert one not in into
    assert await canonical_names(graph, *NAMES) == {name: _end(into, name) for name in NAMES}


def _end(into: Mapping[str, str], name: str) -> str:
    """Return who stands for a name; it fails for a circle."""
    for _ in NAMES:
        name = into.get(name, name)
    assert name not in into
    return name


async def test_a_renamed_entity_is_still_found_by_its_old_name(graph: Graph) -> None:
    ana = person("Ana", text="a keeper")
    await put(graph, [ana])
    assert await rename(graph, "t", ana.uid, "Ana Souza", most_chars=99)
    assert not await rename(graph, "t", ana.uid, "Ana Souza", most_chars=99)
    shown = await entity_by_uid(graph, "t", ana.uid)
    assert (shown.name, shown.aliases, shown.description, shown.uid) == ("Ana Souza", ("Ana",), "a keeper", ana.uid)
    for name in ("ana", "ana souza"):
        assert [found.uid for found in (await look_up(graph, "t", [name]))[name]] == [ana.uid]

    await rename(graph, "t", ana.uid, "ana souza", most_chars=99)
    await rename(graph, "t", ana.uid, "Ana", most_chars=99)
    assert (await entity_by_uid(graph, "t", ana.uid)).aliases == ("ana souza",), "no name is its own alias"


async def test_a_rename_over_a_limit_or_of_an_unknown_entity_is_refused(graph: Graph) -> None:
    await put(graph, [person("Ana"), node("item", content_hash="h")])
    with pytest.raises(InvalidInputError, match=r"name: has 100 characters.*VICW_MAX_NAME_CHARS"):
        await rename(graph, "t", make_uid("Ana"), "x" * 100, most_chars=99)
    for uid in (make_uid("item"), make_uid("nobody"), "x"):
        with pytest.raises(MissingRecordError, match="No named entity"):
            await rename(graph, "t", uid, "Ben", most_chars=99)
    with pytest.raises(MissingRecordError):
        await rename(graph, "u", make_uid("Ana"), "Ben", most_chars=99)
    for number in range(100):
        await rename(graph, "t", make_uid("Ana"), f"Ana {number}", most_chars=99)
    with pytest.raises(StateConflictError, match="has had 100 names"):
        await rename(graph, "t", make_uid("Ana"), "Ana the Last", most_chars=99)


async def test_list_entities_shows_merge_targets_and_merged_entities(graph: Graph) -> None:
    await put(graph, [person(name) for name in ("Ana", "Anna", "Ann", "Ben")], [edge("RELATED_TO", "Ana", "Ben")])
    await merge_by_name(graph, "Ann", "Anna")
    await merge_by_name(graph, "Anna", "Ana")
    page = await list_entities(graph, "t", "c", prefix="AN", limit=2)
    ana, ann = page.entities
    assert (ana.name, ana.degree, ana.canonical, [one.name for one in ana.merged]) == ("Ana", 1, ana.uid, ["Anna"])
    assert (ann.name, ann.degree, ann.canonical, ann.merged) == ("Ann", 0, ana.uid, ())
    assert ann.merged_into is not None and ann.merged_into.name == "Anna"
    last = await list_entities(graph, "t", "c", prefix="an", after=page.next, limit=2)
    assert ([one.name for one in last.entities], last.next) == (["Anna"], None)
    assert (await list_entities(graph, "t", "elsewhere")).entities == ()
    with pytest.raises(InvalidInputError, match=r"after: .* is not a page cursor"):
        await list_entities(graph, "t", "c", after="nonsense")


async def found(graph: Graph, compared: ComparisonScope = EVERYTHING) -> dict[tuple[str, str], str]:
    page = await candidates(graph, "t", compared, 99)
    return {(one.entity.name, one.other.name): one.reason for one in page.candidates}


def pair(candidates: dict[tuple[str, str], str], *names: str) -> str | None:
    return next((reason for called, reason in candidates.items() if sorted(called) == sorted(names)), None)


async def test_duplicates_are_proposed_until_a_person_has_decided(graph: Graph) -> None:
    await put(graph, [person(name) for name in ("Ana Souza", "Souza Ana", "Ana Sousa", "Ben")])
    proposed = await found(graph)
    assert len(proposed) == 2
    assert pair(proposed, "Ana Souza", "Souza Ana") == "same words in another order"
    assert (pair(proposed, "Ana Souza", "Ana Sousa") or "").startswith("spelt alike")

    await merge_by_name(graph, "Souza Ana", "Ana Souza")
    await split_by_name(graph, "Ana Sousa", "Ana Souza")
    assert await found(graph) == {}

    await split_by_name(graph, "Souza Ana")
    assert await found(graph) == {}, "what a person has split is not proposed again"


async def test_names_of_merged_entities_find_their_canonical_entity(graph: Graph) -> None:
    await put(graph, [person("Elizabeth"), person("Liz Taylor"), person("Liz Tailor")])
    await merge_by_name(graph, "Liz Taylor", "Elizabeth")
    assert pair(await found(graph), "Elizabeth", "Liz Tailor") is not None
    await split_by_name(graph, "Liz Tailor", "Liz Taylor")
    assert await found(graph) == {}, "told apart from one, it is told apart from what stands for it"


async def test_duplicate_candidates_respect_contexts_and_subtypes(graph: Graph) -> None:
    twin = replace(person("Ana Souza"), uid=make_uid("twin"), context="other")
    idea = replace(node("Ana Souza", Label.CONCEPT, subtype="person"), uid=make_uid("idea"))
    firm = replace(node("Ana Souza", subtype="firm"), uid=make_uid("firm"))
    await put(graph, [person("Ana Souza"), twin, idea, firm])
    assert list((await found(graph)).values()) == ["same name, another subtype"]
    both = replace(EVERYTHING, contexts=("c", "other"), subtype="Person")
    assert list((await found(graph, both)).values()) == ["same name"]
    page = await candidates(graph, "t", replace(both, names=2), 99)
    assert (page.examined, page.complete) == (2, False)
    page = await candidates(graph, "t", replace(both, names=3), 99)
    assert (page.examined, page.complete) == (3, True)
    assert (await candidates(graph, "u", EVERYTHING, 9)).candidates == ()
