"""What is stored of code: files contain symbols, which depend on one another; a chat's mention finds them."""

from __future__ import annotations

import pytest

from support.stores.graph_queries import GraphClient
from support.stores.memory import Memory
from unit.ingest.extraction.test_stored_extraction import ingest_by_rules, live_edges, nodes
from vicw_shared.model import Label

STORE = '''import os
from vicw.disk import sync


class Store(Base):
    """Keeps things."""

    def put(self, thing):
        sync(os.getcwd())
        return helper(thing)


def helper(thing):
    return thing
'''


async def test_a_file_contains_its_symbols_and_depends_on_what_it_uses(memory: Memory) -> None:
    await ingest_by_rules(
        memory, {"id": "f", "text": STORE, "source": "src/store.py", "subtype": "file"}, domain="coding"
    )
    assert await live_edges(memory, "CONTAINS") == {
        ("src/store.py", "CONTAINS", "Store"),
        ("Store", "CONTAINS", "Store.put"),
        ("src/store.py", "CONTAINS", "helper"),
    }
    assert await live_edges(memory, "DEPENDS_ON") == {
        ("src/store.py", "DEPENDS_ON", "os"),
        ("src/store.py", "DEPENDS_ON", "vicw.disk"),
        ("Store", "DEPENDS_ON", "Base"),
        ("Store.put", "DEPENDS_ON", "os"),
        ("Store.put", "DEPENDS_ON", "vicw.disk"),
        ("Store.put", "DEPENDS_ON", "helper"),
    }
    (store,) = (node for node in await nodes(memory, Label.ENTITY) if node.name == "Store")
    assert (store.subtype, store.text, store.source) == ("class", "Keeps things.", "src/store.py")
    assert [node for node in await nodes(memory, Label.EVENT) if node.is_statement] == []
    assert (await memory.check()).violations == []


@pytest.mark.parametrize(
    "item", [{"name": "store.py"}, {"id": "store.py"}, {"name": "store.py", "source": "disk", "subtype": "file"}]
)
async def test_an_item_name_or_id_can_serve_as_its_file_path(memory: Memory, item: dict[str, str]) -> None:
    await ingest_by_rules(memory, {"text": STORE, **item}, domain="general")
    assert {("store.py", "CONTAINS", "Store"), ("Store", "CONTAINS", "Store.put")} <= await live_edges(
        memory, "CONTAINS"
    )
    assert ("store.py", "DEPENDS_ON", "os") in await live_edges(memory, "DEPENDS_ON")


@pytest.mark.parametrize("name", ["main.py", "install.sh", "a.rb"])
async def test_prose_named_like_a_code_file_is_extracted_as_prose(memory: Memory, name: str) -> None:
    await ingest_by_rules(
        memory, {"id": "n", "name": name, "text": "Ana wrote this file. It starts the server, I think."}
    )
    said = {node.text for node in await nodes(memory, Label.EVENT) if node.is_statement}
    assert said == {"Ana wrote this file.", "It starts the server, I think."}


async def test_a_code_item_without_a_path_contains_its_symbols_itself(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "f", "name": "the store", "text": STORE, "subtype": "file"})
    assert await live_edges(memory, "CONTAINS") == {
        ("the store", "CONTAINS", "Store"),
        ("Store", "CONTAINS", "Store.put"),
        ("the store", "CONTAINS", "helper"),
    }
    assert ("the store", "DEPENDS_ON", "os") in await live_edges(memory, "DEPENDS_ON")
    assert (await memory.check()).violations == []


async def test_a_walk_from_a_code_item_reaches_its_symbols_and_dependencies(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "f", "text": STORE, "source": "src/store.py"}, domain="coding")
    answer = await GraphClient(memory.standalone.graph, memory.tenant).ask("walk", start=["f"], hops=1)
    names = {node.uid: node.name for node in answer.nodes}
    seen = {(names[edge.source], edge.type, names[edge.target]) for edge in answer.edges}
    assert seen >= await live_edges(memory, "CONTAINS", "DEPENDS_ON")


async def test_a_walk_from_a_file_name_starts_at_item_and_file(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "store.py", "name": "store.py", "text": STORE})
    await ingest_by_rules(memory, {"id": "t", "text": "Ana said that store.py leaks memory.", "speaker": "Lena"})
    answer = await GraphClient(memory.standalone.graph, memory.tenant, fanout=1).ask("walk", start=["store.py"], hops=1)
    begun = [node for node in answer.nodes if node.uid in answer.start]
    assert [(node.name, node.id) for node in begun] == [("store.py", "store.py"), ("store.py", None)]
    assert any(edge.type == "CONTAINS" and edge.source == answer.start[1] for edge in answer.edges)


async def test_a_walk_from_a_chat_item_starts_without_its_source_file(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "a", "text": "Ben likes tea.", "source": "chat.json"})
    await ingest_by_rules(memory, {"id": "b", "text": "Ana lost chat.json today.", "source": "notes"})
    answer = await GraphClient(memory.standalone.graph, memory.tenant).ask("walk", start=["a"], hops=0)
    assert [node.id for node in answer.nodes] == ["a"]


async def test_an_unresolved_base_class_is_resolved_when_its_file_is_stored(memory: Memory) -> None:
    ts = 'import { Base } from "./base";\nexport class A extends Base implements Runs {}\n'
    await ingest_by_rules(memory, {"id": "a", "text": ts, "source": "src/a.ts"}, domain="coding")
    needs = {("A", "DEPENDS_ON", "Base"), ("A", "DEPENDS_ON", "Runs"), ("A", "DEPENDS_ON", "src/base")}
    assert await live_edges(memory, "DEPENDS_ON") == needs | {("src/a.ts", "DEPENDS_ON", "src/base")}
    await ingest_by_rules(
        memory, {"id": "b", "text": "export class Base {}\n", "source": "src/base.ts"}, domain="coding"
    )
    (base,) = (node for node in await nodes(memory, Label.ENTITY) if node.name == "Base")
    assert (base.subtype, base.source) == ("class", "src/base.ts")


async def test_equally_named_symbols_of_two_files_are_separate_entities(memory: Memory) -> None:
    for path in ("a.py", "b.py"):
        await ingest_by_rules(memory, {"id": path, "text": "def main():\n    pass\n", "source": path}, domain="coding")
    mains = [node for node in await nodes(memory, Label.ENTITY) if node.title == "main" and not node.content_hash]
    assert {node.source for node in mains} == {"a.py", "b.py"}


async def test_a_symbol_named_in_a_chat_links_to_the_code_symbol(memory: Memory) -> None:
    await ingest_by_rules(
        memory, {"id": "f", "text": STORE, "source": "src/store.py", "subtype": "file"}, domain="coding"
    )
    await ingest_by_rules(memory, {"id": "t", "text": "Ana said that `Store.put()` leaks memory.", "speaker": "Lena"})
    assert ("Ana said that `Store.put()` leaks memory.", "MENTIONS", "Store.put") in await live_edges(
        memory, "MENTIONS"
    )
    assert len([node for node in await nodes(memory, Label.ENTITY) if node.title == "Store.put"]) == 1


async def test_a_mentioned_symbol_gets_its_definition_when_the_code_arrives(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "t", "text": "I think `Store.put()` leaks memory.", "speaker": "Lena"})
    await ingest_by_rules(
        memory, {"id": "f", "text": STORE, "source": "src/store.py", "subtype": "file"}, domain="coding"
    )
    (put,) = (node for node in await nodes(memory, Label.ENTITY) if node.title == "Store.put")
    assert (put.subtype, put.source) == ("method", "src/store.py")


async def test_fenced_code_in_a_chat_yields_symbols_but_no_statements(memory: Memory) -> None:
    text = "Ben wrote this function yesterday.\n```python\ndef Run():\n    return Stop\n```\nIt broke the build."
    await ingest_by_rules(memory, {"id": "t", "text": text, "speaker": "Lena"})
    said = {node.text for node in await nodes(memory, Label.EVENT) if node.is_statement}
    assert said == {"Ben wrote this function yesterday.", "It broke the build."}
    assert [node.subtype for node in await nodes(memory, Label.ENTITY) if node.name == "Run"] == ["function"]
    assert "Stop" not in {node.name for node in await nodes(memory, Label.ENTITY)}


async def test_an_update_removes_edges_to_symbols_no_longer_in_the_file(memory: Memory) -> None:
    item = {"id": "f", "source": "src/store.py", "subtype": "file"}
    await ingest_by_rules(memory, {**item, "text": STORE}, domain="coding")
    await ingest_by_rules(memory, {**item, "text": "def helper(thing):\n    return thing\n"}, domain="coding")
    assert await live_edges(memory, "CONTAINS") == {("src/store.py", "CONTAINS", "helper")}
    assert await live_edges(memory, "DEPENDS_ON") == set()
    assert (await memory.check()).violations == []
