"""Dreams on every pair of stores: what they add, what they never touch, and that nothing of them has to stay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contract.sleep.test_consolidation import REGISTRY, plain, said, sound, turn
from contract.sleep.test_consolidation_job import run as consolidate
from support.documents.mirror_pages import everything, pages
from support.generators.example_count import TIMES
from support.stores.kills import killed_at_step
from support.stores.pairs import EXTRACTOR, START, Side, asked_for, embedded
from vicw_core.graph.dreams import is_dreamt
from vicw_core.graph.edge_factory import DREAM, EdgeFactory
from vicw_shared.errors import MissingRecordError
from vicw_shared.model import Edge
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.ports import GraphTransaction, Outcome, Steps
from vicw_shared.settings import DreamSettings
from vicw_sleep.dream.auto_tags import Tag
from vicw_sleep.dream.commit import AddedTags, DreamCommit, DreamResult
from vicw_sleep.dream.job import dream_slice as take_turn
from vicw_sleep.dream.service import Dreamer, DreamReport, DreamRules
from vicw_sleep.dream.wipe import wipe
from vicw_sleep.mirror.atoms import atom_of
from vicw_sleep.mirror.service import Mirror

_LATER = datetime.now(START.tzinfo) + timedelta(hours=2)
_RULES = DreamRules(before=_LATER, certainty=0.5)
_GRACE = timedelta(days=7)
STORM = "The winter storm broke the old lighthouse near the harbour last night"
_TEXTS = (
    f"{STORM}.",
    f"{STORM}, said the keeper.",
    "A baker sells fresh bread and sweet pastry on the market square.",
    "Our build server needs a larger disk before the next release.",
)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def item(number: int, text: str, **fields: Any) -> dict[str, Any]:
    return {"id": str(number), "text": text} | fields


def items(**fields: Any) -> list[dict[str, Any]]:
    return [item(number, text, **fields) for number, text in enumerate(_TEXTS)]


async def tell(side: Side, *told: dict[str, Any], tenant: str = "t", **fields: Any) -> None:
    body = {"context": "c", "domain": "general", "extract": "none", "items": list(told)}
    await side.ingest(body | fields, tenant, None)
    await side.indexer.drain()


def dream(side: Side, **fields: Any) -> Dreamer:
    return Dreamer(side.graph, side.indexer.indexes, REGISTRY, side.indexer, EXTRACTOR, **fields)


async def run(side: Side, rules: DreamRules = _RULES, **how: Any) -> DreamReport:
    return await dream(side).run(rules, now=_LATER, **how)


async def wipe_dreams(side: Side) -> int:
    return await wipe(side.graph, side.indexer, now=_LATER)


async def dreamt_edges(side: Side) -> list[Edge]:
    return [edge for edge in (await side.edges()).values() if edge.created_by == DREAM and edge.type != "BELONGS_TO"]


async def tags_of(side: Side) -> dict[str, set[str]]:
    """Return the names of the auto-tags of each item, by the caller's id."""
    nodes = await side.nodes()
    found: dict[str, set[str]] = {}
    for edge in await dreamt_edges(side):
        if edge.type == AUTO_TAGGED:
            found.setdefault(nodes[edge.source].source_id or "", set()).add(nodes[edge.target].name)
    return found


async def store_content(side: Side) -> tuple[Any, ...]:
    """Return all that a store tells of itself."""
    edges = await side.edges()
    told = {uid: (edge.weight, edge.created_by, dict(edge.properties)) for uid, edge in edges.items()}
    return plain(await side.nodes()), said(edges), told, await side.payloads()


async def test_items_without_tags_get_auto_tags_once(side: Side) -> None:
    await tell(side, *items())
    done = await run(side)
    tags = await tags_of(side)
    assert {"0", "1", "2", "3"} == tags.keys()
    assert all(len(names) <= 3 for names in tags.values())
    assert tags["0"] & tags["1"], "a phrase of both leads from one to the other"
    assert any("storm" in name or "lighthouse" in name for name in tags["0"])
    assert all(0.5 <= float(str(edge.properties["certainty"])) <= 1 for edge in await dreamt_edges(side))
    assert (done.items, done.dreamt) == (4, 4)
    assert done.tags == sum(map(len, tags.values()))
    await sound(side)
    before = await store_content(side)
    again = await run(side)
    assert (again.dreamt, again.tags) == (0, 0)
    assert await store_content(side) == before


async def test_without_an_extractor_only_the_tags_of_similar_items_spread(side: Side) -> None:
    await tell(side, item(0, f"{STORM}."), item(1, f"{STORM}!", tags=["weather"]))
    await replace(dream(side), extractor=None).run(_RULES, now=_LATER)
    assert await tags_of(side) == {"0": {"weather"}}
    await sound(side)


async def test_a_dry_run_of_dreams_reports_the_same_tags_and_changes_nothing(side: Side) -> None:
    await tell(side, *items())
    before = await store_content(side)
    told: list[str] = []
    dry = await dream(side, on_item=lambda one: told.append(one.atom.id)).run(_RULES, now=_LATER, dry=True)
    assert sorted(told) == ["0", "1", "2", "3"]
    assert await store_content(side) == before
    assert await side.graph.scan(Steps(), limit=9) == []
    assert (await run(side)).tags == dry.tags


async def test_a_dry_run_of_dreams_over_many_pages_equals_the_real_run(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vicw_sleep.dream.commit.GENERIC", 5)
    await tell(side, *(item(n, f"{STORM}, number {n}.", flow_id="f") for n in range(10, 19)), *items()[2:])
    told: list[DreamResult] = []
    dry = await dream(side, page=2, on_item=told.append).run(_RULES, now=_LATER, dry=True)
    assert await side.graph.scan(Steps(), limit=9) == []
    done: list[DreamResult] = []
    assert await dream(side, page=2, on_item=done.append).run(_RULES, now=_LATER) == dry
    assert dry.tags == sum(map(len, (await tags_of(side)).values()))
    assert told == done
    assert sum(len(one.tags) for one in done) == dry.tags


async def test_given_tags_are_kept_and_count_against_the_tag_limit(side: Side) -> None:
    await tell(side, item(0, _TEXTS[0], tags=["Storm", "sea", "news"]), item(1, _TEXTS[1], tags=["sea"]))
    edges = await side.edges()
    await run(side)
    assert {uid: edge for uid, edge in (await side.edges()).items() if uid in edges} == edges
    tags = await tags_of(side)
    assert "0" not in tags, "three are enough"
    assert len(tags["1"]) == 2
    assert "sea" not in tags["1"], "it has that"


async def test_a_dream_takes_over_tags_of_similar_items(side: Side) -> None:
    await tell(side, item(0, _TEXTS[0], tags=["incident"]), item(1, _TEXTS[1]), item(2, _TEXTS[2], tags=["food"]))
    await run(side, replace(_RULES, certainty=0.4, tags=5))
    tags = await tags_of(side)
    assert "incident" in tags["1"]
    assert "food" not in tags["1"]
    named = {node.name: node for node in (await side.nodes()).values() if node.subtype == "tag"}
    assert not is_dreamt(named["incident"]), "somebody gave it"


async def test_auto_tags_are_not_in_filters_payloads_or_results(side: Side) -> None:
    await tell(side, *items())
    payloads = await side.payloads()
    await run(side)
    await sound(side)
    assert await side.payloads() == payloads
    name = min((await tags_of(side))["0"])
    answer = await side.retrieve({"query": STORM, "tags": {"any": [name]}}, "t")
    assert list(answer.results) == []
    assert all(not result.tags for result in (await side.retrieve({"query": STORM}, "t")).results)


@pytest.mark.parametrize(
    "other",
    [
        {"sensitivity": "personal", "about": ["Ana"]},
        {"sensitivity": "sensitive", "about": ["Ana"]},
        {"portable": False},
        {"about": ["Ana"]},
    ],
)
async def test_a_dream_takes_no_tags_from_items_of_another_visibility(side: Side, other: dict[str, Any]) -> None:
    await tell(side, item(0, _TEXTS[0], tags=["secret word"], **other), item(1, _TEXTS[1]))
    await run(side, replace(_RULES, certainty=0.1, tags=9))
    assert "secret word" not in (await tags_of(side))["1"]
    await tell(side, item(2, f"{STORM}, I heard.", **other))
    await run(side, replace(_RULES, certainty=0.1, tags=9))
    assert "secret word" in (await tags_of(side))["2"], "the same eyes see both"


async def test_a_dream_takes_no_tags_across_tenants_contexts_or_domains(side: Side) -> None:
    await tell(side, item(0, _TEXTS[0], tags=["here"]))
    await tell(side, item(1, _TEXTS[1]), tenant="other")
    await tell(side, item(2, f"{STORM}, I heard."), context="elsewhere")
    await tell(side, item(3, f"{STORM}, they say."), context="d", domain="creative")
    await run(side, replace(_RULES, certainty=0.1, tags=9))
    assert all("here" not in names for names in (await tags_of(side)).values())


async def test_an_undone_dream_leaves_no_trace_and_is_not_repeated(side: Side) -> None:
    await tell(side, *items())
    await sound(side)
    before = await store_content(side)
    await run(side)
    steps = await side.graph.scan(Steps(tenant="t"), limit=9)
    assert {step.outcome for step in steps} == {Outcome.DONE}
    with pytest.raises(MissingRecordError, match="grace period"):
        await dream(side).undo(steps[0].id, now=_LATER + timedelta(days=8), grace=_GRACE)
    for step in steps:
        assert await dream(side).undo(step.id, now=_LATER, grace=_GRACE) > 0
    await sound(side)
    assert await store_content(side) == before
    with pytest.raises(MissingRecordError, match="undone already"):
        await dream(side).undo(steps[0].id, now=_LATER, grace=_GRACE)
    assert (await run(side)).dreamt == 0
    assert await store_content(side) == before


async def test_wiping_dreams_restores_the_earlier_store(side: Side) -> None:
    await tell(side, *items(tags=["news"]))
    await tell(side, *items(), tenant="other")
    await sound(side)
    before = await store_content(side)
    done = await run(side)
    gone = await wipe_dreams(side)
    assert gone == done.tags
    await sound(side)
    assert await store_content(side) == before
    assert (await run(side)).tags == done.tags, "it may be dreamt of again"
    step, *_ = await side.graph.scan(Steps(tenant="t", task=DREAM), limit=9)
    await dream(side).undo(step.id, now=_LATER, grace=_GRACE)
    await wipe_dreams(side)
    assert (await run(side)).dreamt == done.dreamt - 1, "what a person undid stays undone"


async def test_dreamt_links_of_an_older_version_are_wiped(side: Side) -> None:
    await tell(side, *items())
    before = await store_content(side)
    nodes = {node.source_id: node.uid for node in (await side.nodes()).values() if node.content_hash is not None}
    link = EdgeFactory(REGISTRY, _LATER).edge("RELATED_TO", nodes["0"], nodes["1"], by=DREAM, desc="alike")
    await side.graph.write("t", "c", lambda transaction: transaction.put_edges([link]))
    assert await wipe_dreams(side) == 1
    assert await store_content(side) == before


async def test_dreams_added_behind_a_running_wipe_are_kept(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, *items())
    scan, looks = side.graph.scan, 0

    async def dream_before_the_last_look(what: Any, **how: Any) -> Any:
        nonlocal looks
        if what == Steps(task=DREAM) and how.get("after") is None:
            looks += 1
            if looks == 2:
                await run(side)
        return await scan(what, **how)

    monkeypatch.setattr(side.graph, "scan", dream_before_the_last_look)
    await wipe_dreams(side)
    monkeypatch.undo()
    assert looks == 2
    steps = await side.graph.scan(Steps(tenant="t", task=DREAM), limit=9)
    assert {step.outcome for step in steps} == {Outcome.DONE}
    for step in steps:
        assert await dream(side).undo(step.id, now=_LATER, grace=_GRACE) > 0
    assert await dreamt_edges(side) == []


async def test_items_dreamt_of_during_a_wipe_can_be_dreamt_of_again(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, *items())
    done: list[DreamReport] = []
    scan, begun = side.graph.scan, False

    async def dream_after_the_first_steps(what: Any, **how: Any) -> Any:
        nonlocal begun
        if not begun and what != Steps(task=DREAM):
            begun = True
            done.append(await run(side))
        return await scan(what, **how)

    monkeypatch.setattr(side.graph, "scan", dream_after_the_first_steps)
    gone = await wipe_dreams(side)
    monkeypatch.undo()
    assert gone == done[0].tags > 0
    assert (await run(side)).tags == gone
    await sound(side)


async def test_a_dreamt_tag_that_a_caller_uses_later_becomes_an_ordinary_tag(side: Side) -> None:
    await tell(side, *items())
    await run(side)
    name = min((await tags_of(side))["0"])
    await tell(side, item(9, "Something else.", tags=[name]))
    await wipe_dreams(side)
    (tag,) = [node for node in (await side.nodes()).values() if node.subtype == "tag"]
    assert (tag.name, tag.metadata, tag.retired_at) == (name, {}, None)
    await sound(side)


@pytest.mark.parametrize("how", ["retracted", "updated"])
async def test_a_retired_item_loses_its_dreams_until_it_is_sent_again(side: Side, how: str) -> None:
    await tell(side, *items())
    await run(side)
    if how == "retracted":
        await side.retract({"context": "c", "ids": ["0"]}, "t")
    else:
        await tell(side, item(0, "The ferry is late."))
    nodes = await side.nodes()
    old = {uid for uid, node in nodes.items() if node.source_id == "0" and node.retired_at is not None}
    assert old
    assert not [edge for edge in await dreamt_edges(side) if {edge.source, edge.target} & old]
    await tell(side, item(0, _TEXTS[0]))
    await run(side)
    assert (await tags_of(side))["0"]
    await wipe_dreams(side)
    assert await dreamt_edges(side) == []
    assert not [node for node in (await side.nodes()).values() if is_dreamt(node) or node.subtype == "tag"]
    await sound(side)


async def test_a_macro_event_gets_new_dreams_and_is_restored_without_them(side: Side) -> None:
    await tell(side, *(turn(n, _TEXTS[n % 2] + f" Round {n}.") for n in range(10)))
    await sound(side)
    before = await store_content(side)
    await run(side)
    assert await dreamt_edges(side)
    await consolidate(side)
    assert await dreamt_edges(side) == []
    done = await run(side, replace(_RULES, tags=2))
    assert (done.items, done.dreamt > 0) == (2, True)
    nodes = await side.nodes()
    assert all(nodes[edge.source].is_macro for edge in await dreamt_edges(side))
    await tell(side, turn(3, "That was changed."))
    restored = {uid for uid, node in (await side.nodes()).items() if node.source_id and not node.is_macro}
    assert not [edge for edge in await dreamt_edges(side) if edge.source in restored]
    await tell(side, turn(3, _TEXTS[1] + " Round 3."))
    await wipe_dreams(side)
    await sound(side)
    tags = {node.name for node in (await side.nodes()).values() if node.subtype == "tag"}
    assert tags == {node.name for node in before[0].values() if node.subtype == "tag"}


async def test_concurrent_dream_runs_add_every_tag_once(side: Side) -> None:
    await tell(side, *(item(n, f"{STORM}, number {n}.") for n in range(10, 22)), *items()[2:])
    done = await asyncio.gather(run(side), run(side))
    tags = await tags_of(side)
    assert all(len(names) <= 3 for names in tags.values())
    assert sum(one.tags for one in done) == sum(map(len, tags.values()))
    await sound(side)


async def test_a_dream_killed_in_its_transaction_is_done_by_the_next_run(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, *items())
    await sound(side)
    before = await store_content(side)
    with monkeypatch.context() as patch:
        patch.setattr(side.graph, "write", killed_at_step(side.graph.write))  # the tags are put by then
        with pytest.raises(RuntimeError, match="killed"):
            await run(side)
    assert await store_content(side) == before
    assert (await run(side)).dreamt == 4


@pytest.mark.parametrize(
    ("bound", "looked_at"),
    [({"max_items": 2}, [2, 2, 2, 2, 0]), ({"max_items": 3}, [3, 3, 2]), ({"seconds": 0.0}, [2, 2, 2, 2, 0])],
)
async def test_a_bounded_dream_run_is_continued_by_the_next(
    side: Side, bound: dict[str, Any], looked_at: list[int]
) -> None:
    await tell(side, *items())
    await tell(side, *items(), tenant="u")
    done = DreamReport()
    counts: list[int] = []
    while not counts or done.next is not None:
        done = await dream(side, page=2).run(_RULES, now=_LATER, start=done.next, **bound)
        counts.append(done.items)
    assert counts == looked_at
    assert len(await tags_of(side)) == 4
    assert (await run(side)).dreamt == 0


async def test_a_dream_slice_ends_at_its_deadline(side: Side) -> None:
    await tell(side, *items())
    done = await take_turn(dream(side, page=2), DreamSettings(hours=0), None, seconds=0.0)
    assert done is not None and (done.items, done.next is None) == (2, False)


async def test_dreams_leave_recent_items_alone(side: Side) -> None:
    await tell(side, *items())
    assert (await run(side, DreamRules(before=START - timedelta(days=9)))).dreamt == 0


async def test_the_mirror_marks_dreamt_tags_as_auto_tags(side: Side, tmp_path: Path) -> None:
    mirror = Mirror(side.graph, tmp_path / "m", "t")
    await tell(side, *items(tags=["news"]))
    await mirror.sync()
    before = pages(tmp_path / "m")
    await run(side)
    await side.indexer.drain()
    await mirror.sync()
    names = sorted((await tags_of(side))["0"])
    assert f"auto-tags: {', '.join(names)}" in everything(tmp_path / "m")
    assert pages(tmp_path / "m").keys() == before.keys(), "no folder is made of a guess"
    await wipe_dreams(side)
    await side.indexer.drain()
    await mirror.sync()
    assert pages(tmp_path / "m") == before


async def test_auto_tags_connect_results_only_when_dreams_are_enabled(side: Side) -> None:
    await tell(side, item(0, "The amulet was hidden."), item(1, "Edran rode north."))
    nodes = {node.source_id: node for node in (await side.nodes()).values() if node.content_hash is not None}
    found = await side.graph.item_views("t", [node.uid for node in nodes.values()])
    atoms = [atom for one in found if (atom := atom_of(one)) is not None]
    dreams = [DreamResult(atom, [Tag("quest", 0.9, "key phrase")]) for atom in atoms]

    async def add(transaction: GraphTransaction) -> AddedTags:
        return await DreamCommit(transaction, REGISTRY, _LATER, 3).add(dreams)

    await side.graph.write("t", "c", add)
    asked = {"query": "amulet hidden", "context": "c", "limit": 1}
    assert "also quest" not in (await side.retrieve(asked, "t", auto_tags=False)).text
    assert "also quest: Edran rode north." in (await side.retrieve(asked, "t", auto_tags=True)).text


_EYES = st.fixed_dictionaries(
    {
        "sensitivity": st.sampled_from(["public", "personal", "sensitive"]),
        "portable": st.booleans(),
        "about": st.sampled_from([["Ana"], ["Ben"], ["Ana", "Ben"]]),
    }
)


@given(told=st.lists(st.tuples(_EYES, st.sampled_from("cd"), st.sampled_from("tu")), min_size=2, max_size=7))
@settings(
    max_examples=15 * TIMES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_dreamt_tags_are_taken_only_from_items_of_equal_visibility(
    store: Path, told: list[tuple[dict[str, Any], str, str]]
) -> None:
    seen = {str(n): (str(sorted(eyes.items())), context, tenant) for n, (eyes, context, tenant) in enumerate(told)}
    async with embedded(store) as side:
        for number, (eyes, context, tenant) in enumerate(told):
            text = f"{STORM}, number {number}."
            await tell(side, item(number, text, tags=[f"tag{number}"], **eyes), context=context, tenant=tenant)
        await run(side, replace(_RULES, certainty=0.1, tags=20))
        for taker, names in (await tags_of(side)).items():
            givers = {name.removeprefix("tag") for name in names} & seen.keys()
            assert all(seen[giver] == seen[taker] for giver in givers)
