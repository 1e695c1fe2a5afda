"""What is stored of what the rules read: names found again, statements with points, who is whose, updates."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.stores.memory import Memory, open_memory
from vicw_shared.clock import now
from vicw_shared.model import Label, Node
from vicw_shared.ports import Edges, Lane, Nodes, Scope, VectorQuery


async def ingest_by_rules(memory: Memory, *items: dict[str, Any], **fields: Any) -> None:
    await memory.ingest(*items, extract="rules", **fields)


async def nodes(memory: Memory, label: Label) -> list[Node]:
    return await memory.standalone.graph.scan(Nodes(label), limit=1000)


async def live_edges(memory: Memory, *types: str) -> set[tuple[str, str, str]]:
    """Return the edges between live nodes, by the names of their ends."""
    live = {node.uid: node for label in Label for node in await nodes(memory, label) if node.retired_at is None}
    edges = [edge for edge, _, _ in await memory.standalone.graph.scan(Edges(), limit=5000)]
    return {
        (live[edge.source].name, edge.type, live[edge.target].name)
        for edge in edges
        if edge.type in types and edge.source in live and edge.target in live
    }


def statements(found: list[Node]) -> list[Node]:
    return [node for node in found if node.is_statement and node.retired_at is None]


async def test_statements_have_points_of_their_own_once_ingest_returns(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "x", "text": "Mara took the amulet. Edran rode north."})
    said = statements(await nodes(memory, Label.EVENT))
    assert {node.text for node in said} == {"Mara took the amulet.", "Edran rode north."}
    assert all(node.indexed for node in said)
    vector = (await memory.embedder.embed(["Edran rode north."], Lane.BULK))[0]
    query = VectorQuery(scope=Scope(tenant="default", now=now()), limit=9, dense=vector, label=Label.EVENT)
    hits = await memory.standalone.vectors.search(query)
    assert {hit.id for hit in hits} == {node.uid for node in said}
    assert (await memory.check()).violations == []


async def test_a_partial_name_links_to_the_person_in_the_same_text(memory: Memory) -> None:
    text = "Marit opened the office at noon. Captain Marit Holm wrote to Bergen. Holm closed it."
    await ingest_by_rules(memory, {"id": "x", "text": text}, context="hall")
    await ingest_by_rules(memory, {"id": "y", "text": "Marit slept at home."}, context="hall")
    people = {node.name for node in await nodes(memory, Label.ENTITY) if node.content_hash is None}
    assert people == {"Captain Marit Holm", "Bergen", "Marit"}
    mentions = await live_edges(memory, "MENTIONS")
    assert ("Holm closed it.", "MENTIONS", "Captain Marit Holm") in mentions
    assert ("Marit opened the office at noon.", "MENTIONS", "Captain Marit Holm") in mentions
    assert ("Marit slept at home.", "MENTIONS", "Marit") in mentions, "another text"


async def test_statements_are_not_results_of_their_own(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "x", "text": "Mara took the amulet. Edran rode north."})
    answer = await memory.retrieve("Edran rode north.")
    assert [result.id for result in answer.results] == ["x"]
    assert [node.subtype for node in answer.graph.nodes if node.subtype == "statement"] == []


async def test_the_ingest_response_lists_entities_and_no_statements(memory: Memory) -> None:
    first = await memory.ingest({"id": "x", "text": "Mara took the amulet to Porto."}, extract="rules")
    again = await memory.ingest({"id": "x", "text": "Mara took the amulet to Porto."}, extract="rules")
    assert {"Mara", "Porto"} <= {node.name for node in first.items[0].nodes}
    assert "statement" not in {node.subtype for node in first.items[0].nodes}
    assert {node.uid for node in again.items[0].nodes} == {node.uid for node in first.items[0].nodes}


async def test_an_update_retires_statements_and_edges_of_the_earlier_text(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "x", "text": "The build broke because Ana bumped libfoo."})
    await ingest_by_rules(memory, {"id": "x", "text": "The build is fine, and Ben knows it."})
    assert [node.text for node in statements(await nodes(memory, Label.EVENT))] == [
        "The build is fine, and Ben knows it."
    ]
    assert await live_edges(memory, "CAUSED") == set()
    assert {name for _, _, name in await live_edges(memory, "MENTIONS")} == {"Ben"}
    assert (await memory.check()).violations == []


async def test_a_speaker_is_linked_to_the_person_mentioned_earlier(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "x", "text": "I met Ana in Porto.", "speaker": "Lena"})
    await ingest_by_rules(memory, {"id": "y", "text": "I moved here.", "speaker": "Ana"})
    people = [node for node in await nodes(memory, Label.ENTITY) if node.name == "Ana"]
    assert [node.subtype for node in people] == ["person"]


async def test_a_name_in_a_text_links_to_the_callers_entity(memory: Memory) -> None:
    villain = {"entities": [{"name": "Mara", "subtype": "villain"}]}
    await memory.ingest({"id": "x", "text": "The cast.", "extraction": villain})
    await ingest_by_rules(memory, {"id": "y", "text": "The guards saw MARA in the vault."})
    assert [node.subtype for node in await nodes(memory, Label.ENTITY) if node.title == "Mara"] == ["villain"]


async def test_an_answer_shows_the_cause_extracted_by_rules(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "x", "text": "The build broke because Ana bumped libfoo."})
    answer = await memory.retrieve("Why did the build break?")
    (caused,) = (edge for edge in answer.graph.edges if edge.type == "CAUSED")
    assert caused.created_by == "rules:because"
    assert "Ana bumped libfoo" in answer.text.split("\n", 2)[2]


async def test_caller_and_rule_extractions_of_an_item_are_both_kept(memory: Memory) -> None:
    extraction = {"events": [{"name": "theft"}]}
    await ingest_by_rules(memory, {"id": "x", "text": "Mara took the amulet.", "extraction": extraction})
    assert {node.name for node in await nodes(memory, Label.EVENT)} == {"theft", "Mara took the amulet."}


async def test_mentions_of_a_common_name_are_capped_except_for_people(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VICW_INGEST_HUB_EDGES", "6")
    async with open_memory(store) as memory:
        for n in range(9):
            await ingest_by_rules(memory, {"id": f"x{n}", "text": f"The guards of Saltmere slept at noon on day {n}."})
            await ingest_by_rules(
                memory, {"id": f"y{n}", "text": f"I slept at noon on day {n}, and Ana did.", "speaker": "Ana"}
            )
        mentions = Counter(name for _, _, name in await live_edges(memory, "MENTIONS"))
        assert mentions["Saltmere"] <= 6
        assert mentions["Ana"] == 10, "people are no common words"
