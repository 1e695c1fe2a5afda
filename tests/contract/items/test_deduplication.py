"""What came out of memory does not come into it again, on both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.stores.pairs import Side, asked_for
from vicw_ingest.dedup.detector import find_duplicates
from vicw_shared.clock import now
from vicw_shared.model import Edge, Label
from vicw_shared.wire.ingest import IngestedItem, IngestResponse
from vicw_shared.wire.retrieve import RetrieveResponse

CACHE = "The deployment failed because the cache was stale."
REPAIR = "Ben restarted the cache servers in the evening."
QUESTION = {"query": "Why did the deployment fail?"}
# Told when the file is read, which may be an hour before its tests run.
OVER = now() + timedelta(days=1)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def tell(side: Side, *items: dict[str, Any], context: str = "ops", tenant: str = "t") -> IngestResponse:
    body = {"context": context, "domain": "general", "items": list(items)}
    response = await side.ingest(body, tenant, None)
    await side.indexer.drain()
    return response


async def ingest_text(side: Side, text: str, speaker: str | None = "assistant", **fields: Any) -> IngestedItem:
    (item,) = (await tell(side, {"text": text, "speaker": speaker, **fields})).items
    return item


async def retract_item(side: Side, name: str) -> None:
    await side.retract({"context": "ops", "ids": [name]}, "t")
    await side.indexer.drain()


async def ingest_two_turns(side: Side) -> dict[str, str]:
    """Tell two turns of a chat; return their uids by id."""
    turns = [("a", "Ana", CACHE), ("b", "Ben", REPAIR)]
    items = [
        {"id": name, "speaker": speaker, "text": text, "flow_id": "f", "timestamp": f"2026-01-01T1{n}:00:00Z"}
        for n, (name, speaker, text) in enumerate(turns)
    ]
    return {item.id or "": item.uid for item in (await tell(side, *items)).items}


async def duplicate_edges(side: Side, uid: str) -> dict[str, Edge]:
    """Return the edges from an item to what it repeats, by the uids of that."""
    edges = (await side.edges()).values()
    return {edge.target: edge for edge in edges if edge.source == uid and edge.created_by == "echo"}


def ranking(answer: RetrieveResponse) -> list[tuple[str, float]]:
    return [(result.uid, result.score) for result in answer.results]


async def test_quoted_results_are_not_stored_again(side: Side) -> None:
    uids = await ingest_two_turns(side)
    before, nodes, edges = await side.retrieve(QUESTION, "t"), await side.nodes(), await side.edges()
    for _ in range(3):
        for text in (before.results[0].text, before.text):
            echo = await ingest_text(side, text)
            assert (echo.status, echo.uid, echo.label, echo.nodes) == ("linked", uids["a"], Label.EVENT, ())
        assert [(source.id, source.how) for source in echo.sources] == [("a", "answer"), ("b", "answer")]
    after = await side.retrieve(QUESTION, "t")
    assert (ranking(after), after.text) == (ranking(before), before.text)
    assert (await side.nodes(), await side.edges()) == (nodes, edges)


@pytest.mark.parametrize(
    "text",
    [
        "the deployment   failed\nbecause the cache was stale",
        "> **The deployment failed** because the `cache` was stale.",
        "“The deployment failed because the cache was <b>stale</b>.”",
        "- The deployment failed because the cache was stale.",
    ],
)
async def test_deduplication_ignores_whitespace_case_and_markup(side: Side, text: str) -> None:
    uids = await ingest_two_turns(side)
    assert (await ingest_text(side, text, speaker=None)).uid == uids["a"]


async def test_a_repeated_passage_or_whole_document_is_linked_to_the_document(side: Side) -> None:
    whole = " ".join(f"Chapter {n} tells how the keeper lit lantern number {n} of the island." for n in range(6))
    (book,) = (await tell(side, {"id": "book", "text": whole})).items
    passages = [node for node in (await side.nodes()).values() if node.label is Label.CHUNK]
    assert len(passages) > 2
    for text in (passages[1].text or "", whole.upper()):
        echo = await ingest_text(side, text, speaker=None)
        assert (echo.status, echo.uid) == ("linked", book.uid)


async def test_new_text_beside_a_quoted_answer_is_stored_and_linked(side: Side) -> None:
    uids = await ingest_two_turns(side)
    answer = (await side.retrieve(QUESTION, "t")).text
    prompt = f"Use what you remember:\n\n{answer}\n\nQuestion: did Ben find out why?"
    (turn,) = (await tell(side, {"id": "p", "text": prompt, "speaker": "Cleo"})).items
    assert (turn.status, [source.uid for source in turn.sources]) == ("created", [uids["a"], uids["b"]])
    (passage,) = [node for node in turn.nodes if node.label is Label.CHUNK]
    assert (await side.nodes())[passage.uid].text == "Use what you remember:\n\nQuestion: did Ben find out why?"
    found = await duplicate_edges(side, turn.uid)
    assert {(edge.type, edge.weight) for edge in found.values()} == {("DERIVED_FROM", 0.0)}
    assert found.keys() == set(uids.values())
    assert "cache" not in {node.name for node in turn.nodes}, "who reads it reads what is new"
    (again,) = (await tell(side, {"id": "p", "text": prompt, "speaker": "Cleo"})).items
    assert (again.status, again.uid) == ("unchanged", turn.uid)


@pytest.mark.parametrize("text", [f'You told me: "{CACHE}" Is that still so?', f"> {CACHE}\n\nSo?", f"Ana: {CACHE}"])
async def test_a_quotation_inside_a_new_text_is_stored_unchanged(side: Side, text: str) -> None:
    await ingest_two_turns(side)
    turn = await ingest_text(side, text, "Cleo")
    nodes = await side.nodes()
    assert "".join(nodes[node.uid].text or "" for node in turn.nodes if node.label is Label.CHUNK) == text
    assert (turn.status, turn.sources) == ("created", ())


async def test_a_sentence_that_a_person_repeats_is_stored_again(side: Side) -> None:
    await ingest_two_turns(side)
    again = "2026-02-01T10:00:00Z"
    assert (await ingest_text(side, "Thanks!", "Ana")).status == "created"
    assert (await ingest_text(side, "Thanks!", "Ana")).status == "created"
    assert (await ingest_text(side, CACHE, "Ana", timestamp=again)).status == "created", "it failed once more"
    assert (await ingest_text(side, CACHE, "Cleo")).status == "created", "others may find so, too"
    assert (await ingest_text(side, CACHE, None, timestamp=again)).status == "created", "a line of a log"
    assert (await ingest_text(side, CACHE, "Ana", timestamp="2026-01-01T10:00:00Z")).status == "linked", (
        "the very same event"
    )
    long = f"{CACHE} {REPAIR} Nobody had told him to, and nobody thanked him for it either, as far as I have heard."
    assert (await ingest_text(side, long, "Ana")).status == "created"
    assert (await ingest_text(side, long, "Ana", timestamp=again)).status == "created"
    assert (await ingest_text(side, long, "Cleo")).status == "linked"


async def test_equal_items_of_one_request_are_not_duplicates_of_each_other(side: Side) -> None:
    items = [{"id": f"n{n}", "text": CACHE} for n in range(2)]
    assert [item.status for item in (await tell(side, *items)).items] == ["created", "created"]
    more = [{"id": f"m{n}", "text": CACHE} for n in range(2)]
    assert [item.status for item in (await tell(side, *more)).items] == ["linked", "linked"]


async def test_a_duplicate_with_an_id_is_stored_without_a_point(side: Side) -> None:
    uids = await ingest_two_turns(side)
    before = await side.retrieve(QUESTION, "t")
    echo = {"id": "e", "text": CACHE, "speaker": "assistant", "flow_id": "f", "tags": ["said"]}
    (first,) = (await tell(side, echo)).items
    (second,) = (await tell(side, echo)).items
    assert (first.status, first.uid, first.flow_id, first.flow_step) == ("linked", uids["a"], "f", 3)
    assert first == second
    after = await side.retrieve(QUESTION, "t")
    assert (ranking(after), after.text, after.graph) == (ranking(before), before.text, before.graph)
    relation = {"relations": [{"source": "e", "type": "RELATED_TO", "target": "r", "desc": "answered by"}]}
    entity = {"entities": [{"name": "r", "subtype": "person"}], **relation}
    (new,) = (await tell(side, {"id": "r1", "text": "Cleo answered that at once.", "extraction": entity})).items
    assert new.status == "created"
    (node,) = [node for node in (await side.nodes()).values() if node.source_id == "e"]
    assert (node.qdrant_id, node.is_duplicate, set(await duplicate_edges(side, node.uid))) == (None, True, {uids["a"]})
    (changed,) = (await tell(side, {**echo, "text": "I do not know that."})).items
    assert changed.status == "updated"
    assert (await side.check()).violations == []


async def test_a_duplicate_text_with_additional_fields_is_stored(side: Side) -> None:
    await ingest_two_turns(side)
    entities = {"entities": [{"name": "cache", "subtype": "system"}]}
    for fields in (
        {"extraction": entities},
        {"trigger_phrases": ["stale"]},
        {"name": "Post-mortem"},
        {"source": "b.md"},
    ):
        item = await ingest_text(side, CACHE, None, **fields)
        assert (item.status, item.sources) == ("created", ())


async def test_a_duplicate_with_an_id_takes_over_after_a_retraction(side: Side) -> None:
    await ingest_two_turns(side)
    for name in ("e1", "e2"):
        await ingest_text(side, CACHE, id=name)
    assert (await ingest_text(side, CACHE)).status == "linked"
    await retract_item(side, "a")
    assert [result.id for result in (await side.retrieve(QUESTION, "t")).results] == ["e1", "b"]
    assert (await ingest_text(side, CACHE)).sources[0].id == "e1"
    assert (await side.check()).violations == []
    await retract_item(side, "e1")
    assert [result.id for result in (await side.retrieve(QUESTION, "t")).results] == ["e2", "b"]
    await retract_item(side, "e2")
    assert (await ingest_text(side, CACHE)).status == "created"
    assert (await side.check()).violations == []


async def test_a_duplicate_takes_over_the_text_of_a_changed_or_expired_source(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, {"id": "a", "text": CACHE}, {"id": "x", "text": REPAIR, "expires_at": OVER.isoformat()})
    await tell(side, {"id": "e", "text": CACHE}, {"id": "y", "text": REPAIR})
    (updated,) = (await tell(side, {"id": "a", "text": "The deployment went well."})).items
    assert (updated.status, updated.sources) == ("updated", ())
    answer = await side.retrieve(QUESTION, "t")
    assert {result.id: result.text for result in answer.results if result.id in {"a", "e"}} == {
        "a": "The deployment went well.",
        "e": CACHE,
    }
    assert (await side.retrieve({"query": REPAIR}, "t")).results[0].id == "x"
    monkeypatch.setattr("vicw_ingest.expiry.service.now", lambda: OVER)
    assert await side.expire() == 1
    await side.indexer.drain()
    later = {"query": REPAIR, "query_time": (OVER + timedelta(hours=1)).isoformat()}
    assert (await side.retrieve(later, "t")).results[0].id == "y"
    assert not [node for node in (await side.nodes()).values() if node.is_duplicate]
    assert (await side.check()).violations == []


async def test_a_source_retracted_during_ingest_is_not_linked(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await ingest_two_turns(side)
    answer = (await side.retrieve(QUESTION, "t")).text

    async def find(*given: Any) -> Any:
        found = await find_duplicates(*given)
        await retract_item(side, "a")
        return found

    monkeypatch.setattr("vicw_ingest.pipeline.find_duplicates", find)
    texts = (CACHE, f"{answer}\n\nWhat else is there?")
    body = {"context": "ops", "items": [{"text": text, "speaker": "assistant"} for text in texts]}
    items = (await side.ingest(body, "t", None)).items
    assert [(item.status, [source.id for source in item.sources]) for item in items] == [
        ("created", []),
        ("created", ["b"]),
    ]
    await side.indexer.drain()
    assert (await side.check()).violations == []


async def test_deduplication_can_be_switched_off_by_a_setting(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await ingest_two_turns(side)
    monkeypatch.setenv("VICW_INGEST_DUPLICATE_CHARS", "0")
    assert ((await ingest_text(side, CACHE)).status, (await ingest_text(side, CACHE)).sources) == ("created", ())


async def test_only_quoted_answers_are_linked_across_contexts_and_never_tenants(side: Side) -> None:
    uids = await ingest_two_turns(side)
    answer = (await side.retrieve(QUESTION, "t")).text
    for tenant in ("u", "v"):
        (item,) = (await tell(side, {"text": f"{answer}\nSo it is."}, tenant=tenant)).items
        assert (item.status, item.sources) == ("created", ())
    (copied,) = (await tell(side, {"text": CACHE}, context="notes")).items
    assert (copied.status, copied.sources) == ("created", ()), "now it is known there, too"
    (again,) = (await tell(side, {"text": CACHE}, context="notes")).items
    assert (again.status, again.uid) == ("linked", copied.uid)
    (pasted,) = (await tell(side, {"text": f"{answer}\nSo it is."}, context="diary")).items
    assert [(source.uid, source.context) for source in pasted.sources] == [(uid, "ops") for uid in uids.values()]


PRIVATE = {"sensitivity": "personal", "about": ["Ana"]}


@pytest.mark.parametrize(
    ("source", "echo", "status"),
    [
        (PRIVATE, {}, "created"),
        (PRIVATE, {"sensitivity": "personal", "about": ["Ben"]}, "created"),
        (PRIVATE, {"sensitivity": "personal", "about": ["ANA"]}, "linked"),
        (PRIVATE, {"sensitivity": "sensitive", "about": ["Ana"]}, "created"),
        ({}, PRIVATE, "linked"),
        ({"portable": False}, {}, "created"),
        ({"portable": False}, {"portable": False}, "linked"),
    ],
)
async def test_a_duplicate_is_linked_only_to_sources_its_audience_may_see(
    side: Side, source: dict[str, Any], echo: dict[str, Any], status: str
) -> None:
    await tell(side, {"id": "s", "text": CACHE, **source})
    block = f"[1] ops · general · document · id s\n{CACHE}"
    for text in (f"{block}\n\nWhat now?", CACHE):
        item = await ingest_text(side, text, None, **echo)
        assert bool(item.sources) == (status == "linked")
    assert item.status == status


async def test_a_retried_request_and_its_job_return_the_same_result(side: Side) -> None:
    await ingest_two_turns(side)
    body = {"context": "ops", "items": [{"text": CACHE}, {"text": "Something new happened today."}]}
    first = await side.ingest(body, "t", "key")
    second = await side.ingest(body, "t", "key")
    assert first == second
    assert [item.status for item in first.items] == ["linked", "created"]
    await side.indexer.drain()
    assert first.job is not None
    job = await side.job(first.job, "t")
    assert (job.status, job.result) == ("done", first)


async def test_an_expired_item_is_not_a_deduplication_source(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await tell(side, {"id": "s", "text": CACHE, "expires_at": OVER.isoformat()})
    monkeypatch.setattr("vicw_ingest.pipeline.now", lambda: datetime.max.replace(tzinfo=UTC) - timedelta(days=1000))
    assert (await ingest_text(side, CACHE, None)).status == "created"
