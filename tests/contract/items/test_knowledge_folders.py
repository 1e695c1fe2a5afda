"""Knowledge folders and their bridges on both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.stores.graph_records import AT, Graph, edge, node, put
from support.stores.pairs import Side, asked_for
from unit.ingest.knowledge.test_sample_repository import pages, turns
from vicw_ingest.knowledge.page_list import list_pages
from vicw_shared.clock import now
from vicw_shared.model import Label
from vicw_shared.ports import Edges, GraphTransaction, Lane, Nodes, Scope, VectorQuery
from vicw_shared.wire.knowledge import KnowledgeQuery

GOVERNED = {
    ("Deployment policy", "GOVERNS", "m1"),
    ("Berth allocator", "DESCRIBES", "m2"),
    ("Berth allocator", "DESCRIBES", "Berth Allocator"),
    ("ADR 7: Exponential backoff", "DESCRIBES", "m4"),
    ("c1", "IMPLEMENTS", "ADR 7: Exponential backoff"),
    ("src/harbour/retry.py", "IMPLEMENTS", "ADR 7: Exponential backoff"),
    ("web/src/client.ts", "IMPLEMENTS", "ADR 7: Exponential backoff"),
}


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened
        await opened.indexer.drain()
        assert (await opened.check()).violations == []


async def tell(side: Side, context: str, *items: dict[str, Any]) -> None:
    await side.ingest({"context": context, "items": items, "extract": "rules"}, "t", None)
    await side.indexer.drain()


async def bridges(side: Side) -> set[tuple[str, str, str]]:
    live = {n.uid: n for label in Label for n in await side.graph.scan(Nodes(label), limit=2000)}
    live = {uid: n for uid, n in live.items() if n.retired_at is None}
    edges = [edge for edge, _, _ in await side.graph.scan(Edges(), limit=5000)]
    return {
        (live[e.source].source_id or live[e.source].name, e.type, live[e.target].source_id or live[e.target].name)
        for e in edges
        if e.created_by.startswith("bridge:") and e.source in live and e.target in live
    }


async def test_knowledge_pages_and_chat_are_bridged_until_a_retraction(side: Side) -> None:
    await tell(side, "repo", *pages())
    await tell(side, "chat", *turns())
    assert await bridges(side) == GOVERNED

    policy = "harbour/docs/policies/deployment.md"
    await side.retract({"context": "repo", "ids": [policy]}, "t")
    await side.indexer.drain()
    assert await bridges(side) == {bridge for bridge in GOVERNED if bridge[1] != "GOVERNS"}
    listed = await list_pages(side.graph, "t", KnowledgeQuery(context="repo", folder="harbour"))
    assert len(listed.pages) == 14
    broken = {(page.path, link.target) for page in listed.pages for link in page.links if link.fault == "missing"}
    assert ("docs/index.md", "[[Deployment policy]]") in broken
    assert (await list_pages(side.graph, "u", KnowledgeQuery(context="repo", folder="harbour"))).pages == ()


async def test_fulltext_and_vector_search_filter_by_subtype(side: Side) -> None:
    await tell(side, "c", {"id": "n", "subtype": "note", "text": "the amulet sank"}, {"id": "d", "text": "an amulet"})
    vector = (await side.embedder.embed(["amulet"], Lane.BULK))[0]
    for scope, wanted in (
        (Scope(tenant="t", now=now()), {"n", "d"}),
        (Scope(tenant="t", now=now(), subtypes=("note",)), {"n"}),
        (Scope(tenant="t", now=now(), subtypes=()), set()),
        (Scope(tenant="t", now=now(), subtypes_none=("note",)), {"d"}),
    ):
        by_words = [hit.uid for hit in await side.graph.find(scope, "amulet", 9)]
        by_vector = [hit.id for hit in await side.vectors.search(VectorQuery(scope=scope, limit=9, dense=vector))]
        for hits in (by_words, by_vector):
            chunks = await side.graph.nodes("t", hits)
            assert {chunk.source_id for chunk in chunks.values()} == wanted


async def test_bridge_edges_do_not_keep_an_entity_alive(graph: Graph) -> None:
    things = [node("page"), node("thing"), node("other"), node("gone", retired_at=AT)]
    await put(
        graph,
        things,
        [edge("DESCRIBES", "page", "thing"), edge("GOVERNS", "page", "thing"), edge("LINKS_TO", "page", "other")],
    )

    async def work(transaction: GraphTransaction) -> set[str]:
        return await transaction.isolated([thing.uid for thing in things])

    alone = await graph.write("t", "c", work)
    assert alone == {things[1].uid, things[3].uid}
