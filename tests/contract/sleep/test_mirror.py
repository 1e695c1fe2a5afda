"""The mirror over every graph: a run notices what changes, and what it shows is what a new mirror would."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from support.documents.mirror_pages import assert_consistent, everything, pages
from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_shared.clock import now
from vicw_shared.model import Edge, Label, Node
from vicw_shared.uids import make_uid
from vicw_sleep.mirror.service import Mirror


def item(name: str, text: str, number: int, **fields: object) -> tuple[list[Node], list[Edge]]:
    event = node(name, Label.EVENT, content_hash="h", source_id=name, timestamp=AT + timedelta(seconds=number))
    event = replace(event, **fields)  # type: ignore[arg-type]
    passage = node(f"{name} passage", Label.CHUNK, text=text, flow_step=0)
    return [event, passage], [edge("EVIDENCED_BY", name, f"{name} passage")]


async def test_a_mirror_sync_equals_a_fresh_build(graph: Graph, tmp_path: Path) -> None:
    mirror = Mirror(graph, tmp_path / "m", "t")
    tags = [node(name, Label.CONCEPT, subtype="tag") for name in ("amulet", "storm")]
    for number in range(60):
        nodes, edges = item(f"i{number}", f"word{number} was said", number)
        await put(graph, [*nodes, *tags], [*edges, edge("TAGGED", f"i{number}", ("amulet", "storm")[number % 2])])
    assert (await mirror.sync()).built
    assert not (await mirror.sync()).built
    await put(graph, *item("late", "comes later", 5))
    await put(graph, [], [edge("TAGGED", "i3", "amulet")])
    nodes, edges = item("i7", "word7 was said", 7, retired_at=AT)
    await put(graph, nodes, edges)
    await graph.outbox.acknowledge(await graph.outbox.claim(1000, seconds=60))
    done = await mirror.sync()
    assert (done.built, done.atoms) == (True, 60)
    text = everything(tmp_path / "m")
    assert "comes later" in text
    assert "word7 " not in text
    assert text.count("## [i3] ") == 2, "under each of its tags"
    await Mirror(graph, tmp_path / "fresh", "t").build()
    assert pages(tmp_path / "m") == pages(tmp_path / "fresh")
    assert_consistent(tmp_path / "m")
    assert await graph.item_views("t", [make_uid("i7")]) == []


async def test_a_mirror_sync_after_a_clock_ahead_misses_no_change(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = Mirror(graph, tmp_path / "m", "t")
    await put(graph, *item("early", "comes first", 1))
    await mirror.build()
    with monkeypatch.context() as wrong:
        wrong.setattr("vicw_sleep.mirror.service.now", lambda: now() + timedelta(hours=5))
        await mirror.sync()
    await put(graph, *item("late", "comes later", 5))
    await mirror.sync()
    assert not (await mirror.sync()).built
    await put(graph, *item("last", "comes last", 6))
    assert (await mirror.sync()).built
    await Mirror(graph, tmp_path / "fresh", "t").build()
    assert pages(tmp_path / "m") == pages(tmp_path / "fresh")
    assert "comes later" in everything(tmp_path / "m")
