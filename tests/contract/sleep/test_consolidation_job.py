"""Consolidation on every pair of stores: which Events it takes, which it leaves, and that every step can be undone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY as METRICS

from contract.sleep.test_consolidation import REGISTRY, plain, said, sound, tell, thread, turn
from support.fakes.chat_server import serve_chat
from support.stores.pairs import START, Side, asked_for
from vicw_runtime.model_servers.openai_language import OpenAILanguageModel
from vicw_shared.errors import MissingRecordError, UnavailableError
from vicw_shared.model import Label, Node
from vicw_shared.ports import ArrivalCount, Flow, FlowEvents, GraphTransaction, Outcome, Point, Steps
from vicw_shared.settings import ConsolidationSettings
from vicw_shared.uids import chunk_uid
from vicw_sleep.consolidation.batches import ConsolidationRules
from vicw_sleep.consolidation.job import CatchUpResult, ContextRun, catch_up
from vicw_sleep.consolidation.job import consolidate_slice as take_turn
from vicw_sleep.consolidation.llm_requests import LlmRequester
from vicw_sleep.consolidation.service import Consolidation, ConsolidationReport
from vicw_sleep.consolidation.source_reader import FlowBookmark
from vicw_sleep.reconcile.service import reconcile

LATER = datetime.now(START.tzinfo) + timedelta(hours=2)
RULES = ConsolidationRules(before=LATER, min_cohesion=0.0)
GRACE = timedelta(days=7)
_TOPICS = ("the amulet of Porto", "a broken build", "Ben and 3 tests", "no ship on Friday", "my sister Mara")


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def turns(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [turn(n, f"We talked about {_TOPICS[n % 5]} in round {n}.", **fields) for n in range(count)]


def consolidation(side: Side, **fields: Any) -> Consolidation:
    return Consolidation(
        side.graph, side.graph.pending_extractions, side.indexer.indexes, REGISTRY, side.indexer, **fields
    )


async def run(side: Side, rules: ConsolidationRules = RULES, **how: Any) -> ConsolidationReport:
    return await consolidation(side).run(rules, now=LATER, **how)


async def summary(side: Side, macro: Node) -> str:
    """Return the text of a Macro-Event whose summary has one passage."""
    return (await side.graph.nodes("t", [macro.qdrant_id or ""]))[macro.qdrant_id or ""].text or ""


async def summaries(side: Side) -> list[Node]:
    """Return the passages of all Macro-Events' summaries."""
    (macro,) = await thread(side)
    nodes = await side.nodes()
    return [nodes[uid] for n in range(9) if (uid := chunk_uid(macro.uid, n)) in nodes]


async def test_a_flow_is_consolidated_once_until_its_rest_is_over(side: Side) -> None:
    await tell(side, turns(12))
    done = await run(side)
    assert (done.flows, done.events, done.macros, done.refused) == (1, 12, 3, 0)
    await sound(side)
    events = await thread(side)
    assert [event.metadata["steps"] for event in events] == [[[1, 4]], [[5, 8]], [[9, 12]]]
    vectors = await side.vectors.dense([event.qdrant_id or "" for event in events])
    assert len(vectors) == 3
    assert (await run(side)).macros == 0, "nothing is done twice"
    steps = await side.graph.scan(Steps(tenant="t"), limit=9)
    assert {(step.outcome, step.subject) for step in steps} == {(Outcome.DONE, event.uid) for event in events}
    again = ConsolidationRules(before=LATER + timedelta(days=2), min_cohesion=0.0)
    summaries = [await summary(side, event) for event in events]
    assert (await run(side, again)).macros == 1, "after a rest, they are consolidated again"
    (macro,) = await thread(side)
    assert await summary(side, macro) == "\n".join(summaries), "line by line, in the order in which it was told"
    await sound(side)


async def test_a_consolidated_item_is_returned_as_a_result_unchanged(side: Side) -> None:
    await tell(side, turns(5, metadata={"mood": "calm"}))
    before = {event.source_id: event.uid for event in await thread(side)}
    await run(side)
    await sound(side)
    answer = await side.retrieve({"query": "What did we say about the amulet of Porto?"}, "t")
    assert {result.id for result in answer.results} == {"0", "1", "2", "3", "4"}, "each stands by itself"
    first = answer.results[0]
    assert (first.id, first.uid, first.text) == ("0", before["0"], "We talked about the amulet of Porto in round 0.")
    assert (first.metadata, first.sources, first.flow_step) == ({"mood": "calm"}, (), 1), "as it was"
    (macro,) = await thread(side)
    assert {result.consolidated_into for result in answer.results} == {macro.uid}
    assert macro.uid in {node.uid for node in answer.graph.nodes}
    assert "after: Ben: We talked about a broken build in round 1." in answer.text, "what came next is the next turn"


async def test_a_passage_without_vector_is_scored_by_its_statements_and_summary(side: Side) -> None:
    await tell(side, turns(5))
    (first, *_) = await thread(side)
    await run(side)
    await sound(side)
    assert await side.vectors.dense([first.qdrant_id or ""]) == {}
    answer = await side.retrieve({"query": "the amulet of Porto in round 0", "explain": True}, "t")
    assert answer.explain is not None
    dense = {hit["uid"]: hit["score"] for hit in answer.explain.channels["dense"]}
    assert dense[first.qdrant_id or ""] == max(dense.values())
    assert dense[first.qdrant_id or ""] < 1.0, "the mean of its sentence and the summary"


async def test_a_passage_unlike_the_summary_keeps_its_vector(side: Side) -> None:
    await tell(side, [*turns(4), turn(4, "Haha, thanks!")])
    passages = {event.source_id: event.qdrant_id or "" for event in await thread(side)}
    assert (await run(side)).macros == 1
    await sound(side)
    (macro,) = await thread(side)
    assert "thanks" not in await summary(side, macro)
    assert (await side.vectors.dense(list(passages.values()))).keys() == {passages["4"]}
    nodes = await side.nodes()
    assert [name for name, uid in passages.items() if not nodes[uid].is_light] == ["4"]
    await sound(side)


async def test_flows_of_equal_name_are_consolidated_per_tenant_and_context(side: Side) -> None:
    for tenant in ("t", "u"):
        for context in ("c", "d"):
            told = [one | {"speaker": ("Ana", "Ben")[n % 2]} for n, one in enumerate(turns(5))]
            await side.ingest({"context": context, "domain": "personal", "items": told}, tenant, None)
    await side.indexer.drain()
    done = await run(side)
    assert (done.flows, done.macros, done.events) == (4, 4, 20), "who speaks may change, whose it is does not"
    macros = [node for node in (await side.nodes()).values() if node.is_macro]
    assert {(macro.tenant, macro.context) for macro in macros} == {(t, c) for t in "tu" for c in "cd"}
    await sound(side)


async def test_a_dry_run_of_consolidation_reports_batches_and_changes_nothing(side: Side) -> None:
    await tell(side, turns(10))
    nodes = await side.nodes()
    told: list[tuple[int, str]] = []
    dry = consolidation(
        side,
        on_batch=lambda flow, consolidate, reason: told.append(
            (len(consolidate.sources) if consolidate else 0, reason)
        ),
    )
    done = await dry.run(RULES, now=LATER, dry=True)
    assert (done.events, told) == (10, [(5, ""), (5, "")])
    assert await side.nodes() == nodes
    assert await side.graph.scan(Steps(), limit=9) == []


async def test_every_consolidation_can_be_undone_within_its_grace_period(side: Side) -> None:
    await tell(side, turns(10))
    nodes, edges, payloads = await side.nodes(), await side.edges(), await side.payloads()
    await run(side)
    await sound(side)
    undoing = consolidation(side)
    steps = await side.graph.scan(Steps(tenant="t"), limit=9)
    with pytest.raises(MissingRecordError, match="grace period is over"):
        await undoing.undo(steps[0].id, now=LATER + timedelta(days=8), grace=GRACE)
    for step in steps:
        await undoing.undo(step.id, now=LATER + timedelta(days=1), grace=GRACE)
    assert (await side.check()).violations == [], "what waits for its vector is not marked indexed"
    await sound(side)
    assert plain(await side.nodes()) == plain(nodes)
    assert said(await side.edges()) == said(edges)
    assert await side.payloads() == payloads
    assert {step.outcome for step in await side.graph.scan(Steps(tenant="t"), limit=9)} == {Outcome.UNDONE}
    for unknown in (steps[0].id, "none"):
        with pytest.raises(MissingRecordError, match=r"no step|undone already"):
            await undoing.undo(unknown, now=LATER, grace=GRACE)


async def test_an_impossible_undo_of_a_consolidation_is_refused_with_the_reason(side: Side) -> None:
    await tell(side, turns(12))
    await run(side)
    first, second, third = await thread(side)
    steps = {step.subject: step.id for step in await side.graph.scan(Steps(tenant="t"), limit=9)}
    await tell(side, [turn(0, "We talked about something else entirely in round 0.")])
    with pytest.raises(MissingRecordError, match=r"its Events were restored when one of them was changed or erased"):
        await consolidation(side).undo(steps[first.uid], now=LATER, grace=GRACE)
    rules = ConsolidationRules(before=LATER + timedelta(days=2), min_size=2, min_cohesion=0.0)
    await run(side, rules)
    assert not {second.uid, third.uid} & (await side.nodes()).keys(), "consolidated again"
    levels = {node.uid: node.metadata.get("level") for node in await thread(side)}
    (higher,) = [step.id for step in await side.graph.scan(Steps(tenant="t"), limit=9) if levels.get(step.subject) == 2]
    for macro in (second, third):
        with pytest.raises(
            MissingRecordError, match=rf"has been consolidated again by step '{higher}'. Undo that step first"
        ):
            await consolidation(side).undo(steps[macro.uid], now=LATER, grace=GRACE)
    with pytest.raises(MissingRecordError, match="its Events were restored"):
        await consolidation(side).undo(steps[first.uid], now=LATER, grace=GRACE)
    await side.retract({"context": "c", "ids": ["11"]}, "t")
    with pytest.raises(MissingRecordError, match="its Events were restored"):
        await consolidation(side).undo(steps[third.uid], now=LATER, grace=GRACE)
    await consolidation(side).undo(steps[second.uid], now=LATER, grace=GRACE)
    await sound(side)


async def test_a_consolidation_whose_macro_event_expired_cannot_be_undone(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns(5, expires_at=LATER.isoformat()))
    await run(side)
    monkeypatch.setattr("vicw_ingest.expiry.service.now", lambda: LATER + timedelta(hours=1))
    assert await side.expire() == 1
    nodes, edges = await side.nodes(), await side.edges()
    (step,) = await side.graph.scan(Steps(tenant="t", task="consolidate"), limit=9)
    with pytest.raises(MissingRecordError, match="has expired, and its Events with it"):
        await consolidation(side).undo(step.id, now=LATER, grace=GRACE)
    assert (await side.nodes(), await side.edges()) == (nodes, edges)


async def test_a_batch_whose_summary_would_lose_a_fact_is_refused_with_its_reason(side: Side) -> None:
    never = "We never again want to go there {}, and not only because of the lift that was broken all the time. "
    await tell(side, [turn(n, never.format(n) * 3) for n in range(5)])
    nodes = await side.nodes()
    done = await consolidation(side, chunk_chars=40, share=0.01).run(RULES, now=LATER)
    assert (done.macros, done.refused) == (0, 1)
    assert await side.nodes() == nodes
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
    assert step.outcome is Outcome.REFUSED
    assert "the summary lacks" in step.reason


async def test_events_shown_in_recent_answers_are_not_consolidated(side: Side) -> None:
    await tell(side, turns(5))
    third = (await thread(side))[2]
    await side.graph.uses.add_uses("t", {third.uid: 1}, LATER)
    assert (await run(side, replace(RULES, used_since=LATER))).macros == 0
    assert (await run(side, replace(RULES, used_since=LATER + timedelta(hours=1)))).macros == 1
    await sound(side)


async def test_an_event_with_more_passages_than_the_limit_is_not_consolidated(side: Side) -> None:
    four, five = (consolidation(side, max_passages=count) for count in (4, 5))
    await tell(side, turns(12))
    await tell(side, [turn(12, " ".join(f"We talked about {topic} in round 12." for topic in _TOPICS * 3))])
    assert (await four.run(RULES, now=LATER)).macros == 3
    *macros, long = await thread(side)
    assert (len(macros), long.source_id) == (3, "12"), "not all of its passages would be read"
    await sound(side)
    again = ConsolidationRules(before=LATER + timedelta(days=2), min_cohesion=0.0)
    done = await four.run(again, now=LATER, dry=True)
    assert (done.macros, done.refused) == (0, 0), "each stands on four, and its summary"
    done = await five.run(again, now=LATER, dry=True)
    assert done.macros + done.refused == 1, "it is judged"


async def test_only_events_older_than_the_limit_are_consolidated(side: Side) -> None:
    await tell(side, turns(10))
    assert (await run(side, ConsolidationRules(before=START - timedelta(days=9)))).macros == 0
    assert (await run(side, max_batches=1)).macros == 1
    assert len(await thread(side)) == 6


@pytest.mark.parametrize("bound", [{"max_batches": 1}, {"seconds": 0.0}])
async def test_a_consolidation_run_resumes_at_the_previous_bookmark(side: Side, bound: dict[str, Any]) -> None:
    small_pages = consolidation(side, event_page=4)
    for flow, told in (("f", "talked"), ("g", "wrote")):
        texts = [f"We {told} about {_TOPICS[n % 5]} in round {n}." for n in range(12)]
        await tell(side, [turn(n, text, id=f"{flow}{n}", flow_id=flow) for n, text in enumerate(texts)])
    await tell(side, turns(4), context="d")
    marks: list[FlowBookmark | None] = [None]
    macros = 0
    while (done := await small_pages.run(RULES, now=LATER, start=marks[-1], **bound)).next is not None:
        marks.append(FlowBookmark.read(json.loads(json.dumps(done.next.written))))
        assert done.macros == 1
        macros += 1
    assert macros + done.macros == 7
    assert len(set(marks)) == 7, "each begins further on"


async def test_a_consolidation_slice_ends_at_its_deadline(side: Side) -> None:
    await tell(side, turns(12))
    done = await take_turn(consolidation(side), ConsolidationSettings(hours=0, used_hours=0), seconds=0.0)
    assert done is not None and (done.macros, done.next is None) == (1, False)


async def test_catch_up_consolidates_only_contexts_with_enough_arrivals(side: Side) -> None:
    await tell(side, turns(12))
    await tell(side, turns(5), context="d")
    after = ConsolidationSettings(hours=0, used_hours=0, interactions=6, batches=2)
    left = (await catch_up(consolidation(side), after)).next
    assert left is not None and left.grown == ArrivalCount("t", "c", 12), "a turn is over, the rest is left"
    left = ContextRun.read(json.loads(json.dumps(left.written)))
    assert await catch_up(consolidation(side), after, left) == CatchUpResult(None)
    assert len(await thread(side)) == 3
    assert len(await side.graph.scan(FlowEvents(Flow("t", "d", "f")), limit=9)) == 5, (
        "the other context has not grown enough"
    )
    await tell(side, [turn(n, f"We spoke of Porto in round {n}.") for n in range(20, 25)])
    assert await catch_up(consolidation(side), after) == CatchUpResult(None)
    assert len(await thread(side)) == 8, "5 more are not 6"
    assert await catch_up(consolidation(side), after.model_copy(update={"interactions": 0})) == CatchUpResult(None)
    await tell(side, [turn(30, "We spoke of Lima.")])
    assert await catch_up(consolidation(side), after) == CatchUpResult(None)
    assert len(await thread(side)) < 8


async def test_a_failure_in_a_grown_context_is_left_to_the_scheduled_run(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns(12))
    after = ConsolidationSettings(hours=0, used_hours=0, interactions=6)

    async def away(*_: object) -> None:
        raise UnavailableError("vectors", "it is away")

    with monkeypatch.context() as broken:
        broken.setattr(side.vectors, "upsert", away)
        assert await catch_up(consolidation(side), after) == CatchUpResult(None)
    assert await side.graph.log.contexts_with_arrivals(6, limit=9) == []
    assert len(await thread(side)) == 12
    assert (await run(side)).macros == 3


async def test_concurrent_consolidations_take_every_event_once(side: Side) -> None:
    await tell(side, turns(20))
    done = await asyncio.gather(run(side), run(side))
    assert sum(one.events for one in done) == 20
    await sound(side)
    assert sum(event.is_macro for event in await thread(side)) == 4


async def test_a_crash_before_the_graph_commit_leaves_the_events_unconsolidated(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns(5))
    await sound(side)
    nodes = await side.nodes()

    async def dies(self: Any, what: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("vicw_sleep.consolidation.service.Consolidator.consolidate", dies)
        with pytest.raises(RuntimeError, match="killed"):
            await run(side)
    assert await side.nodes() == nodes
    assert (await run(side)).events == 5
    await sound(side)


async def test_consolidation_changes_nothing_while_the_vector_store_is_down(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns(5))
    nodes = await side.nodes()

    async def away(self: Any, points: Sequence[Point]) -> None:
        raise UnavailableError("vectors", "is away")

    with monkeypatch.context() as patch:
        patch.setattr(type(side.vectors), "upsert", away)
        with pytest.raises(UnavailableError):
            await run(side)
    assert await side.nodes() == nodes


async def test_a_consolidation_is_undone_while_the_vector_store_is_down(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns(5))
    before = await thread(side)
    await run(side)
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)

    async def away(self: Any, ids: Sequence[str]) -> None:
        raise UnavailableError("vectors", "is away")

    with monkeypatch.context() as patch:
        patch.setattr(type(side.vectors), "delete", away)
        done = await consolidation(side).undo(step.id, now=LATER, grace=GRACE)
    assert [item.uid for item in done.items] == [event.uid for event in before]
    await side.indexer.drain()
    assert (await reconcile(side.graph.outbox, side.graph.audit, side.vectors)).orphaned == 1, (
        "its summary's is nobody's any more"
    )
    await sound(side)


async def test_a_summary_survives_a_reconciliation_during_consolidation(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its points are there before the graph knows of them: until then they are nobody's."""
    await tell(side, turns(5))
    await sound(side)
    real = type(side.vectors).upsert

    async def before_it_is_stored(self: Any, points: Sequence[Point]) -> None:
        monkeypatch.undo()
        await real(self, points)
        assert (await reconcile(side.graph.outbox, side.graph.audit, side.vectors)).orphaned == 1

    monkeypatch.setattr(type(side.vectors), "upsert", before_it_is_stored)
    assert (await run(side)).macros == 1
    await sound(side)


async def test_a_batch_that_changed_meanwhile_is_left_to_the_next_run(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns(5))
    real = type(side.vectors).upsert

    async def meanwhile(self: Any, points: Sequence[Point]) -> None:
        monkeypatch.undo()
        await real(self, points)

        async def change(transaction: GraphTransaction) -> None:
            (first, *_) = await thread(side)
            await transaction.put_nodes([replace(first, tags=("new",))])

        await side.graph.write("t", "c", change)

    monkeypatch.setattr(type(side.vectors), "upsert", meanwhile)
    done = await run(side)
    assert (done.macros, done.changed) == (0, 1)
    await sound(side)  # nothing of the summary is left
    assert (await run(side)).events == 5


async def left_by_a_dry_run(side: Side) -> str:
    """Return why the only batch is left."""
    reasons: list[str] = []
    dry = consolidation(side, on_batch=lambda flow, consolidate, reason: reasons.append(reason))
    done = await dry.run(RULES, now=LATER, dry=True)
    assert (done.macros, done.refused, done.skipped) == (0, 0, 1), "as a run leaves it"
    (reason,) = reasons
    return reason


async def test_a_refused_or_undone_batch_is_left_until_it_changes(side: Side) -> None:
    await tell(side, turns(5))
    strict = consolidation(side, chunk_chars=40, share=0.01)
    assert (await strict.run(RULES, now=LATER)).refused == 1
    done = await strict.run(RULES, now=LATER)
    assert (done.refused, done.skipped, done.macros) == (0, 1, 0)
    done = await strict.run(RULES, now=LATER, again=True)
    assert (done.refused, done.skipped) == (1, 0)
    assert "refused before: the summary represents only 0" in await left_by_a_dry_run(side)
    await tell(side, [turn(0, "We talked about something else entirely in round 0.")])
    assert (await run(side)).macros == 1, "it is not what was refused"
    (step,) = (one for one in await side.graph.scan(Steps(tenant="t"), limit=9) if one.outcome is Outcome.DONE)
    await consolidation(side).undo(step.id, now=LATER, grace=GRACE)
    await sound(side)
    assert await left_by_a_dry_run(side) == "undone before"
    done = await run(side)
    assert (done.macros, done.skipped) == (0, 1), "whoever has brought it back wants it as it is"
    assert (await run(side, again=True)).macros == 1
    await sound(side)


async def test_llm_summaries_are_used_except_lines_that_fail_the_check(side: Side) -> None:
    await tell(side, turns(10))

    def answer(body: dict[str, Any]) -> str:
        shown = json.loads(body["messages"][-1]["content"])["messages"]
        lines = [f"{message['text'][:-1]}!" for message in shown]
        if "round 0" in lines[0]:
            lines[0] = "We talked about the amulet of Porto in round 77."
        return json.dumps({"lines": [{"n": n, "text": line} for n, line in enumerate(lines, 1)]})

    async with serve_chat(answer) as chat:
        model = OpenAILanguageModel(base_url=chat.url, model="m")
        asking = LlmRequester(model, max_tokens=4096, at_once=2)
        done = await consolidation(side, llm=asking).run(RULES, now=LATER)
        await model.close()
    assert (done.macros, done.refused, len(chat.asked)) == (2, 0, 2)
    await sound(side)
    assert {step.details.get("by") for step in await side.graph.scan(Steps(tenant="t"), limit=9)} == {"llm"}
    first, *_ = (await summary(side, (await thread(side))[0])).split("\n")
    assert first.endswith("in round 0."), "of a round that never was it tells nothing; the source speaks for itself"
    assert "in round 1!" in await summary(side, (await thread(side))[0])
    summaries = [node.text or "" for node in (await side.nodes()).values() if node.label is Label.CHUNK]
    assert any(text.startswith("Ben: We talked about the amulet of Porto in round 5!") for text in summaries)
    assert not any("77" in text for text in summaries)
    for step in await side.graph.scan(Steps(tenant="t"), limit=9):
        await consolidation(side).undo(step.id, now=LATER, grace=GRACE)
    await sound(side)


async def test_a_batch_with_an_llm_draft_is_consolidated_first(side: Side) -> None:
    await tell(side, turns(40))

    def answer(body: dict[str, Any]) -> str:
        shown = json.loads(body["messages"][-1]["content"])["messages"]
        if not any("round 12." in one["text"] for one in shown):
            return "none"
        return json.dumps({"lines": [{"n": n, "text": one["text"]} for n, one in enumerate(shown, 1)]})

    async with serve_chat(answer) as chat:
        model = OpenAILanguageModel(base_url=chat.url, model="m")
        asking = LlmRequester(model, max_tokens=4096, at_once=3)
        done = await consolidation(side, llm=asking).run(RULES, now=LATER, seconds=0.0)
        assert (done.macros, len(chat.asked)) == (1, 3)
        await model.close()
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
    assert step.details["by"] == "llm"


async def test_drafts_by_a_language_model_are_used_past_the_deadline_of_a_slice(side: Side) -> None:
    await tell(side, turns(40))

    def answer(body: dict[str, Any]) -> str:
        shown = json.loads(body["messages"][-1]["content"])["messages"]
        return json.dumps({"lines": [{"n": n, "text": one["text"]} for n, one in enumerate(shown, 1)]})

    async with serve_chat(answer) as chat:
        model = OpenAILanguageModel(base_url=chat.url, model="m")
        made = consolidation(side, llm=LlmRequester(model, max_tokens=4096, at_once=2))
        done = await made.run(RULES, now=LATER, seconds=0.0)
        assert (done.macros, len(chat.asked), done.next is None) == (2, 2, False), "as many as it is asked for at once"
        done = await made.run(RULES, now=LATER, start=done.next)
        assert (done.macros, len(chat.asked), done.next) == (6, 8, None)
        await model.close()
    await sound(side)


async def test_an_llm_summary_that_fails_the_check_falls_back_to_source_sentences(side: Side) -> None:
    idle = "It was such a calm and lovely evening with music at the sea in round {}."
    await tell(side, [turn(n, idle.format(n) + " Mara never came." * (n == 2)) for n in range(5)])

    def answer(body: dict[str, Any]) -> str:
        shown = json.loads(body["messages"][-1]["content"])["messages"]
        lines = [message["text"].removesuffix(" Mara never came.") for message in shown]
        return json.dumps({"lines": [{"n": n, "text": line} for n, line in enumerate(lines, 1)]})

    async with serve_chat(answer) as chat:
        model = OpenAILanguageModel(base_url=chat.url, model="m")
        asking = LlmRequester(model, max_tokens=4096, at_once=2)
        written = METRICS.get_sample_value("vicw_consolidate_llm_total", {"outcome": "written"}) or 0.0
        done = await consolidation(side, chunk_chars=190, llm=asking).run(RULES, now=LATER)
        await model.close()
    assert len(chat.asked) == 1
    now_written = METRICS.get_sample_value("vicw_consolidate_llm_total", {"outcome": "written"})
    assert now_written == written + 1, "its lines are a summary, but for what they leave out"
    assert (done.macros, done.refused) == (1, 0)
    (step,) = await side.graph.scan(Steps(tenant="t"), limit=9)
    assert (step.outcome, step.details.get("by")) == (Outcome.DONE, None), "sentences of the sources took their place"
    assert any("Mara never came." in (node.text or "") for node in await summaries(side))
    await sound(side)
