"""Getting to the server, and not getting there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from support.metrics.counters import metric_increase
from support.servers.machine import free_port
from support.servers.neo4j.server import Neo4jProcess, Neo4jServer
from support.stores.graph_records import node, put
from support.stores.neo4j import neo4j_settings, open_neo4j
from vicw_shared.errors import OverloadedError, SettingsError, UnavailableError, VicwError
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import make_uid
from vicw_stores.neo4j import Neo4jGraphStore


async def open_error(server: Neo4jServer, **fields: Any) -> VicwError:
    with pytest.raises(VicwError) as caught:
        async with open_neo4j(server, retry_seconds=0, **fields):
            pass
    return caught.value


async def test_a_refused_neo4j_connection_names_the_setting_at_fault(server: Neo4jServer) -> None:
    error = await open_error(replace(server, password="wrong"))
    assert isinstance(error, SettingsError)
    assert "VICW_NEO4J_PASSWORD" in error.detail
    assert "wrong" not in error.detail
    error = await open_error(server, database="none")
    assert isinstance(error, SettingsError)
    assert "VICW_NEO4J_DATABASE" in error.detail
    error = await open_error(replace(server, url="gopher://127.0.0.1"))
    assert isinstance(error, SettingsError)
    assert "VICW_NEO4J_URL" in error.detail


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
async def test_an_unreachable_neo4j_raises_unavailable_error(server: Neo4jServer, host: str) -> None:
    error = await open_error(replace(server, url=f"bolt://{host}:{free_port()}"))
    assert isinstance(error, UnavailableError)
    assert error.dependency == "graph"


async def test_pool_exhaustion_and_query_timeout_raise_overloaded_error(server: Neo4jServer) -> None:
    async with open_neo4j(server, pool=1, acquire_seconds=0.2, query_seconds=1.0, retry_seconds=0) as graph:
        started = asyncio.Event()

        async def slow(transaction: GraphTransaction) -> None:
            started.set()
            await asyncio.sleep(0.6)

        writing = asyncio.create_task(graph.write("t", "c", slow))
        await started.wait()
        with pytest.raises(OverloadedError, match="VICW_NEO4J_POOL") as raised:
            await graph.nodes("t", [make_uid("x")])
        assert raised.value.dependency == "graph"
        await writing

        async def slower(transaction: GraphTransaction) -> None:
            await asyncio.sleep(5)  # the server looks every two seconds
            await transaction.put_nodes([node("x")])

        with pytest.raises(OverloadedError, match="VICW_NEO4J_QUERY_SECONDS"):
            await graph.write("t", "c", slower)
        assert await graph.nodes("t", [make_uid("x")]) == {}


@asynccontextmanager
async def open_with_timeout(server: Neo4jServer, seconds: float) -> AsyncIterator[Neo4jGraphStore]:
    """Open the graph as the retrieval service does."""
    registry = EdgeRegistry.with_core_types()
    graph = await Neo4jGraphStore.open(neo4j_settings(server), registry, timeout_seconds=seconds)
    try:
        yield graph
    finally:
        await graph.close()


_SLOW = "UNWIND range(1, 1000000000) AS n RETURN count(n % 7) AS count"


async def test_a_query_timeout_names_the_setting_that_ended_it(server: Neo4jServer) -> None:
    async with open_neo4j(server, query_seconds=0.4) as graph:
        with pytest.raises(UnavailableError, match=r"no answer within 0\.4 s \(VICW_NEO4J_QUERY_SECONDS\)"):
            await graph._database.read(_SLOW)
    async with open_with_timeout(server, 0.3) as graph:
        with pytest.raises(UnavailableError, match=r"no answer within 0\.3 s \(VICW_RETRIEVAL_GRAPH_MS\)"):
            await graph._database.read(_SLOW)


async def test_opening_with_a_timeout_warms_the_text_index_up(server: Neo4jServer) -> None:
    searched = metric_increase("vicw_engine_seconds_count", engine="neo4j", operation="find")
    async with open_neo4j(server):
        assert searched() == 0
    async with open_with_timeout(server, 2.0):
        assert searched() == 1, "the first search of all takes seconds"


async def test_reads_with_a_timeout_fail_at_once_when_neo4j_is_gone(
    start_neo4j: Callable[[], Neo4jProcess],
) -> None:
    process = start_neo4j()
    async with open_with_timeout(process.server, 20.0) as graph:
        await graph.record.store_id()
        process.kill()
        for _ in range(2):
            began = time.monotonic()
            with pytest.raises(UnavailableError):
                await graph.record.store_id()
            assert time.monotonic() - began < 1.5, "where nobody listens, that is known at once"
        await asyncio.to_thread(process.restart)
        assert await graph.record.store_id(), "the connections from before are dead, which is no failure"


async def test_a_closed_graph_store_raises_unavailable_error(graph: Neo4jGraphStore) -> None:
    await graph.close()
    await graph.close()
    with pytest.raises(UnavailableError, match="closed"):
        await graph.record.models()
    with pytest.raises(UnavailableError, match="closed"):
        await put(graph, [node("x")])


async def test_acknowledged_nodes_survive_a_kill_of_neo4j(start_neo4j: Callable[[], Neo4jProcess]) -> None:
    process = start_neo4j()
    acknowledged: list[str] = []
    async with open_neo4j(process.server, retry_seconds=0, connect_seconds=2) as graph:

        async def write() -> None:
            for number in range(10_000):
                await put(graph, [node(f"n{number}")])
                acknowledged.append(make_uid(f"n{number}"))

        writing = asyncio.create_task(write())
        while len(acknowledged) < 20:  # noqa: ASYNC110 - until the server has been seen to work
            await asyncio.sleep(0.05)
        process.kill()
        with pytest.raises(UnavailableError):
            await writing
        began = time.monotonic()
        with pytest.raises(UnavailableError):
            await graph.nodes("t", acknowledged)
        assert time.monotonic() - began < 5
        await asyncio.to_thread(process.restart)
        found = await graph.nodes("t", acknowledged)
    assert found.keys() == set(acknowledged)
