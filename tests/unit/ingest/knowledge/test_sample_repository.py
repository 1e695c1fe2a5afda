"""A small repository with its documentation: what a reader would say that it tells, and which page governs what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.stores.graph_queries import GraphClient
from support.stores.memory import Memory
from unit.ingest.extraction.test_stored_extraction import live_edges
from vicw_shared.model import Label
from vicw_shared.ports import Edges, Nodes
from vicw_standalone.drawing.picture import draw

REPO = Path(__file__).parents[3] / "support" / "stories" / "repo"
CHAT = [
    ("m1", "Ines", "We deployed the new tide model on Friday evening without asking anyone."),
    ("m2", "Piotr", "Last night the Berth Allocator put two ships in one place."),
    ("m3", "Ines", "Lunch was good today."),
    ("m4", "Piotr", "Five tries, says ADR-7, so the outage was ours."),
]


def pages(root: Path = REPO, folder: str = "harbour") -> Iterator[dict[str, Any]]:
    """Return a folder's files as a caller sends them who is on another machine."""
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        name = path.relative_to(root).as_posix()
        yield {"text": path.read_text("utf-8"), "page": {"folder": folder, "path": name}}


def turns() -> Iterator[dict[str, Any]]:
    for number, (turn, speaker, text) in enumerate(CHAT):
        yield {"id": turn, "speaker": speaker, "timestamp": f"2026-01-09T18:0{number}:00Z", "text": text}
    yield {"id": "c1", "subtype": "commit", "name": "Pause longer", "text": "Pause longer between tries (ADR-0007)"}


async def bridges(memory: Memory) -> set[tuple[str, str, str]]:
    """Return the bridges between live nodes: pages by name, memories by id."""
    graph = memory.standalone.graph
    live = {n.uid: n for label in Label for n in await graph.scan(Nodes(label), limit=1000) if not n.retired_at}
    edges = [edge for edge, _, _ in await graph.scan(Edges(), limit=5000)]
    return {
        (live[e.source].source_id or live[e.source].name, e.type, live[e.target].source_id or live[e.target].name)
        for e in edges
        if e.created_by.startswith("bridge:") and e.source in live and e.target in live
    }


async def test_a_sample_repository_yields_its_links_folders_and_dependencies(memory: Memory) -> None:
    answer = await memory.ingest(*pages(), context="repo", extract="rules")

    assert await live_edges(memory, "LINKS_TO") == {
        ("Harbourmaster", "LINKS_TO", "Handbook"),
        ("Harbourmaster", "LINKS_TO", "Getting started > Run it"),
        ("Handbook", "LINKS_TO", "Getting started"),
        ("Handbook", "LINKS_TO", "Deployment policy"),
        ("Handbook", "LINKS_TO", "On call"),
        ("Handbook", "LINKS_TO", "harbour/docs/adr/"),
        ("Handbook", "LINKS_TO", "Berth allocator"),
        ("Berth allocator", "LINKS_TO", "Harbourmaster"),
        ("Getting started", "LINKS_TO", "Handbook"),
        ("Getting started", "LINKS_TO", "ADR 7: Exponential backoff"),
        ("Deployment policy", "LINKS_TO", "On call > Who is called"),
        ("Notes on decisions", "LINKS_TO", "Deployment policy"),
    }
    assert await live_edges(memory, "REFERENCES") == {
        ("Harbourmaster", "REFERENCES", "src/harbour/berths.py"),
        ("Harbourmaster", "REFERENCES", "web/src/index.ts"),
        ("Getting started", "REFERENCES", "allocate_berth"),
        ("On call", "REFERENCES", "https://tides.example.org/api"),
    }
    needs = await live_edges(memory, "DEPENDS_ON")
    assert needs >= {
        ("src/harbour/berths.py", "DEPENDS_ON", "src/harbour/retry.py"),
        ("src/harbour/berths.py", "DEPENDS_ON", "src/harbour/main.py"),
        ("src/harbour/main.py", "DEPENDS_ON", "json"),
        ("web/src/index.ts", "DEPENDS_ON", "web/src/client.ts"),
    }
    assert not {target for _, _, target in needs} & {"harbour.main", "src/harbour/retry", "web/src/client"}
    assert await live_edges(memory, "HAS_INDEX") == {
        ("harbour/", "HAS_INDEX", "Harbourmaster"),
        ("harbour/docs/", "HAS_INDEX", "Handbook"),
    }
    assert await live_edges(memory, "HAS_ENTRYPOINT") == {
        ("harbour/", "HAS_ENTRYPOINT", "Harbourmaster"),
        ("harbour/src/harbour/", "HAS_ENTRYPOINT", "src/harbour/main.py"),
    }
    assert await live_edges(memory, "CONTAINS") >= {
        ("harbour/", "CONTAINS", "harbour/docs/"),
        ("harbour/docs/", "CONTAINS", "harbour/docs/policies/"),
        ("harbour/docs/policies/", "CONTAINS", "Deployment policy"),
        ("Deployment policy", "CONTAINS", "Deployment policy > Rollback"),
        ("src/harbour/retry.py", "CONTAINS", "with_backoff"),
    }
    links = [(item.id, link) for item in answer.items for link in item.links]
    broken = {(page, link.fault.value, link.target, link.line) for page, link in links}
    assert broken == {
        ("harbour/docs/guides/getting-started.md", "missing", "../images/berths.svg", 9),
        ("harbour/docs/guides/getting-started.md", "missing", "manual.md", 9),
        ("harbour/docs/guides/getting-started.md", "ambiguous", "[[notes]]", 9),
        ("harbour/docs/adr/notes.md", "heading", "[[Deployment policy#Approval]]", 3),
    }
    assert await memory.found("what is done with a release that fails its health check", context="repo", limit=1) == [
        "harbour/docs/policies/deployment.md"
    ]


@pytest.mark.parametrize("pages_first", [True, False])
async def test_bridges_link_pages_to_memories_in_either_order_of_arrival(memory: Memory, pages_first: bool) -> None:
    sides = [(turns, "chat"), (pages, "repo")]
    for side, context in reversed(sides) if pages_first else sides:
        await memory.ingest(*side(), context=context, extract="rules")

    assert await bridges(memory) == {
        ("Deployment policy", "GOVERNS", "m1"),
        ("Berth allocator", "DESCRIBES", "m2"),
        ("Berth allocator", "DESCRIBES", "Berth Allocator"),
        ("ADR 7: Exponential backoff", "DESCRIBES", "m4"),
        ("c1", "IMPLEMENTS", "ADR 7: Exponential backoff"),
        ("src/harbour/retry.py", "IMPLEMENTS", "ADR 7: Exponential backoff"),
        ("web/src/client.ts", "IMPLEMENTS", "ADR 7: Exponential backoff"),
    }


async def test_a_walk_from_a_policy_draws_its_bridge_with_confidence(memory: Memory) -> None:
    await memory.ingest(*pages(), context="repo", extract="rules")
    await memory.ingest(*turns(), context="chat", extract="rules")
    asker = GraphClient(memory.standalone.graph, "default")
    answer = await asker.ask("walk", start=["Deployment policy"], types={"include": ["GOVERNS"]})
    (edge,) = answer.edges
    assert edge.confidence is not None
    assert 0.6 <= edge.confidence <= 1
    assert f"GOVERNS {edge.confidence:.2f}" in draw(answer)
    by_path = await asker.ask("walk", start=["docs/policies/deployment.md"], hops=0)
    assert by_path.start == answer.start, "a page is called by its path, too"
    policy = "harbour/docs/policies/deployment.md"
    by_id = await asker.ask("walk", start=[policy], types={"include": ["GOVERNS"]})
    assert [edge.id for edge in by_id.edges] == [edge.id], "its item leads to where it leads"
