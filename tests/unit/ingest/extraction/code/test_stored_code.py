"""What is stored of code: files contain symbols, which depend on one another; a chat's mention finds them."""

from __future__ import annotations

import pytest

from support.stores.graph_queries import Asker
from support.stores.memory import Memory
from unit.ingest.extraction.test_stored_extraction import nodes, read, told
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
    await read(memory, {"id": "f", "text": STORE, "source": "src/store.py", "subtype": "file"}, domain="coding")
    assert await told(memory, "CONTAINS") == {
        ("src/store.py", "CONTAINS", "Store"),
        ("Store", "CONTAINS", "Store.put"),
        ("src/store.py", "CONTAINS", "helper"),
    }
    assert await told(memory, "DEPENDS_ON") == {
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
async def test_a_name_or_an_id_may_be_the_path(memory: Memory, item: dict[str, str]) -> None:
    await read(memory, {"text": STORE, **item}, domain="general")
    assert {("store.py", "CONTAINS", "Store"), ("Store", "CONTAINS", "Store.put")} <= await told(memory, "CONTAINS")
    assert ("store.py", "DEPENDS_ON", "os") in await told(memory, "DEPENDS_ON")


@pytest.mark.parametrize("name", ["main.py", "install.sh", "a.rb"])
async def test_prose_under_the_name_of_a_file_is_prose(memory: Memory, name: str) -> None:
    await read(memory, {"id": "n", "name": name, "text": "Ana wrote this file. It starts the server, I think."})
    said = {node.text for node in await nodes(memory, Label.EVENT) if node.is_statement}
    assert said == {"Ana wrote this file.", "It starts the server, I think."}


async def test_an_item_of_code_without_a_path_stands_for_its_file(memory: Memory) -> None:
    await read(memory, {"id": "f", "name": "the store", "text": STORE, "subtype": "file"})
    assert await told(memory, "CONTAINS") == {
        ("the store", "CONTAINS", "Store"),
        ("Store", "CONTAINS", "Store.put"),
        ("the store", "CONTAINS", "helper"),
    }
    assert ("the store", "DEPENDS_ON", "os") in await told(memory, "DEPENDS_ON")
    assert (await memory.check()).violations == []


async def test_from_an_item_of_code_a_reader_reaches_all_that_it_tells(memory: Memory) -> None:
    await read(memory, {"id": "f", "text": STORE, "source": "src/store.py"}, domain="coding")
    answer = await Asker(memory.standalone.graph, memory.tenant).ask("walk", start=["f"], hops=1)
    names = {node.uid: node.name for node in answer.nodes}
    seen = {(names[edge.source], edge.type, names[edge.target]) for edge in answer.edges}
    assert seen >= await told(memory, "CONTAINS", "DEPENDS_ON")


async def test_an_item_that_is_called_as_its_file_is_no_second_meaning_of_the_name(memory: Memory) -> None:
    await read(memory, {"id": "store.py", "name": "store.py", "text": STORE})
    await read(memory, {"id": "t", "text": "Ana said that store.py leaks memory.", "speaker": "Lena"})
    answer = await Asker(memory.standalone.graph, memory.tenant, fanout=1).ask("walk", start=["store.py"], hops=1)
    begun = [node for node in answer.nodes if node.uid in answer.start]
    assert [(node.name, node.id) for node in begun] == [("store.py", "store.py"), ("store.py", None)]
    assert any(edge.type == "CONTAINS" and edge.source == answer.start[1] for edge in answer.edges)


async def test_a_file_that_an_item_only_has_in_common_with_others_is_not_its_own(memory: Memory) -> None:
    await read(memory, {"id": "a", "text": "Ben likes tea.", "source": "chat.json"})
    await read(memory, {"id": "b", "text": "Ana lost chat.json today.", "source": "notes"})
    answer = await Asker(memory.standalone.graph, memory.tenant).ask("walk", start=["a"], hops=0)
    assert [node.id for node in answer.nodes] == ["a"]


async def test_what_a_class_extends_is_known_once_its_file_comes(memory: Memory) -> None:
    ts = 'import { Base } from "./base";\nexport class A extends Base implements Runs {}\n'
    await read(memory, {"id": "a", "text": ts, "source": "src/a.ts"}, domain="coding")
    needs = {("A", "DEPENDS_ON", "Base"), ("A", "DEPENDS_ON", "Runs"), ("A", "DEPENDS_ON", "src/base")}
    assert await told(memory, "DEPENDS_ON") == needs | {("src/a.ts", "DEPENDS_ON", "src/base")}
    await read(memory, {"id": "b", "text": "export class Base {}\n", "source": "src/base.ts"}, domain="coding")
    (base,) = (node for node in await nodes(memory, Label.ENTITY) if node.name == "Base")
    assert (base.subtype, base.source) == ("class", "src/base.ts")


async def test_two_files_may_have_a_symbol_of_one_name(memory: Memory) -> None:
    for path in ("a.py", "b.py"):
        await read(memory, {"id": path, "text": "def main():\n    pass\n", "source": path}, domain="coding")
    mains = [node for node in await nodes(memory, Label.ENTITY) if node.title == "main" and not node.content_hash]
    assert {node.source for node in mains} == {"a.py", "b.py"}


async def test_a_chat_that_names_a_symbol_means_the_one_in_the_code(memory: Memory) -> None:
    await read(memory, {"id": "f", "text": STORE, "source": "src/store.py", "subtype": "file"}, domain="coding")
    await read(memory, {"id": "t", "text": "Ana said that `Store.put()` leaks memory.", "speaker": "Lena"})
    assert ("Ana said that `Store.put()` leaks memory.", "MENTIONS", "Store.put") in await told(memory, "MENTIONS")
    assert len([node for node in await nodes(memory, Label.ENTITY) if node.title == "Store.put"]) == 1


async def test_what_was_only_mentioned_is_known_by_its_code_later(memory: Memory) -> None:
    await read(memory, {"id": "t", "text": "I think `Store.put()` leaks memory.", "speaker": "Lena"})
    await read(memory, {"id": "f", "text": STORE, "source": "src/store.py", "subtype": "file"}, domain="coding")
    (put,) = (node for node in await nodes(memory, Label.ENTITY) if node.title == "Store.put")
    assert (put.subtype, put.source) == ("method", "src/store.py")


async def test_code_in_a_chat_is_read_as_code_and_its_sentences_without_it(memory: Memory) -> None:
    text = "Ben wrote this function yesterday.\n```python\ndef Run():\n    return Stop\n```\nIt broke the build."
    await read(memory, {"id": "t", "text": text, "speaker": "Lena"})
    said = {node.text for node in await nodes(memory, Label.EVENT) if node.is_statement}
    assert said == {"Ben wrote this function yesterday.", "It broke the build."}
    assert [node.subtype for node in await nodes(memory, Label.ENTITY) if node.name == "Run"] == ["function"]
    assert "Stop" not in {node.name for node in await nodes(memory, Label.ENTITY)}


async def test_an_update_takes_back_what_the_file_no_longer_has(memory: Memory) -> None:
    item = {"id": "f", "source": "src/store.py", "subtype": "file"}
    await read(memory, {**item, "text": STORE}, domain="coding")
    await read(memory, {**item, "text": "def helper(thing):\n    return thing\n"}, domain="coding")
    assert await told(memory, "CONTAINS") == {("src/store.py", "CONTAINS", "helper")}
    assert await told(memory, "DEPENDS_ON") == set()
    assert (await memory.check()).violations == []
