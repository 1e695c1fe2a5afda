"""Pages of knowledge folders: what becomes of them as they come, change, move and go."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from support.stores.memory import Memory
from unit.ingest.extraction.test_stored_extraction import live_edges
from unit.ingest.knowledge.test_sample_repository import bridges
from unit.ingest.versions.test_retraction import live_names
from vicw_ingest.expiry.service import Expiry
from vicw_ingest.knowledge.bridges.builder import BridgeBuilder
from vicw_ingest.knowledge.bridges.candidates import NewPassage
from vicw_ingest.knowledge.page_list import list_pages
from vicw_shared.clock import now
from vicw_shared.errors import InvalidInputError, UnavailableError
from vicw_shared.model.knowledge import page_uid
from vicw_shared.ports import Direction, Edges, VectorStore, look_up
from vicw_shared.wire.ingest import IngestResponse
from vicw_shared.wire.knowledge import KnowledgeQuery, KnownPage

POLICY = "# Deployment policy\n\nEvery deployment must be approved by a second person."
DEPLOYED = {"id": "m1", "speaker": "Ines", "text": "We deployed the tide model without asking."}


class FlakyBridgeBuilder:
    """Bridges that cannot be drawn ``fails`` times."""

    def __init__(self, bridges: BridgeBuilder) -> None:
        self.fails = 0
        self._bridges = bridges

    async def draw(self, fresh: Sequence[NewPassage], vectors: VectorStore) -> None:
        if self.fails:
            self.fails -= 1
            raise UnavailableError("graph", "away for the moment")
        await self._bridges.draw(fresh, vectors)


async def put(memory: Memory, context: str = "ctx", folder: str = "f", **files: str) -> IngestResponse:
    """Send pages; a name's ``__`` is the stroke of a path, its last ``_`` the dot of the suffix."""
    items = []
    for name, text in files.items():
        path = ".".join(name.replace("__", "/").rsplit("_", 1))
        items.append({"id": name, "text": text, "page": {"folder": folder, "path": path}})
    return await memory.ingest(*items, context=context, extract="rules")


async def listed_pages(memory: Memory, folder: str = "f", **asked: Any) -> list[KnownPage]:
    query = KnowledgeQuery(context="ctx", folder=folder, **asked)
    return list((await list_pages(memory.standalone.graph, memory.tenant, query)).pages)


async def links(memory: Memory) -> set[tuple[str, str]]:
    return {(source, target) for source, _, target in await live_edges(memory, "LINKS_TO", "REFERENCES", "DEPENDS_ON")}


async def test_a_page_keeps_its_node_through_versions_and_moves(memory: Memory) -> None:
    first = await put(memory, a_md="# A\n\n## One\n\nText.")
    node = page_uid("default", "ctx", "a_md")
    graph = memory.standalone.graph
    created = (await graph.nodes("default", [node]))[node].created_at
    await put(memory, a_md="# A\n\n## Two\n\nText.")
    item = {"id": "a_md", "text": "# B\n\n## Two\n\nText.", "page": {"folder": "f", "path": "sub/b.md"}}
    last = await memory.ingest(item, extract="rules")
    stored = (await graph.nodes("default", [node]))[node]
    assert (stored.name, stored.source, stored.created_at) == ("B", "sub/b.md", created)
    assert last.items[0].uid != first.items[0].uid
    assert await live_edges(memory, "CONTAINS") == {
        ("f/", "CONTAINS", "f/sub/"),
        ("f/sub/", "CONTAINS", "B"),
        ("B", "CONTAINS", "B > Two"),
    }
    assert "A > One" not in await live_names(memory)


async def test_page_links_follow_the_arrival_and_retraction_of_their_targets(memory: Memory) -> None:
    answer = await put(memory, a_md="# A\n\n[[B]] and [b](sub/b.md)")
    assert [link.target for link in answer.items[0].links] == ["[[B]]", "sub/b.md"]
    await put(memory, sub__b_md="# B")
    assert await links(memory) == {("A", "B")}
    assert [page.links for page in await listed_pages(memory)] == [(), ()]
    await memory.ingest({"id": "sub__b_md", "text": "# B", "page": {"folder": "f", "path": "c.md"}})
    (problem,) = next(page.links for page in await listed_pages(memory) if page.path == "a.md")
    assert problem.target == "sub/b.md", "by its title it is still found"
    await memory.retract("sub__b_md")
    assert await links(memory) == set()
    assert await live_names(memory) == {"A", "f/"}
    await put(memory, sub__b_md="# B")
    assert await links(memory) == {("A", "B")}


async def test_a_folder_exists_as_long_as_it_has_pages(memory: Memory) -> None:
    await put(memory, x__y__a_md="# A", b_md="# B")
    await memory.retract("x__y__a_md")
    assert await live_names(memory) == {"B", "f/"}
    await memory.retract("b_md")
    assert await live_names(memory) == set()
    assert await listed_pages(memory) == []


async def test_an_expired_page_leaves_its_folder(memory: Memory) -> None:
    await put(memory, a_md="# A\n\n[[B]]")
    over = (now() + timedelta(seconds=0.2)).isoformat()
    await memory.ingest({"id": "b", "text": "# B", "expires_at": over, "page": {"folder": "f", "path": "b.md"}})
    assert await links(memory) == {("A", "B")}
    await asyncio.sleep(0.3)
    ports = memory.standalone.ingest_ports()
    await Expiry(ports.graph, ports.registry, ports.queue).drain()
    assert [page.path for page in await listed_pages(memory)] == ["a.md"]
    assert await links(memory) == set()
    assert await live_names(memory) == {"A", "f/"}


async def test_an_item_updated_without_a_page_leaves_its_folder(memory: Memory) -> None:
    await put(memory, a_md="# A", b_md="# B\n\n[[A]]")
    await memory.ingest({"id": "a_md", "text": "plain"})
    assert [page.path for page in await listed_pages(memory)] == ["b.md"]
    assert await links(memory) == set()


async def test_pages_are_linked_by_title_alias_id_path_or_file_name(memory: Memory) -> None:
    said = (
        "[[Deep page]] [[other name]] [[K-7]] [[sub/deep]] [[deep.md]] [x](sub/deep.md) [y](/sub/deep.md) [z](sub/deep)"
    )
    page = "---\ntitle: Deep page\naliases: [Other name]\nid: K-7\ntags: [t]\n---\nText."
    answer = await put(memory, sub__deep_md=page, a_md=f"# A\n\n{said}")
    assert answer.items[1].links == ()
    assert await links(memory) == {("A", "Deep page")}
    assert (await listed_pages(memory))[1].key == "K-7"
    (result,) = (await memory.retrieve("text", tags={"all": ["t"]})).results
    assert (result.id, result.name, result.text) == ("sub__deep_md", "Deep page", "Text.")


async def test_a_page_is_linked_by_the_address_that_it_gives_itself(memory: Memory) -> None:
    said = "[a](/start/first-steps) [b](first-steps) [c](/start/first-steps/#more) [d](../tides) [e](/start/01-intro)"
    answer = await put(
        memory,
        start__01h_md="---\nslug: /start/first-steps\n---\n# Steps\n\n## More\n\nText.",
        start__01i_md="---\nslug: tides\n---\n# Tides\n\nText.",
        start__x_md=f"# X\n\n{said}",
        start__01_intro_md="# Intro\n\nText.",
    )
    assert [problem.target for problem in answer.items[2].links] == ["../tides", "/start/01-intro"]
    assert await links(memory) == {("X", "Steps"), ("X", "Steps > More")}


async def test_an_address_that_leads_out_of_the_folder_is_none(memory: Memory) -> None:
    await put(memory, a__out_md="---\nslug: ../../x\n---\n# Out\n\nText.", b_md="# B\n\n[top](/) [here](.)")
    assert await links(memory) == {("B", "f/")}, "the folder itself"


async def test_an_ambiguous_page_name_links_to_the_nearest_page_or_none(memory: Memory) -> None:
    answer = await put(memory, a__x_md="# X1", b__x_md="# X2", a__near_md="# N\n\n[[x]]", c__far_md="# F\n\n[[x]]")
    assert await links(memory) == {("N", "X1")}
    (problem,) = answer.items[3].links
    assert (problem.fault, problem.candidates) == ("ambiguous", ("a/x.md", "b/x.md"))


async def test_links_to_headings_lead_to_their_sections(memory: Memory) -> None:
    await put(
        memory, a_md="# A\n\n## How to *run* it\n\n[[#How to run it]]", b_md="# B\n\n[](a.md#how-to-run-it) [[A#A]]"
    )
    assert await links(memory) == {("B", "A > How to run it"), ("B", "A"), ("A", "A > How to run it")}


async def test_folders_of_one_context_do_not_link_to_each_other(memory: Memory) -> None:
    await put(memory, folder="one", a_md="# A\n\n[[B]]")
    await put(memory, folder="two", b_md="# B")
    assert await links(memory) == set()
    assert [page.path for page in await listed_pages(memory, "two")] == ["b.md"]


async def test_a_path_named_in_a_chat_is_the_code_file_page(memory: Memory) -> None:
    await put(memory, src__app_py="import os\n\ndef start():\n    return os.name\n")
    await memory.ingest({"id": "t", "speaker": "Ines", "text": "The bug is in src/app.py, I think."}, extract="rules")
    mentioned = await live_edges(memory, "MENTIONS")
    assert ("Ines", "MENTIONS", "src/app.py") in mentioned
    files = await look_up(memory.standalone.graph, "default", ["src/app.py"])
    assert [node.uid for node in files["src/app.py"]] == [page_uid("default", "ctx", "src__app_py")]


async def test_a_page_and_a_person_of_one_name_are_separate_entities(memory: Memory) -> None:
    await put(memory, ines_md="# Ines\n\nText.")
    await memory.ingest({"id": "t", "speaker": "Ines", "text": "Good morning."}, extract="rules")
    subtypes = {node.subtype for node in (await look_up(memory.standalone.graph, "default", ["ines"]))["ines"]}
    assert subtypes == {"page", "person"}
    assert await bridges(memory) == {("Ines", "DESCRIBES", "Ines")}, "the person, who is not the page"


async def test_bridges_follow_changes_to_the_page_and_to_the_memory(memory: Memory) -> None:
    await memory.ingest(DEPLOYED, context="chat", extract="rules")
    await put(memory, policy_md=POLICY)
    assert await bridges(memory) == {("Deployment policy", "GOVERNS", "m1")}
    await put(memory, policy_md="# Lunch policy\n\nLunch must be eaten sitting.")
    assert await bridges(memory) == set()
    await put(memory, policy_md=POLICY)
    assert await bridges(memory) == {("Deployment policy", "GOVERNS", "m1")}
    await memory.ingest({**DEPLOYED, "text": "The sea was calm."}, context="chat", extract="rules")
    assert await bridges(memory) == set()
    await memory.ingest(DEPLOYED, context="chat", extract="rules")
    assert await bridges(memory) == {("Deployment policy", "GOVERNS", "m1")}
    await memory.retract("policy_md")
    assert await bridges(memory) == set()


async def test_bridges_that_fail_are_drawn_on_the_next_attempt(memory: Memory) -> None:
    indexer = memory.standalone.indexer
    assert indexer.bridges is not None
    tried = FlakyBridgeBuilder(indexer.bridges)
    indexer.bridges = tried  # type: ignore[assignment]
    await memory.ingest(DEPLOYED, context="chat", extract="rules")
    tried.fails = 1
    await put(memory, policy_md=POLICY)
    assert tried.fails == 0, "the passages were not taken for indexed before"
    assert await bridges(memory) == {("Deployment policy", "GOVERNS", "m1")}


async def test_a_bridge_does_not_keep_an_entity_alive_after_retraction(memory: Memory) -> None:
    await memory.ingest({"id": "x", "text": "one", "extraction": {"entities": [{"name": "Amulet"}]}}, context="chat")
    await put(memory, amulet_md="# Amulet\n\nText.")
    assert ("Amulet", "DESCRIBES", "Amulet") in await bridges(memory)
    await memory.retract("x", context="chat")
    assert await bridges(memory) == set()
    assert sorted(await live_names(memory)) == ["Amulet", "f/"], "the page, and not the thing"


async def test_an_ambiguous_page_id_bridges_to_the_nearest_page_or_none(memory: Memory) -> None:
    record = {"adr__0007-x_md": "# Pauses\n\nText.", "code_py": "# ADR-7\nx = 1\n"}
    for context in ("one", "two"):
        await put(memory, context=context, folder=context, **record)
    await memory.ingest({"id": "c1", "subtype": "commit", "text": "As ADR-7 says"}, context="one")
    await memory.ingest({"id": "c2", "subtype": "commit", "text": "As ADR-7 says"}, context="elsewhere")
    drawn = await bridges(memory)
    assert ("c1", "IMPLEMENTS", "Pauses") in drawn
    assert ("c2", "IMPLEMENTS", "Pauses") not in drawn
    edges = [e for e, _, _ in await memory.standalone.graph.scan(Edges(), limit=5000) if e.type == "IMPLEMENTS"]
    own = {(page_uid("default", c, "code_py"), page_uid("default", c, "adr__0007-x_md")) for c in ("one", "two")}
    assert {(e.source, e.target) for e in edges} > own
    assert len(edges) == 3


async def test_no_bridge_leads_out_of_a_tenant(memory: Memory) -> None:
    await memory.ingest(DEPLOYED, context="chat", extract="rules")
    memory.tenant = "other"
    await put(memory, policy_md=POLICY)
    assert await bridges(memory) == set()


async def test_a_page_at_its_bridge_limit_keeps_the_most_certain_ones(memory: Memory) -> None:
    most = memory.standalone.settings.ingest.bridges
    turns = [{**DEPLOYED, "id": f"m{n}", "text": f"Deployment {n} was approved."} for n in range(most + 9)]
    await put(memory, policy_md=POLICY)
    await memory.ingest(*turns, context="chat", extract="rules")
    assert len(await bridges(memory)) == most
    exact = {**DEPLOYED, "id": "exact", "text": "Every deployment must be approved by a second person."}
    await memory.ingest(exact, context="chat", extract="rules")
    now_there = await bridges(memory)
    assert len(now_there) == most
    assert ("Deployment policy", "GOVERNS", "exact") in now_there, "the surest are kept"


async def test_bridges_to_invisible_memories_are_hidden_from_a_viewer(memory: Memory) -> None:
    from support.stores.graph_queries import GraphClient

    await put(memory, policy_md=POLICY)
    await memory.ingest({**DEPLOYED, "sensitivity": "personal", "about": ["Ines"]}, context="chat", extract="rules")
    asker = GraphClient(memory.standalone.graph, "default")
    walk: dict[str, Any] = {"start": ["Deployment policy"], "types": {"include": ["GOVERNS"]}}
    assert len((await asker.ask("walk", **walk)).edges) == 1
    assert (await asker.ask("walk", **walk, viewer={"user": "Ben"})).edges == ()


async def test_the_list_of_pages_is_returned_in_batches(memory: Memory) -> None:
    await put(memory, **{f"p{n}_md": f"# P{n}" for n in range(5)})
    found: list[str] = []
    after: str | None = None
    while True:
        query = KnowledgeQuery(context="ctx", folder="f", limit=2, after=after)
        answer = await list_pages(memory.standalone.graph, "default", query)
        found += [page.path for page in answer.pages]
        if (after := answer.next) is None:
            break
    assert found == [f"p{n}.md" for n in range(5)]
    query = KnowledgeQuery(context="nowhere", folder="f")
    assert (await list_pages(memory.standalone.graph, "default", query)).pages == ()


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({"page": {"folder": "f", "path": "../a.md"}}, "items.0.page.path"),
        ({"page": {"folder": "f", "path": "/a.md"}}, "items.0.page.path"),
        ({"page": {"folder": "f", "path": "a\\b.md"}}, "items.0.page.path"),
        ({"page": {"folder": "f/g", "path": "a.md"}}, "items.0.page.folder"),
    ],
)
async def test_invalid_page_paths_and_folders_are_refused(memory: Memory, item: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError, match=field.rpartition(".")[2]):
        await memory.ingest({"text": "x", **item})


@pytest.mark.parametrize("said", [{"speaker": "Ana"}, {"subtype": "note"}, {"flow_id": "x"}])
async def test_a_page_with_speaker_subtype_or_flow_is_refused(memory: Memory, said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await memory.ingest({"text": "x", "page": {"folder": "f", "path": "a.md"}, **said})
    assert [problem.field for problem in caught.value.problems] == [f"items[0].{next(iter(said))}"]
    assert await listed_pages(memory) == []


async def test_a_page_path_used_twice_in_a_request_is_refused(memory: Memory) -> None:
    page = {"text": "x", "page": {"folder": "f", "path": "a.md"}}
    with pytest.raises(InvalidInputError, match="is also that of"):
        await memory.ingest(page, page)


async def test_a_page_with_too_many_links_is_refused_with_the_setting(memory: Memory) -> None:
    text = "# A\n\n" + " ".join(f"[[p{n}]]" for n in range(5001))
    with pytest.raises(InvalidInputError, match="VICW_MAX_PAGE_LINKS"):
        await put(memory, a_md=text)


async def test_a_page_with_two_hundred_sections_stores_them_all(memory: Memory) -> None:
    leaf = " ".join(f"The lamp of pier {n} must be lit at dusk, whoever is on watch." for n in range(25))
    await memory.ingest(DEPLOYED, context="chat", extract="rules")
    manual = "# Manual\n\n" + "".join(f"## Leaf {n}\n\n{leaf}\n\n" for n in range(200))
    answer = await put(memory, manual_md=manual)
    assert len([node for node in answer.items[0].nodes if node.subtype == "page" and node.label == "Chunk"]) > 200
    graph, page = memory.standalone.graph, page_uid("default", "ctx", "manual_md")
    sections = await graph.expand("default", [page], [("CONTAINS", Direction.OUT)], 1000)
    assert {neighbour.node.name for neighbour in sections} == {f"Manual > Leaf {n}" for n in range(200)}
