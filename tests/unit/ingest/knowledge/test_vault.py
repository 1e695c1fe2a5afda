"""A folder of notes as Obsidian keeps them: what its links lead to, and what its pages say of themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from support.stores.memory import Memory, open_memory
from vicw_ingest.knowledge.page_list import list_pages
from vicw_shared.model import Label
from vicw_shared.ports import Edges, Nodes
from vicw_shared.wire.knowledge import KnowledgeQuery
from vicw_standalone.knowledge.folder import read_folder

NOTES = {
    "Index.md": "See [[Sluice]], [[Gate]], [[Stub]], [[Weir#^height]] and [[Weir#^none]], and [[weir-1]]. "
    "((6615d7a2-0b3c-4c1e-9a55-2f8f3d1c7e90)) [s](@site/docs/Site.md) {! parts/Part.md !}\n",
    "deep/Leaf.md": "- ((6615d7a2-0b3c-4c1e-9a55-2f8f3d1c7e91)) {! parts/Part.md !}\n",
    "parts/Part.md": "A part.\n",
    "Site.md": "A site.\n",
    "Log.md": "## Gauge\n- 3 m\n  id:: 6615d7a2-0b3c-4c1e-9a55-2f8f3d1c7e90\n  collapsed:: true\n  state:: high\n",
    "Sluice.md": "# Sluice\nThe sluice is green.\n",
    "Sluice.py": "width = 3\n",
    "Gate.md": "The gate is iron.\n",
    "Gate.txt": "Iron.\n",
    "Stub.md": "",
    "Weir.md": (
        "---\naliases: [weir-1]\ntags: [area/river]\nstate: dry\n---\n"
        "## Size\n%% secret %%\n2 m high. ^height\n#built\n"
    ),
    "2025-03-05.md": "## Log\nPlanted the plum tree.\n",
    "ADR-7 iPhone.md": "Calls are kept.\n",
}


@pytest.fixture
async def memory(tmp_path: Path, store: Path) -> AsyncIterator[Memory]:
    for name, text in NOTES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    read = read_folder(tmp_path)
    assert not read.refused
    async with open_memory(store) as opened:
        items: list[dict[str, Any]] = [
            page.item("vault", f"vault/{path}").model_dump(exclude_unset=True) for path, page in read.pages.items()
        ]
        await opened.ingest(*items, context="vault", wait=True)
        yield opened


async def test_links_lead_to_notes_before_other_files_and_to_blocks_and_empty_notes(memory: Memory) -> None:
    graph = memory.standalone.graph
    names = {node.uid: node for node in await graph.scan(Nodes(Label.ENTITY), limit=1000)}
    (index,) = [uid for uid, node in names.items() if node.source == "Index.md" and node.content_hash is None]
    edges = [edge for edge, _, _ in await graph.scan(Edges(), limit=5000) if edge.type == "LINKS_TO"]
    leads_to = {names[edge.target].name: names[edge.target].source for edge in edges if edge.source == index}
    assert leads_to == {
        "Sluice": "Sluice.md",
        "Gate": "Gate.md",
        "Stub": "Stub.md",
        "Weir > Size": "Weir.md",
        "Weir": "Weir.md",
        "Log > Gauge": "Log.md",
        "Site": "Site.md",
        "Part": "parts/Part.md",
    }
    listed = await list_pages(graph, memory.tenant, KnowledgeQuery(context="vault", folder="vault"))
    assert [(problem.target, problem.fault.value) for page in listed.pages for problem in page.links] == [
        ("[[Weir#^none]]", "heading"),
        ("((6615d7a2-0b3c-4c1e-9a55-2f8f3d1c7e91))", "missing"),
    ]


async def test_a_page_keeps_properties_tags_and_time_and_its_name_as_it_is(memory: Memory) -> None:
    items = {
        node.source: node
        for label in Label
        for node in await memory.standalone.graph.scan(Nodes(label), limit=1000)
        if node.content_hash is not None
    }
    weir = items["Weir.md"]
    assert (items["Log.md"].metadata["state"], items["Log.md"].metadata.keys() & {"id", "collapsed"}) == ("high", set())
    assert (weir.tags, weir.metadata["state"]) == (("area/river", "area", "built"), "dry")
    assert items["2025-03-05.md"].timestamp == datetime(2025, 3, 5, 12, tzinfo=UTC)
    assert (items["ADR-7 iPhone.md"].name, items["2025-03-05.md"].name) == ("ADR-7 iPhone", "2025-03-05")
    assert "secret" not in (await memory.retrieve("How high is the weir?")).text
