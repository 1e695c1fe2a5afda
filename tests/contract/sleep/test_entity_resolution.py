"""Resolving on every pair of stores: what is merged, what never is, that nobody sees more by it, and the way back."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contract.sleep.test_consolidation import REGISTRY, plain, said, sound
from support.generators.example_count import TIMES
from support.stores.kills import killed_at_step
from support.stores.model_claims import Claim, add_claim
from support.stores.pairs import START, Side, asked_for, embedded
from vicw_core.graph.canonical import MERGED_INTO
from vicw_core.graph.edge_factory import CALLER, RESOLVE
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.erasure.selection import choose_person
from vicw_ingest.identity.changes import merge, split
from vicw_ingest.identity.entities import ComparisonScope, candidates, entity_by_uid
from vicw_shared.errors import MissingRecordError
from vicw_shared.model import Edge, Label, Node
from vicw_shared.ports import GraphTransaction, Outcome, Steps
from vicw_shared.settings import ResolveSettings
from vicw_shared.uids import named_uid
from vicw_sleep.resolve.job import resolve_slice as take_turn
from vicw_sleep.resolve.merge_decision import DecidedPair, MergeOutcome
from vicw_sleep.resolve.service import EntityResolver, ResolveBookmark, ResolveReport, ResolveRules

_LATER = datetime.now(START.tzinfo) + timedelta(hours=2)
_GRACE = timedelta(days=7)
RULES = ResolveRules()
DECISION = MergeDecision("t", _LATER, REGISTRY)
JOSE, ACCENTED = "Jose Lima", "José Lima"
COMPANY = ("Oslo", "Bergen")


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def uid(name: str, context: str = "c", subtype: str = "person", tenant: str = "t") -> str:
    return named_uid(tenant, context, subtype, name)


def item(number: str, *people: str, company: tuple[str, ...] = COMPANY, **fields: Any) -> dict[str, Any]:
    """Return an item that names people, and places beside them."""
    entities = [{"name": name, "subtype": "person"} for name in people]
    entities += [{"name": name, "subtype": "place"} for name in company]
    text = f"{number}: {', '.join((*people, *company))} were named."
    return {"id": number, "text": text, "extraction": {"entities": entities}} | fields


def two_similar_people(**fields: Any) -> list[dict[str, Any]]:
    return [item("1", JOSE, **fields), item("2", ACCENTED, **fields), item("3", ACCENTED, **fields)]


async def tell(side: Side, *told: dict[str, Any], tenant: str = "t", context: str = "c") -> None:
    await side.ingest({"context": context, "extract": "caller", "items": list(told)}, tenant, None)
    await side.indexer.drain()


async def run(
    side: Side, rules: ResolveRules = RULES, told: list[DecidedPair] | None = None, **how: Any
) -> ResolveReport:
    heard: list[DecidedPair] = told if told is not None else []
    return await EntityResolver(side.graph, REGISTRY, on_pair=heard.append).run(rules, now=_LATER, **how)


async def undo(side: Side, step: str, now: datetime = _LATER) -> bool:
    return await EntityResolver(side.graph, REGISTRY).undo(step, now=now, grace=_GRACE)


async def merges(side: Side) -> list[Edge]:
    return [edge for edge in (await side.edges()).values() if edge.type == MERGED_INTO]


async def merged_names(side: Side) -> set[tuple[str, str]]:
    nodes = await side.nodes()
    return {(nodes[edge.source].name, nodes[edge.target].name) for edge in await merges(side)}


async def left(side: Side, rules: ResolveRules = RULES) -> list[str]:
    """Run, and return why the pairs that were judged are left."""
    told: list[DecidedPair] = []
    await run(side, rules, told)
    assert all(one.outcome is MergeOutcome.LEAVE for one in told)
    return [one.reason.partition(": ")[2] for one in told]


async def store_content(side: Side) -> tuple[Mapping[str, Node], set[tuple[str, str, str, str]]]:
    return plain(await side.nodes()), said(await side.edges())


async def test_similar_entities_are_merged_once_into_the_one_with_more_edges(side: Side) -> None:
    await tell(side, *two_similar_people())
    before, payloads = await store_content(side), await side.payloads()
    done = await run(side)
    assert (done.merged, done.left, done.next) == (1, 0, None)
    assert await merged_names(side) == {(JOSE, ACCENTED)}
    (edge,) = await merges(side)
    (step,) = await side.graph.scan(Steps(), limit=9)
    assert (edge.created_by, edge.properties["step"], edge.created_at) == (RESOLVE, step.id, _LATER)
    assert (step.task, step.outcome, step.subject, step.context) == (RESOLVE, Outcome.DONE, uid(JOSE), "c")
    assert step.details["into"] == uid(ACCENTED)
    assert "Lima" not in str(dict(step.details)), "a name may be erased: the log has uids alone"
    one, other = await entity_by_uid(side.graph, "t", uid(JOSE)), await entity_by_uid(side.graph, "t", uid(ACCENTED))
    assert one.merged_into is not None and one.merged_into.guess
    assert [ref.guess for ref in other.merged] == [True]
    nodes, edges = await store_content(side)
    assert (nodes, edges - said({edge.id: edge})) == before, "one edge, and nothing else"
    assert await side.payloads() == payloads
    await sound(side)
    assert (await run(side)).pairs == 0, "of the two there is one left"


async def test_a_dry_run_of_entity_resolution_reports_pairs_and_changes_nothing(side: Side) -> None:
    await tell(side, *two_similar_people())
    before = await store_content(side)
    told: list[DecidedPair] = []
    assert (await run(side, told=told, dry=True)).merged == 1
    (decided,) = told
    assert (decided.outcome, [node.name for node in decided.entities]) == (MergeOutcome.MERGE, [JOSE, ACCENTED])
    assert decided.reason == "0.98 same name but for accents and punctuation: 2 entities are named with both"
    assert await store_content(side) == before
    assert await side.graph.scan(Steps(), limit=9) == []


async def test_entities_are_not_merged_by_name_alone(side: Side) -> None:
    await tell(side, item("1", JOSE), item("2", ACCENTED, company=("Oslo", "Rome")))
    assert await left(side) == ["only the names match: 1 entities are named with both, 2 have to be"]
    assert await merged_names(side) == set()
    page = await candidates(side.graph, "t", ComparisonScope(("c",), None, 0.9, 99), 9)
    assert {page.candidates[0].entity.name, page.candidates[0].other.name} == {JOSE, ACCENTED}, "for a person to judge"
    assert (await run(side, replace(RULES, shared=1))).merged == 1


async def test_names_that_differ_in_a_letter_are_not_merged(side: Side) -> None:
    await tell(side, item("1", "Alexandra Montgomery"), item("2", "Alexandria Montgomery"))
    assert (await run(side, replace(RULES, threshold=0.85, shared=1))).pairs == 0


async def test_the_threshold_decides_which_similar_names_are_merged(side: Side) -> None:
    await tell(side, item("1", "Lima, Jose"), item("2", "Jose Lima"), item("3", "J. Berg"), item("4", "Jo Berg"))
    assert (await run(side, replace(RULES, threshold=0.98))).pairs == 0
    assert (await run(side)).merged == 1
    assert (await run(side, replace(RULES, threshold=0.85))).merged == 1
    assert {frozenset(pair) for pair in await merged_names(side)} == {
        frozenset({"Lima, Jose", "Jose Lima"}),
        frozenset({"J. Berg", "Jo Berg"}),
    }


async def test_ubiquitous_shared_neighbours_are_no_evidence_for_a_merge(side: Side) -> None:
    await tell(side, *two_similar_people(), *(item(f"x{n}", f"Somebody {chr(97 + n)}") for n in range(20)))
    assert "0 entities are named with both" in (await left(side))[0]


async def test_two_speakers_of_one_conversation_are_not_merged(side: Side) -> None:
    turns = [item(str(n), speaker=(JOSE, ACCENTED)[n % 2], flow_id="chat") for n in range(4)]
    await tell(side, *turns)
    assert await left(side) == ["both speak in one conversation"]
    assert await merged_names(side) == set()


async def test_speakers_of_separate_conversations_are_merged_only_as_one_user(side: Side) -> None:
    await tell(side, item("1", speaker=JOSE, flow_id="a"), item("2", speaker=ACCENTED, flow_id="b"))
    assert "nothing says that they are one user" in (await left(side))[0]
    await tell(side, item("3", speaker=JOSE, flow_id="a", user="u"), item("4", speaker=ACCENTED, flow_id="b", user="v"))
    assert "nothing says that they are one user" in (await left(side))[0]


async def test_entities_named_in_one_item_are_not_merged(side: Side) -> None:
    await tell(side, *two_similar_people(), item("both", JOSE, ACCENTED))
    assert await left(side) == ["one memory names both"]


@pytest.mark.parametrize("relation", ["HAS_RELATIONSHIP", "RELATED_TO"])
async def test_entities_joined_by_an_edge_are_not_merged(side: Side, relation: str) -> None:
    told = item("4", "Ben")
    told["extraction"]["relations"] = [{"source": JOSE, "type": relation, "target": ACCENTED, "desc": "cousin"}]
    told["extraction"]["entities"] += [{"name": name, "subtype": "person"} for name in (JOSE, ACCENTED)]
    await tell(side, *two_similar_people(), told)
    assert await left(side) == ["an edge joins the two"]


async def test_people_with_different_relatives_are_not_merged(side: Side) -> None:
    def kin(number: str, name: str, desc: str) -> dict[str, Any]:
        told = item(number, name, "Tom")
        told["extraction"]["relations"] = [{"source": "Tom", "type": "HAS_RELATIONSHIP", "target": name, "desc": desc}]
        return told

    await tell(side, kin("4", JOSE, "uncle"), kin("5", ACCENTED, "brother"))
    assert await left(side) == ["they have different relatives"]


async def test_entities_with_different_attribute_values_are_not_merged(side: Side) -> None:
    body = {"context": "c", "extract": "rules", "domain": "general"}
    for number, (name, home) in enumerate(((JOSE, "Paris"), (ACCENTED, "Madrid"))):
        said = f"{name}'s home is {home}."
        told = {"id": str(number), "text": f"{said} {name} knows Oslo and Bergen well."}
        stored = await side.ingest(body | {"items": [told]}, "t", None)
        await add_claim(side.graph, "t", "c", stored.items[0].uid, Claim(said, home, owner=name))
    slots = [node for node in (await side.nodes()).values() if node.subtype == "attribute"]
    assert len(slots) == 2, "it is claimed of both"
    reasons = await left(side, replace(RULES, shared=1))
    assert reasons == ["they have different values of one attribute"]


@pytest.mark.parametrize("other", [{"context": "elsewhere"}, {"tenant": "u"}])
async def test_entities_are_not_merged_across_contexts_and_tenants(side: Side, other: dict[str, str]) -> None:
    await tell(side, item("1", JOSE))
    await tell(side, item("2", ACCENTED), **other)
    assert (await run(side)).pairs == 0
    await tell(side, item("2", ACCENTED))
    assert (await run(side)).merged == 1, "the other's stay as they are"
    (edge,) = await merges(side)
    nodes = await side.nodes()
    assert {(nodes[end].tenant, nodes[end].context) for end in (edge.source, edge.target)} == {("t", "c")}
    assert [step.tenant for step in await side.graph.scan(Steps(), limit=9)] == ["t"]


async def test_entities_split_by_a_person_are_not_merged(side: Side) -> None:
    await tell(side, *two_similar_people())
    await split(side.graph, DECISION, uid(JOSE), uid(ACCENTED))
    assert (await run(side)).pairs == 0
    assert await merged_names(side) == set()


async def test_an_undone_merge_is_neither_repeated_nor_proposed(side: Side) -> None:
    await tell(side, *two_similar_people())
    before = await store_content(side)
    await run(side)
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
    with pytest.raises(MissingRecordError, match="grace period"):
        await undo(side, step.id, now=_LATER + timedelta(days=8))
    assert await undo(side, step.id)
    nodes, edges = await store_content(side)
    assert nodes == before[0]
    assert {edge[1] for edge in edges - before[1]} == {"DISTINCT_FROM"}
    assert before[1] <= edges
    with pytest.raises(MissingRecordError, match="undone already"):
        await undo(side, step.id)
    assert (await run(side)).pairs == 0
    assert await merged_names(side) == set()
    page = await candidates(side.graph, "t", ComparisonScope(("c",), None, 0.9, 99), 9)
    assert page.candidates == (), "nor is it proposed"
    await sound(side)


async def test_an_undone_merge_is_remembered_without_its_distinct_from_edge(side: Side) -> None:
    await tell(side, *two_similar_people())
    await run(side)
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
    await undo(side, step.id)

    async def forget(transaction: GraphTransaction) -> None:
        await transaction.drop_edges(await transaction.edges([uid(JOSE)], ["DISTINCT_FROM"]))

    await side.graph.write("t", "", forget)
    assert await left(side) == ["a merge of the two was undone"]


async def test_a_guessed_merge_confirmed_by_a_person_cannot_be_undone(side: Side) -> None:
    await tell(side, *two_similar_people())
    await run(side)
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
    assert await merge(side.graph, DECISION, uid(JOSE), uid(ACCENTED))
    assert [ref.guess for ref in (await entity_by_uid(side.graph, "t", uid(ACCENTED))).merged] == [False]
    (edge,) = await merges(side)
    assert (edge.created_by, "step" in edge.properties) == (CALLER, False)
    assert not await merge(side.graph, DECISION, uid(JOSE), uid(ACCENTED)), "it was so already"
    with pytest.raises(MissingRecordError, match=f"confirmed by a person since. `vicw entities split {uid(JOSE)}`"):
        await undo(side, step.id)


async def test_a_merge_that_a_person_split_counts_as_undone(side: Side) -> None:
    await tell(side, *two_similar_people())
    await run(side)
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
    await split(side.graph, DECISION, uid(JOSE))
    assert (await run(side)).pairs == 0
    assert not await undo(side, step.id)


async def test_concurrent_entity_resolutions_merge_every_pair_once(side: Side) -> None:
    names = [f"Jos{letter} Lima{chr(97 + n)}" for n in range(4) for letter in "eé"]
    await tell(side, *(item(str(n), name) for n, name in enumerate(names)))
    done = await asyncio.gather(run(side), run(side))
    assert sum(one.merged for one in done) == len(await merges(side)) == 4
    assert len(await side.graph.scan(Steps(tenant="t"), limit=9)) == 4
    await sound(side)


async def test_a_merge_killed_in_its_transaction_changes_nothing(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, *two_similar_people())
    before = await store_content(side)
    with monkeypatch.context() as patch:
        patch.setattr(side.graph, "write", killed_at_step(side.graph.write))  # edge and step are put by then
        with pytest.raises(RuntimeError, match="killed"):
            await run(side)
    assert await store_content(side) == before
    assert await side.graph.scan(Steps(), limit=9) == []
    assert (await run(side)).merged == 1


@pytest.mark.parametrize(("bound", "pairs"), [({"max_pairs": 2}, 2), ({"seconds": 0.0}, 1)])
@pytest.mark.parametrize(("shared", "outcome"), [(2, "merged"), (3, "left")])
async def test_a_bounded_entity_resolution_is_continued_by_the_next(
    side: Side, shared: int, outcome: str, bound: dict[str, Any], pairs: int
) -> None:
    for context, tenant in (("c", "t"), ("d", "t"), ("c", "u")):
        people = [f"Jos{letter} Lima{chr(97 + n)}" for n in range(3) for letter in "eé"]
        told = [item(str(n), name) for n, name in enumerate(people)]
        await tell(side, *told, tenant=tenant, context=context)
    judged = [getattr(done, outcome) for done in await run_in_slices(side, replace(RULES, shared=shared), **bound)]
    assert max(judged) == pairs
    assert sum(judged) == 9
    assert len(await merges(side)) == (9 if outcome == "merged" else 0)


async def test_an_entity_resolution_slice_ends_at_its_deadline(side: Side) -> None:
    people = [f"Jos{letter} Lima{chr(97 + n)}" for n in range(3) for letter in "eé"]
    await tell(side, *(item(str(n), name) for n, name in enumerate(people)))
    done = await take_turn(EntityResolver(side.graph, REGISTRY), ResolveSettings(), None, seconds=0.0)
    assert done is not None and (done.merged, done.next is None) == (1, False)


async def test_names_are_compared_in_batches_of_the_configured_size(side: Side) -> None:
    people = [f"Lima{chr(97 + n)} Jos{letter}" for n in range(3) for letter in "eé"]
    await tell(side, *(item(str(n), name, company=("Aa", "Ab")) for n, name in enumerate(people)))
    turns = await run_in_slices(side, replace(RULES, names=5), max_pairs=99)
    assert [done.names for done in turns] == [5, 3]
    assert [done.merged for done in turns] == [1, 1], "of the third pair each name is in another lot"


async def run_in_slices(side: Side, rules: ResolveRules, **bound: Any) -> list[ResolveReport]:
    """Run turn by turn, each from where the one before came to, as a message to a worker tells it."""
    done = await run(side, rules, names=rules.names, **bound)
    turns = [done]
    while done.next is not None:
        assert len(turns) < 50
        start = ResolveBookmark.read(json.loads(json.dumps(done.next.written)))
        done = await run(side, rules, start=start, names=rules.names, **bound)
        turns.append(done)
    return turns


async def test_a_guessed_merge_does_not_widen_visibility(side: Side) -> None:
    secret = {"sensitivity": "personal", "about": [ACCENTED]}
    await tell(side, *two_similar_people(), {"id": "s", "text": "The secret of the safe.", **secret})
    asked = {"query": "the secret of the safe", "viewer": {"user": JOSE, "context": "c"}}
    before = {result.id for result in (await side.retrieve(asked, "t")).results}
    assert (await run(side)).merged == 1
    after = {result.id for result in (await side.retrieve(asked, "t")).results}
    assert "s" not in before | after
    await merge(side.graph, DECISION, uid(JOSE), uid(ACCENTED))
    assert "s" in {result.id for result in (await side.retrieve(asked, "t")).results}, "a person may say so"


async def test_private_items_are_no_evidence_for_a_merge_of_public_entities(side: Side) -> None:
    private: dict[str, Any] = {"sensitivity": "personal", "about": ["Ana"]}
    await tell(side, item("1", JOSE, **private), item("2", ACCENTED))
    assert "0 entities are named with both" in (await left(side))[0]
    await tell(side, item("3", ACCENTED, **private))
    assert (await run(side)).merged == 1, "the same eyes see both"


async def test_erasing_a_person_does_not_erase_entities_merged_by_a_guess(side: Side) -> None:
    await tell(side, *two_similar_people())
    await run(side)
    chosen = await choose_person(side.graph, "t", JOSE, "c", with_mentions=True)
    nodes = await side.nodes()
    assert [nodes[one].source_id for one in chosen.items["c"]] == ["1"]
    assert [node.name for node in chosen.people] == [JOSE]


@pytest.mark.parametrize(("gone", "name"), [(["1"], JOSE), (["2", "3"], ACCENTED)])
async def test_a_guessed_merge_keeps_no_entity_without_evidence(side: Side, gone: list[str], name: str) -> None:
    await tell(side, *two_similar_people())
    await run(side)
    await side.retract({"context": "c", "ids": gone}, "t")
    retired = {node.name for node in (await side.nodes()).values() if node.retired_at and node.label is Label.ENTITY}
    assert name in retired
    assert await merges(side) == []
    await tell(side, *(item(f"{n} again", name) for n in gone))
    assert (await run(side)).merged == 1, "it is told of anew"
    await sound(side)


async def test_items_after_a_guessed_merge_stay_with_the_entity_they_name(side: Side) -> None:
    await tell(side, *two_similar_people())
    await run(side)
    await tell(side, item("later", JOSE), item("said", speaker=JOSE))
    chosen = await choose_person(side.graph, "t", JOSE, "c", with_mentions=True)
    nodes = await side.nodes()
    assert {nodes[one].source_id for one in chosen.items["c"]} == {"1", "later", "said"}
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
    assert await undo(side, step.id)
    assert (await choose_person(side.graph, "t", JOSE, "c", with_mentions=True)).items == chosen.items


async def test_a_guessed_merge_contradicted_later_is_split_permanently(side: Side) -> None:
    await tell(side, *two_similar_people())
    before = await store_content(side)
    await run(side)
    assert (await run(side)).split == 0
    await tell(side, *(item(f"t{n}", speaker=(JOSE, ACCENTED)[n % 2], flow_id="chat") for n in range(2)))
    dry: list[DecidedPair] = []
    assert (await run(side, told=dry, dry=True)).split == 1
    assert [(one.outcome, one.reason) for one in dry] == [(MergeOutcome.SPLIT, "both speak in one conversation")]
    assert len(await merges(side)) == 1
    done = await asyncio.gather(run(side), run(side))
    assert [sum(one.split for one in done), sum(one.merged for one in done)] == [1, 0]
    assert await merges(side) == []
    assert before[1] <= (await store_content(side))[1]
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
    assert (step.outcome, step.reason) == (Outcome.UNDONE, "both speak in one conversation")
    await side.retract({"context": "c", "ids": ["t0", "t1"]}, "t")
    assert (await run(side)).merged == 0, "what was wrong once is left to a person"
    await sound(side)


async def test_entity_resolution_does_not_split_a_persons_merge(side: Side) -> None:
    await tell(side, *two_similar_people(), item("both", JOSE, ACCENTED))
    await merge(side.graph, DECISION, uid(JOSE), uid(ACCENTED))
    assert (await run(side)).split == 0
    assert len(await merges(side)) == 1


async def test_merged_entities_are_judged_with_all_their_names(side: Side) -> None:
    """A third that occurs with what was merged into one of the two is no more one with it than with that."""
    await tell(side, item("1", JOSE), item("2", "Zed", company=()), item("both", "Zed", ACCENTED), item("3", ACCENTED))
    await merge(side.graph, DECISION, uid("Zed"), uid(JOSE))
    assert await left(side) == ["one memory names both"]


_TOLD = st.fixed_dictionaries(
    {
        "name": st.sampled_from([JOSE, ACCENTED, "Lima, Jose"]),
        "company": st.sampled_from([("Oslo",), COMPANY, ("Rome", "Oslo")]),
        "sensitivity": st.sampled_from(["public", "personal"]),
        "own": st.booleans(),
        "context": st.sampled_from("cd"),
        "tenant": st.sampled_from("tu"),
    }
)


@given(told=st.lists(_TOLD, min_size=2, max_size=8))
@settings(
    max_examples=15 * TIMES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_random_guessed_merges_keep_visibility_and_can_be_undone(store: Path, told: list[dict[str, Any]]) -> None:
    async with embedded(store) as side:
        await tell(side, *two_similar_people())
        for number, one in enumerate(told):
            about = [one["name"] if one["own"] else "Ana"]
            made = item(f"n{number}", one["name"], company=one["company"], sensitivity=one["sensitivity"], about=about)
            await tell(side, made, tenant=one["tenant"], context=one["context"])

        async def seen() -> set[tuple[str, str, str]]:
            found: set[tuple[str, str, str]] = set()
            for tenant, who in itertools.product("tu", ("Ana", JOSE, ACCENTED)):
                asked = {"query": "were named", "limit": 50, "viewer": {"user": who, "context": "c"}}
                found |= {(tenant, who, result.uid) for result in (await side.retrieve(asked, tenant)).results}
            return found

        before, seen_before = await store_content(side), await seen()
        await run(side, replace(RULES, shared=1))
        assert await merges(side)
        assert await seen() == seen_before
        nodes = await side.nodes()
        parted = {frozenset((edge.source, edge.target)) for edge in await merges(side)}
        for edge in await merges(side):
            left, right = nodes[edge.source], nodes[edge.target]
            assert (left.tenant, left.context, left.subtype) == (right.tenant, right.context, right.subtype)
        for step in await side.graph.scan(Steps(), limit=99):
            assert await undo(side, step.id)
        restored = await store_content(side)
        assert restored[0] == before[0]
        assert {edge for edge in restored[1] if edge[1] != "DISTINCT_FROM"} == before[1]
        await run(side, replace(RULES, shared=1))
        again = {frozenset((edge.source, edge.target)) for edge in await merges(side)}
        assert not again & parted, "two of which each was one with a third have not been told apart"
