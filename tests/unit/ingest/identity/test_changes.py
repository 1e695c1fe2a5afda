"""What is told of a thing under its old name, its new one, or that of what it is merged with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from support.stores.memory import Memory
from vicw_ingest.identity.changes import merge, rename, split
from vicw_shared.identity.merge import MergeDecision
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import Direction
from vicw_shared.uids import named_uid

DECISION = MergeDecision("default", datetime(2026, 1, 1, tzinfo=UTC), EdgeRegistry.with_core_types())


def person(name: str, context: str = "ctx") -> str:
    return named_uid("default", context, "person", name)


def telling(identity: str, *names: str, **fields: Any) -> dict[str, Any]:
    told = {"entities": [{"name": name, "subtype": "person"} for name in names]}
    return {"id": identity, "text": f"{identity}: {' '.join(names)}", "extraction": told, **fields}


async def mentioned(memory: Memory, *uids: str) -> list[list[str]]:
    """Return, for each thing, which items mention it."""
    found = await memory.standalone.graph.expand("default", uids, [("MENTIONS", Direction.IN)], 99)
    return [sorted(n.node.source_id or "" for n in found if n.origin == uid) for uid in uids]


async def test_what_is_told_of_a_merged_thing_goes_to_what_stands_for_it_and_what_was_told_stays(
    memory: Memory,
) -> None:
    graph, ana, souza = memory.standalone.graph, person("Ana"), person("Ana Souza")
    await memory.ingest(telling("before", "Ana", "Ana Souza"))
    await merge(graph, DECISION, ana, souza)
    answer = await memory.ingest(telling("while", "Ana"))
    assert [node.name for node in answer.items[0].nodes if node.subtype == "person"] == ["Ana Souza"]
    assert await mentioned(memory, ana, souza) == [["before"], ["before", "while"]]

    await split(graph, DECISION, ana)
    await memory.ingest(telling("after", "Ana"))
    assert await mentioned(memory, ana, souza) == [["after", "before"], ["before", "while"]]


async def test_a_relation_that_would_join_a_thing_to_itself_is_left_out(memory: Memory) -> None:
    graph = memory.standalone.graph
    await memory.ingest(telling("before", "Ana", "Ana Souza"))
    await merge(graph, DECISION, person("Ana"), person("Ana Souza"))
    told = telling("while", "Ana", "Ana Souza")
    told["extraction"]["relations"] = [{"source": "Ana", "type": "RELATED_TO", "target": "Ana Souza"}]
    await memory.ingest(told)
    ways = [("RELATED_TO", Direction.OUT), ("RELATED_TO", Direction.IN)]
    assert await graph.expand("default", [person("Ana"), person("Ana Souza")], ways, 9) == []


async def test_who_finds_a_memory_does_not_change_with_a_merge(memory: Memory) -> None:
    graph = memory.standalone.graph
    secret = {"text": "the harbour at night", "sensitivity": "personal", "about": ["Ana"], "tags": ["sea"]}
    await memory.ingest({"id": "a", **secret}, {"id": "x", "text": "x", "tags": ["ocean"], "about": ["Ben"]})
    await merge(graph, DECISION, person("Ana"), person("Ben"))
    sea, ocean = (named_uid("default", "ctx", "tag", name) for name in ("sea", "ocean"))
    await merge(graph, DECISION, sea, ocean)
    await memory.ingest({"id": "b", **secret})
    assert sorted(await memory.found("harbour", viewer={"user": "Ana"}), key=str) == ["a", "b", "x"]
    assert sorted(await memory.found("harbour", tags={"any": ["sea"]}), key=str) == ["a", "b"]


async def test_a_thing_of_another_context_stands_for_no_telling_of_this_one(memory: Memory) -> None:
    graph = memory.standalone.graph
    await memory.ingest(telling("here", "Ana", speaker="Ana"))
    await memory.ingest(telling("there", "Ana Souza"), context="other")
    await merge(graph, DECISION, person("Ana"), person("Ana Souza", "other"))
    await memory.ingest(telling("later", "Ana", speaker="Ana"), extract="auto")
    assert await mentioned(memory, person("Ana"), person("Ana Souza", "other")) == [["here", "later"], ["there"]]


async def test_a_thing_is_told_of_under_its_new_name_and_under_its_old_one(memory: Memory) -> None:
    graph, ana = memory.standalone.graph, person("Ana")
    await memory.ingest(telling("before", "Ana"))
    await rename(graph, "default", ana, "Ana Souza", most_chars=99)
    await memory.ingest(telling("new", "Ana Souza"), telling("old", "Ana"), telling("both", "ANA", "ana souza"))
    assert await mentioned(memory, ana) == [["before", "both", "new", "old"]]
    assert (await graph.nodes("default", [ana]))[ana].name == "Ana Souza"
    assert person("Ana Souza") not in await graph.nodes("default", [person("Ana Souza")])


async def test_whom_a_memory_is_about_is_found_by_the_new_name_and_by_the_old_one(memory: Memory) -> None:
    graph, ana = memory.standalone.graph, person("Ana")
    secret = {"text": "the harbour at night", "sensitivity": "personal"}
    first = await memory.ingest({"id": "a", "about": ["Ana"], "tags": ["sea"], **secret})
    await rename(graph, "default", ana, "Ana Souza", most_chars=99)
    await rename(graph, "default", named_uid("default", "ctx", "tag", "sea"), "ocean", most_chars=99)
    await memory.ingest({"id": "b", "about": ["Ana Souza"], "tags": ["ocean"], **secret})
    assert await memory.standalone.indexer.index_and_wait("default", [first.items[0].uid], 10)
    for user in ("Ana", "ana souza", ana):
        assert sorted(await memory.found("harbour", viewer={"user": user}), key=str) == ["a", "b"], user
    for tag in ("sea", "Ocean"):
        assert sorted(await memory.found("harbour", tags={"all": [tag]}), key=str) == ["a", "b"], tag
    assert await memory.found("harbour", viewer={"user": "Ben"}) == []
