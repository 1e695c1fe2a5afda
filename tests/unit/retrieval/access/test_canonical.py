"""In answers, what stands for a thing is shown in the place of what was merged into it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from support.stores.memory import Memory
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.identity.changes import merge, rename, split
from vicw_shared.model import EdgeRegistry
from vicw_shared.uids import named_uid
from vicw_shared.wire.retrieve import RetrieveResponse

DECISION = MergeDecision("default", datetime(2026, 1, 1, tzinfo=UTC), EdgeRegistry.with_core_types())


def person(name: str, context: str = "ctx") -> str:
    return named_uid("default", context, "person", name)


async def retrieve_people(memory: Memory, **fields: Any) -> tuple[RetrieveResponse, dict[str, tuple[str, ...]]]:
    """Return an answer with its people by name, each with the names that it goes by besides."""
    answer = await memory.retrieve("moved to Oslo", **fields)
    people = {node.name: node.aliases for node in answer.graph.nodes if node.subtype == "person"}
    ends = {node.uid for node in answer.graph.nodes}
    assert all({edge.source, edge.target} <= ends for edge in answer.graph.edges)
    return answer, people


async def ingest_turn(memory: Memory, speaker: str, context: str = "ctx", text: str = "I moved to Oslo.") -> None:
    item = {"id": f"{speaker} {text}", "text": text, "speaker": speaker}
    await memory.ingest(item, context=context, extract="none")


async def test_the_answer_shows_the_canonical_name_until_the_merge_is_undone(memory: Memory) -> None:
    graph = memory.standalone.graph
    await ingest_turn(memory, "Ana")
    for name in ("Anna", "Ana Souza"):
        await ingest_turn(memory, name, text="Good morning.")
    await merge(graph, DECISION, person("Ana"), person("Anna"))
    await merge(graph, DECISION, person("Anna"), person("Ana Souza"))

    answer, people = await retrieve_people(memory, limit=1)
    assert people == {"Ana Souza": ("Ana",)}
    (edge,) = [edge for edge in answer.graph.edges if edge.type == "INITIATED"]
    assert edge.source == person("Ana Souza")
    assert ("INITIATED", person("Ana Souza")) in {(via.type, via.uid) for via in answer.results[0].via}
    assert "by: Ana Souza" in answer.text

    answer, people = await retrieve_people(memory, limit=9)
    assert people == {"Ana Souza": ("Ana", "Anna")}
    assert len([edge for edge in answer.graph.edges if edge.type == "INITIATED"]) == 3

    await split(graph, DECISION, person("Anna"))
    assert (await retrieve_people(memory, limit=1))[1] == {"Anna": ("Ana",)}
    await split(graph, DECISION, person("Ana"))
    assert (await retrieve_people(memory, limit=1))[1] == {"Ana": ()}


async def test_a_canonical_name_is_shown_only_to_viewers_who_know_the_entity(memory: Memory) -> None:
    await ingest_turn(memory, "ghost")
    real = {"id": "who", "text": "The writer is at home.", "speaker": "Ana Souza"}
    await memory.ingest(real | {"sensitivity": "personal", "about": ["Ben"]}, extract="none")
    await merge(memory.standalone.graph, DECISION, person("ghost"), person("Ana Souza"))
    assert (await retrieve_people(memory, limit=1))[1] == {"Ana Souza": ("ghost",)}
    assert (await retrieve_people(memory, limit=1, viewer={"user": "ben"}))[1] == {"Ana Souza": ("ghost",)}
    answer, people = await retrieve_people(memory, limit=1, viewer={"user": "clara"})
    assert people == {"ghost": ()}
    assert "Souza" not in answer.model_dump_json()


async def test_an_answer_lists_earlier_names_of_an_entity_as_aliases(memory: Memory) -> None:
    await ingest_turn(memory, "Ana")
    await rename(memory.standalone.graph, "default", person("Ana"), "Ana Souza", most_chars=99)
    assert (await retrieve_people(memory))[1] == {"Ana Souza": ("Ana",)}


async def test_canonical_names_of_other_contexts_need_a_search_of_all_contexts(memory: Memory) -> None:
    await ingest_turn(memory, "Ana")
    await ingest_turn(memory, "Ana Souza", "other", text="Good morning.")
    await merge(memory.standalone.graph, DECISION, person("Ana"), person("Ana Souza", "other"))
    assert (await retrieve_people(memory, limit=1))[1] == {"Ana Souza": ("Ana",)}
    assert (await retrieve_people(memory, context="ctx"))[1] == {"Ana": ()}, (
        "who asks in one context is told of no other"
    )
