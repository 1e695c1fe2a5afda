"""What items tell of: who told it, what stays when one takes it back, what edges say of an item."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.stores.memory import Memory, open_memory
from vicw_shared.errors import InvalidInputError, StorageFullError
from vicw_shared.ports import Direction
from vicw_shared.uids import named_uid

HATES = {
    "entities": [{"name": "a"}, {"name": "b"}],
    "relations": [{"source": "a", "type": "RELATED_TO", "target": "b", "desc": "hates"}],
}


async def test_a_relation_of_two_items_stays_until_both_drop_it(memory: Memory) -> None:
    graph, a = memory.standalone.graph, named_uid("default", "ctx", "thing", "a")

    async def tellings() -> int:
        return len(await graph.expand("default", [a], [("RELATED_TO", Direction.OUT)], 10))

    await memory.ingest(
        {"id": "x", "text": "one", "extraction": HATES}, {"id": "y", "text": "two", "extraction": HATES}
    )
    assert await tellings() == 2
    await memory.ingest({"id": "y", "text": "two, corrected"})
    assert await tellings() == 1
    await memory.ingest({"id": "x", "text": "one, corrected"})
    assert await tellings() == 0
    assert (await memory.check()).violations == []


async def test_a_relation_between_other_items_goes_with_the_item_stating_it(memory: Memory) -> None:
    first = (
        await memory.ingest({"id": "x", "text": "x", "speaker": "a"}, {"id": "y", "text": "y", "speaker": "a"})
    ).items
    told = {"relations": [{"source": "x", "type": "CAUSED", "target": "y"}]}
    await memory.ingest({"id": "t", "text": "why", "extraction": told})
    graph = memory.standalone.graph
    assert len(await graph.expand("default", [first[0].uid], [("CAUSED", Direction.OUT)], 9)) == 1

    await memory.ingest({"id": "t", "text": "why, taken back"})

    assert await graph.expand("default", [first[0].uid], [("CAUSED", Direction.OUT)], 9) == []


async def test_tags_and_subjects_can_be_set_by_another_items_extraction(memory: Memory) -> None:
    secret = {"id": "s", "text": "the harbour at night", "sensitivity": "personal"}
    await memory.ingest(secret)
    assert await memory.found("harbour", viewer={"user": "Ana"}) == []
    told: dict[str, Any] = {
        "entities": [{"name": "Ana", "subtype": "person"}],
        "concepts": [{"name": "Sea", "subtype": "tag"}],
        "relations": [
            {"source": "s", "type": "ABOUT", "target": "Ana"},
            {"source": "s", "type": "TAGGED", "target": "Sea"},
            {"source": "$item", "type": "TAGGED", "target": "Sea"},
        ],
    }
    await memory.ingest({"id": "t", "text": "what the harbour was about", "extraction": told})

    assert await memory.found("harbour", viewer={"user": "Ana"}, tags={"any": ["sea"]}) == ["s", "t"]
    await memory.ingest(secret | {"text": "the harbour at noon"})
    assert "s" in await memory.found("harbour", viewer={"user": "Ana"}, tags={"any": ["sea"]}), "an update keeps it"
    await memory.ingest({"id": "t", "text": "taken back"})
    assert "s" not in await memory.found("harbour", viewer={"user": "Ana"})
    assert await memory.found("harbour", tags={"any": ["sea"]}) == []
    assert (await memory.check()).violations == []


async def test_an_edge_added_during_indexing_keeps_the_passage_queued(store: Path) -> None:
    async with open_memory(store) as memory:
        memory.standalone.indexer.everything = False
        await memory.ingest({"id": "s", "text": "the harbour", "sensitivity": "personal"}, wait=False)
        graph = memory.standalone.graph
        (under_way,) = await graph.outbox.claim(10, seconds=60)
        told = {
            "entities": [{"name": "Ana", "subtype": "person"}],
            "relations": [{"source": "s", "type": "ABOUT", "target": "Ana"}],
        }
        await memory.ingest({"id": "t", "text": "later", "extraction": told}, wait=False)

        await graph.outbox.acknowledge([under_way])  # as an indexer does that had read it before

        pending = [
            (point.point_id, point.about[0]) for point in await graph.outbox.claim(10, seconds=60) if point.about
        ]
        assert pending == [(under_way.point_id, "Ana")]


async def test_an_event_id_and_an_equal_event_name_are_two_events(memory: Memory) -> None:
    told = {"events": [{"id": "x", "name": "first"}, {"name": "X"}]}
    response = await memory.ingest({"text": "two things happened", "extraction": told})
    assert {node.name for node in response.items[0].nodes if node.subtype == "event" and node.label == "Event"} == {
        "first",
        "X",
    }


async def test_tagged_relations_to_other_concepts_are_refused(memory: Memory) -> None:
    told = {
        "concepts": [{"name": "justice", "subtype": "idea"}],
        "relations": [{"source": "$item", "type": "TAGGED", "target": "justice"}],
    }
    with pytest.raises(InvalidInputError, match="bucket or tag"):
        await memory.ingest({"text": "x", "extraction": told})


async def test_an_unknown_uid_as_subject_is_refused(memory: Memory) -> None:
    nobody = "01234567-89ab-5cde-8f01-23456789abcd"
    with pytest.raises(InvalidInputError, match=rf"items\[1\]\.about\[1\]: {nobody}"):
        await memory.ingest({"text": "x"}, {"text": "y", "about": ["Ana", nobody]})
    assert await memory.found("x") == []


async def test_an_entity_name_already_known_as_a_concept_is_refused(memory: Memory) -> None:
    await memory.ingest({"text": "x", "extraction": {"concepts": [{"name": "Rust", "subtype": "language"}]}})
    with pytest.raises(InvalidInputError, match=r"^items\[0\]\.extraction: .*known as Concept, not Entity"):
        await memory.ingest({"text": "y", "extraction": {"entities": [{"name": "rust", "subtype": "language"}]}})


@pytest.mark.parametrize(
    ("extraction", "field"),
    [
        ({"entities": [{"name": "x" * 600}]}, r"entities\[0\]\.name"),
        ({"events": [{"name": "e", "subtype": "x" * 600}]}, r"events\[0\]\.subtype"),
        ({"concepts": [{"name": "c", "id": "x" * 600}]}, r"concepts\[0\]\.id"),
        ({"concepts": [{"name": "c", "description": "x" * 3_000_000}]}, r"concepts\[0\]\.description"),
        (HATES | {"relations": [{**HATES["relations"][0], "desc": "x" * 600}]}, r"relations\[0\]\.desc"),
    ],
)
async def test_every_text_of_an_extraction_has_a_limit(memory: Memory, extraction: Any, field: str) -> None:
    with pytest.raises(InvalidInputError, match=rf"^items\[0\]\.extraction\.{field}: has .*VICW_MAX_"):
        await memory.ingest({"text": "x", "extraction": extraction})


async def test_the_response_for_an_unchanged_item_lists_its_nodes(memory: Memory) -> None:
    item = {
        "id": "i",
        "text": "A word. " * 300,
        "speaker": "Ana",
        "tags": ["x"],
        "about": ["Ben"],
        "extraction": {"events": [{"name": "said a word"}], "concepts": [{"name": "words"}]},
    }
    first = (await memory.ingest(item)).items[0]
    again = (await memory.ingest(item)).items[0]

    assert again.status == "unchanged"
    assert len(first.nodes) >= 7
    assert {node.uid for node in again.nodes} == {node.uid for node in first.nodes}


async def test_code_is_cut_as_code_in_any_domain(memory: Memory) -> None:
    functions = [f"def f{n}(x):\n    y = x + {n}\n\n    return y * {n}\n" for n in range(60)]
    response = await memory.ingest({"text": "\n".join(functions), "subtype": "module"}, domain="general")

    chunks = [node.uid for node in response.items[0].nodes if node.label == "Chunk"]
    texts = await memory.standalone.graph.texts("default", chunks)
    assert len(texts) > 1
    assert all(text.startswith("def ") for text in texts.values())


async def test_a_wait_timeout_without_a_recordable_job_is_no_error(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = memory.standalone.ingest_ports()
    impatient = replace(ports, settings=ports.settings.model_copy(update={"wait_seconds": 0.2}))
    monkeypatch.setattr(memory.standalone, "ingest_ports", lambda: impatient)
    memory.embedder.down = True

    def no_room() -> None:
        raise StorageFullError("no room")

    room = iter([True])
    data_dir = memory.standalone.data_dir
    require = data_dir.require_room
    monkeypatch.setattr(data_dir, "require_room", lambda: require() if next(room, False) else no_room())

    response = await memory.ingest({"id": "a", "text": "kept"})

    assert (response.job, response.items[0].status) == (None, "created")
