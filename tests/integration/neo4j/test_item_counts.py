"""Counts of items over passages of an earlier build, which have no length beside their text."""

from __future__ import annotations

from datetime import timedelta

from support.servers.neo4j.server import Neo4jServer
from support.stores.graph_records import AT, edge, node, put
from vicw_shared.model import Label
from vicw_shared.ports import Scope
from vicw_stores.neo4j import Neo4jGraphStore


async def test_passages_without_a_length_are_counted_by_their_text(graph: Neo4jGraphStore, server: Neo4jServer) -> None:
    texts = ["\U0001f98a" * 3, "", "Büro"]
    passages = [node(f"passage {n}", Label.CHUNK, text=text) for n, text in enumerate(texts)]
    edges = [edge("EVIDENCED_BY", "item", passage.name) for passage in passages]
    await put(graph, [node("item", content_hash="h", arrival=1), *passages], edges)

    async def chars() -> tuple[int, int]:
        (part,) = await graph.context_parts(Scope(tenant="t", now=AT + timedelta(days=1)))
        return part.passages, part.chars

    counted = await chars()
    with server.driver() as driver, driver.session() as session:
        removed = session.run("MATCH (k:Chunk) WHERE k.chars IS NOT NULL REMOVE k.chars RETURN count(k) AS count")
        assert removed.single(strict=True)["count"] == 3
    assert (counted, await chars()) == ((3, 7), (3, 7))
