"""What is particular to claims of many processes on one outbox, and what a claim costs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from neo4j import Record

from support.servers.neo4j.server import Neo4jServer
from support.stores.graph_records import edge, node, put
from vicw_shared.model import Label, Node
from vicw_shared.ports import Backlog, PendingKind
from vicw_stores.neo4j import Neo4jGraphStore
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement

LONG = 60.0


async def put_item(graph: Neo4jGraphStore, name: str) -> Node:
    """Put an item with one passage, which is returned."""
    chunk = node(f"{name} 0", Label.CHUNK, text=name)
    item = node(name, content_hash="h", qdrant_id=chunk.uid)
    await put(graph, [item, chunk], [edge("EVIDENCED_BY", name, chunk.name)])
    return chunk


async def test_postponing_an_expired_claim_queues_the_newer_payload_again(graph: Neo4jGraphStore) -> None:
    chunk = await put_item(graph, "a")
    await graph.outbox.acknowledge(await graph.outbox.claim(1, seconds=LONG))
    await put(graph, [replace(chunk, indexed=True, importance=0.1)])
    old = await graph.outbox.claim(1, seconds=0.1)
    await put(graph, [replace(chunk, indexed=True, importance=0.9)])
    await asyncio.sleep(0.2)
    await graph.outbox.acknowledge(await graph.outbox.claim(1, seconds=LONG))
    assert await graph.outbox.backlog() == Backlog(0, 0), "the other has written the newer payload"

    await graph.outbox.postpone(old, seconds=0)  # whoever stalled has written the older one since, and failed then
    (again,) = await graph.outbox.claim(1, seconds=LONG)
    assert (again.kind, again.chunk and again.chunk.importance) == (PendingKind.PAYLOAD, 0.9)
    await graph.outbox.acknowledge([again])
    assert await graph.outbox.backlog() == Backlog(0, 0)


async def test_postponing_an_expired_claim_of_an_indexed_passage_has_no_effect(graph: Neo4jGraphStore) -> None:
    await put_item(graph, "a")
    old = await graph.outbox.claim(1, seconds=0.1)
    await asyncio.sleep(0.2)
    await graph.outbox.acknowledge(await graph.outbox.claim(1, seconds=LONG))
    await graph.outbox.postpone(old, seconds=0, error="refused")
    assert (await graph.outbox.backlog(), await graph.outbox.failures(None, 9)) == (Backlog(0, 0), [])


async def test_a_claim_needs_few_statements_despite_thousands_of_idle_tenants(
    graph: Neo4jGraphStore, server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.driver() as driver:
        driver.execute_query(
            "UNWIND range(1, 5000) AS n CREATE (:Chunk {uid: 'resting ' + n, tenant: 't' + n, pending: 'upsert', "
            "tenant_key: toString(10000 + n), seq: 1, tries: 1, due: (timestamp() + 3600000) * 1000})"
        )
    chunk = await put_item(graph, "a")
    asked = 0
    write = Neo4jDatabase.write

    async def counting(database: Neo4jDatabase, work: Callable[[RunStatement], Awaitable[Any]]) -> Any:
        async def counted(run: RunStatement) -> Any:
            async def one(query: str, /, **values: Any) -> Sequence[Record]:
                nonlocal asked
                asked += 1
                return await run(query, **values)

            return await work(one)

        return await write(database, counted)

    monkeypatch.setattr(Neo4jDatabase, "write", counting)
    assert [point.point_id for point in await graph.outbox.claim(8, seconds=LONG)] == [chunk.uid]
    assert await graph.outbox.claim(8, seconds=LONG) == []
    assert asked < 12
