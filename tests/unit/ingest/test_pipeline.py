from __future__ import annotations

import asyncio
import threading

import pytest

from support.stores.memory import Memory
from vicw_ingest.plan.chunking import split_passages
from vicw_ingest.response.job_status import job_status
from vicw_shared.errors import (
    ForbiddenEdgeError,
    InvalidInputError,
    MissingRecordError,
    StateConflictError,
    UnknownTypeError,
)
from vicw_shared.model import Label
from vicw_shared.ports import Direction
from vicw_shared.uids import context_uid, named_uid


async def chain(memory: Memory, start: str, edge_type: str, direction: Direction) -> list[str | None]:
    """Follow a chain from an item's uid; return the callers' ids."""
    graph, ids = memory.standalone.graph, []
    node = (await graph.nodes("default", [start]))[start]
    while True:
        ids.append(node.source_id)
        onward = await graph.expand("default", [node.uid], [(edge_type, direction)], 10)
        if not onward:
            return ids
        assert len(onward) == 1
        node = onward[0].node


async def uid_of(memory: Memory, item_id: str, context: str = "ctx") -> str:
    async def work(transaction: object) -> str:
        return (await transaction.items([item_id]))[item_id].uid  # type: ignore[attr-defined, no-any-return]

    return await memory.standalone.graph.write("default", context, work)


async def test_ingest_stores_an_item_with_its_proof_and_entities(memory: Memory) -> None:
    response = await memory.ingest(
        {"id": "a", "text": "Ana fixed the parser.", "speaker": "Ana", "tags": ["Parser"], "bucket": "work"},
        {"id": "b", "text": "A plain note about nothing."},
        domain="code",
        flow_id="f",
    )
    first, second = response.items
    assert response.domain == "coding"
    assert (first.status, first.label, first.flow_id, first.flow_step) == ("created", Label.EVENT, "f", 1)
    assert second.flow_step == 2
    assert {(n.label, n.subtype, n.name) for n in first.nodes} == {
        (Label.CHUNK, "message", "Ana"),
        (Label.ENTITY, "person", "Ana"),
        (Label.CONCEPT, "tag", "Parser"),
        (Label.CONCEPT, "bucket", "work"),
    }
    graph = memory.standalone.graph
    for edge_type in ("BELONGS_TO", "EVIDENCED_BY"):
        assert await graph.expand("default", [first.uid], [(edge_type, Direction.OUT)], 10)
    (agent,) = await graph.expand("default", [first.uid], [("INITIATED", Direction.IN)], 10)
    assert agent.node.uid == named_uid("default", "ctx", "person", "ana")
    assert agent.edge.created_by == "ingest"
    item = (await graph.nodes("default", [first.uid]))[first.uid]
    assert item.qdrant_id in {n.uid for n in first.nodes}


async def test_a_document_is_an_entity_outside_the_chains(memory: Memory) -> None:
    response = await memory.ingest({"id": "doc", "text": "Some page.", "name": "Page"})
    item = response.items[0]
    assert (item.label, item.flow_step) == (Label.ENTITY, None)
    node = (await memory.standalone.graph.nodes("default", [item.uid]))[item.uid]
    assert node.timestamp is None


_NESTED = "- harbour\n" + "".join(f"    - berth {n} for boats that come and go\n" for n in range(60))


async def test_passages_are_cut_before_the_transaction_and_in_another_thread(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_in: list[threading.Thread] = []

    def split(text: str, *, size: int, code: bool) -> list[str]:
        cut_in.append(threading.current_thread())
        return split_passages(text, size=size, code=code)

    monkeypatch.setattr("vicw_ingest.plan.drafts.split_passages", split)
    await memory.ingest({"id": "x", "text": _NESTED}, {"id": "y", "text": "short"})
    assert len(cut_in) == 1
    assert cut_in[0] is not threading.main_thread()


async def test_the_stored_passages_of_a_nested_list_are_its_text_with_all_indentation(memory: Memory) -> None:
    response = await memory.ingest({"id": "x", "text": _NESTED})
    uids = [node.uid for node in response.items[0].nodes if node.label is Label.CHUNK]
    texts = await memory.standalone.graph.texts("default", uids)
    assert len(uids) > 1
    assert "".join(texts[uid] for uid in uids) == _NESTED
    assert all(texts[uid].startswith("    - berth") for uid in uids[1:])
    answer = await memory.retrieve("berth 59", limit=1)
    assert "\n>     - berth 59 for boats" in answer.text
    shown = answer.text[answer.text.index("\n") :].splitlines()
    assert all(line.startswith(">     - berth") for line in shown if "berth" in line)


async def test_an_item_that_was_cut_in_another_way_is_unchanged_and_its_copy_is_known(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def halves(text: str, *, size: int, code: bool) -> list[str]:
        return [text[: len(text) // 2], text[len(text) // 2 :]]

    monkeypatch.setattr("vicw_ingest.plan.drafts.split_passages", halves)
    stored = await memory.ingest({"id": "x", "text": _NESTED})
    monkeypatch.undo()
    before = await memory.check()

    again = await memory.ingest({"id": "x", "text": _NESTED})
    copy = await memory.ingest({"id": "copy", "text": _NESTED})

    assert again.items[0].status == "unchanged"
    assert again.items[0].uid == stored.items[0].uid
    assert copy.items[0].status == "linked"
    after = await memory.check()
    assert after.violations == before.violations == []
    assert after.points == before.points


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sent 👍", "Sent 👎"),
        ("for US", "for us"),
        ("a pêche", "a peche"),
        ("port 8080", "port 8081"),
        ("is", "is not"),
    ],
)
async def test_what_a_model_may_not_tell_apart_is_a_new_version(memory: Memory, one: str, other: str) -> None:
    await memory.ingest({"id": "x", "text": one})
    changed = await memory.ingest({"id": "x", "text": other})
    assert changed.items[0].status == "updated"


async def test_an_id_sent_again_is_unchanged_or_a_new_version(memory: Memory) -> None:
    first = await memory.ingest({"id": "x", "text": "The port is 8080."})
    same = await memory.ingest({"id": "x", "text": "The port is 8080."})
    changed = await memory.ingest({"id": "x", "text": "The port is 9090."})
    assert [r.items[0].status for r in (first, same, changed)] == ["created", "unchanged", "updated"]
    assert same.items[0].uid == first.items[0].uid != changed.items[0].uid
    assert [r.text for r in (await memory.retrieve("which port?")).results] == ["The port is 9090."]
    graph = memory.standalone.graph
    (old,) = await graph.expand("default", [changed.items[0].uid], [("SUPERSEDES", Direction.OUT)], 10)
    assert old.node.uid == first.items[0].uid
    assert old.node.retired_at is not None
    back = await memory.ingest({"id": "x", "text": "The port is 8080."})
    assert back.items[0].status == "updated"
    assert len({first.items[0].uid, changed.items[0].uid, back.items[0].uid}) == 3


async def test_time_travel_reads_the_past_by_as_of_and_known_at(memory: Memory) -> None:
    old = {"id": "door", "text": "The door is open.", "timestamp": "2024-01-01T00:00:00Z"}
    first = await memory.ingest(old)
    known = (await memory.standalone.graph.nodes("default", [first.items[0].uid]))[first.items[0].uid].created_at
    await memory.ingest({"id": "door", "text": "The door is shut.", "timestamp": "2024-06-01T00:00:00Z"})

    async def texts(**when: str) -> list[str]:
        return [r.text for r in (await memory.retrieve("door", **when)).results]

    assert await texts() == ["The door is shut."]
    assert await texts(as_of="2024-03-01T00:00:00Z") == ["The door is open."]
    assert await texts(as_of="2024-07-01T00:00:00Z") == ["The door is shut."]
    assert await texts(as_of="2023-01-01T00:00:00Z") == []
    assert await texts(known_at=known.isoformat()) == ["The door is open."]
    await memory.ingest({"id": "lamp", "text": "The lamp is red.", "timestamp": "2024-01-01T00:00:00Z"})
    await memory.ingest({"id": "lamp", "text": "The lamp is blue.", "timestamp": "2024-01-01T00:00:00Z"})
    lamp = [r.text for r in (await memory.retrieve("lamp", as_of="2024-02-01T00:00:00Z", limit=1)).results]
    assert lamp == ["The lamp is blue."], "a correction was never true before"


async def test_chains_place_late_items_by_their_steps_and_timestamps(memory: Memory) -> None:
    def at(day: int) -> str:
        return f"2024-01-{day:02}T00:00:00Z"

    await memory.ingest(
        {"id": "d2", "text": "second", "timestamp": at(2)},
        {"id": "d4", "text": "fourth", "timestamp": at(4)},
        flow_id="f",
    )
    late = await memory.ingest(
        {"id": "d3", "text": "third", "timestamp": at(3)},
        {"id": "d1", "text": "first", "timestamp": at(1)},
        {"id": "d4b", "text": "fourth, too", "timestamp": at(4)},
        flow_id="f",
    )
    other = await memory.ingest({"id": "g", "text": "elsewhere", "timestamp": at(3)}, flow_id="g")
    assert [item.flow_step for item in late.items] == [3, 4, 5], "steps count arrivals"
    start = await uid_of(memory, "d1")
    assert await chain(memory, start, "NEXT", Direction.OUT) == ["d1", "d2", "d3", "d4", "d4b"]
    clock = await chain(memory, await uid_of(memory, "d4b"), "HAPPENED_AFTER", Direction.OUT)
    assert clock == ["d4b", "d4", "g", "d3", "d2", "d1"]
    assert other.items[0].flow_step == 1
    await memory.ingest(
        {"id": "s2", "text": "own two", "flow_step": 2}, {"id": "s1", "text": "own one", "flow_step": 1}, flow_id="own"
    )
    assert await chain(memory, await uid_of(memory, "s1"), "NEXT", Direction.OUT) == ["s1", "s2"]


async def test_an_update_keeps_its_chain_position_unless_its_flow_changes(memory: Memory) -> None:
    await memory.ingest(*({"id": f"m{n}", "text": f"turn {n}"} for n in range(5)), flow_id="f")
    kept = await memory.ingest(
        {"id": "m2", "text": "turn two, mended"}, {"id": "m3", "text": "turn three, mended"}, flow_id="f"
    )
    assert [i.flow_step for i in kept.items] == [3, 4]
    assert await chain(memory, await uid_of(memory, "m0"), "NEXT", Direction.OUT) == ["m0", "m1", "m2", "m3", "m4"]
    await memory.ingest({"id": "m0", "text": "turn zero, moved"}, flow_id="g")
    assert await chain(memory, await uid_of(memory, "m1"), "NEXT", Direction.OUT) == ["m1", "m2", "m3", "m4"]


async def test_steps_are_gap_free_under_concurrent_writers(memory: Memory) -> None:
    requests = [
        memory.ingest(*({"id": f"{w}-{n}-{k}", "text": f"writer {w} says {n} {k}"} for k in range(3)), flow_id="f")
        for w in range(8)
        for n in range(5)
    ]
    responses = await asyncio.gather(*requests)
    steps = sorted(item.flow_step or 0 for response in responses for item in response.items)
    assert steps == list(range(1, 8 * 5 * 3 + 1))


async def test_a_request_sent_twice_with_a_key_is_stored_once(memory: Memory) -> None:
    first = await memory.ingest({"text": "no id here"}, key="k1")
    again = await memory.ingest({"text": "no id here"}, key="k1")
    assert again == first
    (result,) = (await memory.retrieve("no id here")).results
    assert not result.duplicates
    with pytest.raises(StateConflictError, match="Idempotency-Key"):
        await memory.ingest({"text": "something else"}, key="k1")
    await memory.ingest({"text": "no id here"})
    (result,) = (await memory.retrieve("no id here")).results
    assert len(result.duplicates) == 1, "without an id each item is new"


async def test_the_callers_extraction_becomes_nodes_and_checked_edges(memory: Memory) -> None:
    extraction = {
        "entities": [{"name": "Parser", "subtype": "module", "description": "Reads files."}],
        "events": [{"id": "crash", "name": "the crash"}, {"id": "fix", "name": "the fix"}],
        "concepts": [{"name": "resilience"}],
        "relations": [
            {"source": "crash", "type": "CAUSED", "target": "fix", "certainty": 0.9},
            {"source": "$item", "type": "RELATED_TO", "target": "resilience", "desc": "teaches"},
            {"source": "$item", "type": "REFERENCES", "target": "earlier"},
        ],
    }
    await memory.ingest({"id": "earlier", "text": "An earlier note."})
    response = await memory.ingest({"id": "x", "text": "the crash led to the fix", "extraction": extraction})
    item = response.items[0]
    graph = memory.standalone.graph
    crash = next(n for n in item.nodes if n.name == "the crash")
    (caused,) = await graph.expand("default", [crash.uid], [("CAUSED", Direction.OUT)], 10)
    assert (caused.node.name, caused.edge.properties["certainty"], caused.edge.created_by) == ("the fix", 0.9, "caller")
    (related,) = await graph.expand("default", [item.uid], [("RELATED_TO", Direction.OUT)], 10)
    assert related.edge.properties["desc"] == "teaches"
    (earlier,) = await graph.expand("default", [item.uid], [("REFERENCES", Direction.OUT)], 10)
    assert earlier.node.source_id == "earlier"
    answer = await memory.retrieve("crash")
    assert [len(path) for path in answer.graph.paths] == [1]
    assert "the crash led to: the fix (certainty 0.9)" in answer.text


@pytest.mark.parametrize(
    ("relation", "error", "field", "says"),
    [
        ({"source": "a", "type": "EXPLODES", "target": "b"}, UnknownTypeError, "type", "'EXPLODES' is not registered"),
        ({"source": "a", "type": "CAUSED", "target": "b"}, ForbiddenEdgeError, "type", "Entity → Entity"),
        ({"source": "a", "type": "NEXT", "target": "b"}, InvalidInputError, "type", "is set by VICW"),
        ({"source": "a", "type": "RELATED_TO", "target": "zzz"}, InvalidInputError, "target", "'zzz' matches no node"),
        ({"source": "a", "type": "RELATED_TO", "target": "a"}, InvalidInputError, "", "to itself"),
    ],
)
async def test_an_invalid_relation_is_refused_and_nothing_is_stored(
    memory: Memory, relation: dict[str, str], error: type[InvalidInputError], field: str, says: str
) -> None:
    extraction = {"entities": [{"name": "a"}, {"name": "b"}], "relations": [relation]}
    with pytest.raises(error) as caught:
        await memory.ingest({"text": "fine"}, {"text": "not fine", "extraction": extraction})
    suffix = f".{field}" if field else ""
    assert caught.value.problems[0].field == f"items[1].extraction.relations[0]{suffix}"
    assert says in str(caught.value)
    assert await memory.standalone.graph.contexts("default") == []


async def test_an_update_drops_its_own_relations_and_keeps_references_to_it(memory: Memory) -> None:
    told = {
        "entities": [{"name": "a"}, {"name": "b"}],
        "relations": [{"source": "a", "type": "RELATED_TO", "target": "b", "desc": "hates"}],
    }
    await memory.ingest({"id": "x", "text": "a hates b", "extraction": told})
    points = {"relations": [{"source": "$item", "type": "REFERENCES", "target": "x"}]}
    other = await memory.ingest({"id": "y", "text": "see x", "extraction": points})
    await memory.ingest({"id": "x", "text": "a and b are strangers"})
    graph = memory.standalone.graph
    a = named_uid("default", "ctx", "thing", "a")
    assert await graph.expand("default", [a], [("RELATED_TO", Direction.OUT)], 10) == []
    targets = await graph.expand("default", [other.items[0].uid], [("REFERENCES", Direction.OUT)], 10)
    assert await uid_of(memory, "x") in {n.node.uid for n in targets}


async def test_unavailable_or_conflicting_extraction_modes_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="there is no language model here"):
        await memory.ingest({"text": "x"}, extract="llm")
    with pytest.raises(InvalidInputError, match=r"items\[0\]\.extraction"):
        await memory.ingest({"text": "x", "extraction": {"entities": [{"name": "Ana"}]}}, extract="none")
    empty: dict[str, list[object]] = {"entities": [], "events": [], "concepts": [], "relations": []}
    await memory.ingest({"text": "an extraction of nothing contradicts nothing", "extraction": empty}, extract="none")


async def test_job_status_turns_done_once_the_passages_are_indexed(memory: Memory) -> None:
    memory.embedder.down = True
    response = await memory.ingest({"id": "a", "text": "later"}, wait=False)
    assert response.job is not None
    ports = memory.standalone.ingest_ports()
    status = await job_status(
        response.job, "default", ports.graph, ports.record, ports.outbox, ports.pending_extractions
    )
    assert (status.status, status.passages_waiting, status.items) == ("running", 1, 1)
    assert status.result is None, "who asks again and again has it from the first answer"
    memory.embedder.down = False
    async with asyncio.timeout(20):
        while status.status != "done":
            await asyncio.sleep(0.05)
            status = await job_status(
                response.job, "default", ports.graph, ports.record, ports.outbox, ports.pending_extractions
            )
    assert status.result == response
    assert await memory.found("later") == ["a"]
    with pytest.raises(MissingRecordError):
        await job_status(
            response.job, "another tenant", ports.graph, ports.record, ports.outbox, ports.pending_extractions
        )


async def test_repeated_ids_in_a_request_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match=r"items\[2\]\.id"):
        await memory.ingest({"id": "a", "text": "x"}, {"id": "b", "text": "y"}, {"id": "a", "text": "z"})


async def test_the_context_keeps_its_first_domain(memory: Memory) -> None:
    await memory.ingest({"text": "x"}, context="c", domain="Fiction")
    response = await memory.ingest({"text": "y"}, context="c")
    assert response.domain == "creative"
    root = (await memory.standalone.graph.nodes("default", [context_uid("default", "c")])).popitem()[1]
    assert (root.domain, root.name) == ("creative", "c")


async def test_equal_texts_share_the_embedding_not_the_point(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "same words"}, {"id": "b", "text": "same words"})
    assert len(memory.embedder.seen) == 1
    (result,) = (await memory.retrieve("same words")).results
    assert {result.id, *result.duplicates} == {"a", "b"}
