"""What is told of a thing under its old name, its new one, or that of what it is merged with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from support.stores.memory import Memory
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.identity.changes import merge, rename, split
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import Direction
from vicw_shared.uids import named_uid

DECISION = MergeDecision("default", datetime(2026, 1, 1, tzinfo=UTC), EdgeRegistry.with_core_types())


def person(name: str, context: str = "ctx") -> str:
    return named_uid("default", context, "person", name)


def item_naming(identity: str, *names: str, **fields: Any) -> dict[str, Any]:
    told = {"entities": [{"name": name, "subtype": "person"} for name in names]}
    return {"id": identity, "text": f"{identity}: {' '.join(names)}", "extraction": told, **fields}


async def mentioning_items(memory: Memory, *uids: str) -> list[list[str]]:
    """Return, for each thing, which items mention it."""
    found = await memory.standalone.graph.expand("default", uids, [("MENTIONS", Direction.IN)], 99)
    return [sorted(n.node.source_id or "" for n in found if n.origin == uid) for uid in uids]


async def test_a_merge_redirects_new_mentions_and_keeps_earlier_ones(
    memory: Memory,
) -> None:
    graph, ana, souza = memory.standalone.graph, person("Ana"), person("Ana Souza")
    await memory.ingest(item_naming("before", "Ana", "Ana Souza"))
    await merge(graph, DECISION, ana, souza)
    answer = await memory.ingest(item_naming("while", "Ana"))
    assert [node.name for node in answer.items[0].nodes if node.subtype == "person"] == ["Ana Souza"]
    assert await mentioning_items(memory, ana, souza) == [["before"], ["before", "while"]]

    await split(graph, DECISION, ana)
    await memory.ingest(item_naming("after", "Ana"))
    assert await mentioning_items(memory, ana, souza) == [["after", "before"], ["before", "while"]]


async def test_a_relation_between_merged_entities_is_left_out(memory: Memory) -> None:
    graph = memory.standalone.graph
    await memory.ingest(item_naming("before", "Ana", "Ana Souza"))
    await merge(graph, DECISION, person("Ana"), person("Ana Souza"))
    told = item_naming("while", "Ana", "Ana Souza")
    told["extraction"]["relations"] = [{"source": "Ana", "type": "RELATED_TO", "target": "Ana Souza"}]
    await memory.ingest(told)
    ways = [("RELATED_TO", Direction.OUT), ("RELATED_TO", Direction.IN)]
    assert await graph.expand("default", [person("Ana"), person("Ana Souza")], ways, 9) == []


async def test_a_merge_changes_neither_visibility_nor_tag_filters(memory: Memory) -> None:
    graph = memory.standalone.graph
    secret = {"text": "the harbour at night", "sensitivity": "personal", "about": ["Ana"], "tags": ["sea"]}
    await memory.ingest({"id": "a", **secret}, {"id": "x", "text": "x", "tags": ["ocean"], "about": ["Ben"]})
    await merge(graph, DECISION, person("Ana"), person("Ben"))
    sea, ocean = (named_uid("default", "ctx", "tag", name) for name in ("sea", "ocean"))
    await merge(graph, DECISION, sea, ocean)
    await memory.ingest({"id": "b", **secret, "text": "the harbour by day"})
    assert sorted(await memory.found("harbour", viewer={"user": "Ana"}), key=str) == ["a", "b", "x"]
    assert sorted(await memory.found("harbour", tags={"any": ["sea"]}), key=str) == ["a", "b"]


async def test_a_merge_into_another_context_redirects_no_mentions(memory: Memory) -> None:
    graph = memory.standalone.graph
    await memory.ingest(item_naming("here", "Ana", speaker="Ana"))
    await memory.ingest(item_naming("there", "Ana Souza"), context="other")
    await merge(graph, DECISION, person("Ana"), person("Ana Souza", "other"))
    await memory.ingest(item_naming("later", "Ana", speaker="Ana"), extract="auto")
    assert await mentioning_items(memory, person("Ana"), person("Ana Souza", "other")) == [["here", "later"], ["there"]]


async def test_a_renamed_entity_is_linked_by_its_old_and_new_name(memory: Memory) -> None:
    graph, ana = memory.standalone.graph, person("Ana")
    await memory.ingest(item_naming("before", "Ana"))
    await rename(graph, "default", ana, "Ana Souza", most_chars=99)
    await memory.ingest(
        item_naming("new", "Ana Souza"), item_naming("old", "Ana"), item_naming("both", "ANA", "ana souza")
    )
    assert await mentioning_items(memory, ana) == [["before", "both", "new", "old"]]
    assert (await graph.nodes("default", [ana]))[ana].name == "Ana Souza"
    assert person("Ana Souza") not in await graph.nodes("default", [person("Ana Souza")])


async def test_renamed_subjects_and_tags_match_by_old_and_new_name(memory: Memory) -> None:
    graph, ana = memory.standalone.graph, person("Ana")
    secret = {"text": "the harbour at night", "sensitivity": "personal"}
    first = await memory.ingest({"id": "a", "about": ["Ana"], "tags": ["sea"], **secret})
    await rename(graph, "default", ana, "Ana Souza", most_chars=99)
    await rename(graph, "default", named_uid("default", "ctx", "tag", "sea"), "ocean", most_chars=99)
    await memory.ingest({"id": "b", "about": ["Ana Souza"], "tags": ["ocean"], **secret, "text": "the harbour by day"})
    assert await memory.standalone.indexer.wait_until_indexed("default", [first.items[0].uid], 10)
    for user in ("Ana", "ana souza", ana):
        assert sorted(await memory.found("harbour", viewer={"user": user}), key=str) == ["a", "b"], user
    for tag in ("sea", "Ocean"):
        assert sorted(await memory.found("harbour", tags={"all": [tag]}), key=str) == ["a", "b"], tag
    assert await memory.found("harbour", viewer={"user": "Ben"}) == []
