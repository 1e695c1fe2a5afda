from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support.servers.neo4j.server import Neo4jServer
from support.stores.graph_records import Graph
from support.stores.neo4j import empty_neo4j, open_neo4j
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import KeyRing
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore
from vicw_stores.sqlite.keys import SqliteKeyRing


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.servers)])
async def graph(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Graph]:
    """An empty graph of every engine. A further one is one more parameter."""
    if request.param == "sqlite":
        async with _sqlite(store) as opened:
            yield opened
    else:
        server: Neo4jServer = request.getfixturevalue("neo4j_server")
        empty_neo4j(server)
        async with open_neo4j(server) as opened:
            yield opened


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.servers)])
async def key_ring(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[KeyRing]:
    """An empty key ring of every engine."""
    if request.param == "sqlite":
        async with _sqlite(store):
            yield SqliteKeyRing(store / "graph.sqlite3")
    else:
        server: Neo4jServer = request.getfixturevalue("neo4j_server")
        empty_neo4j(server)
        async with open_neo4j(server) as opened:
            yield opened.key_ring


@asynccontextmanager
async def _sqlite(store: Path) -> AsyncIterator[Graph]:
    with DataDir(store) as data_dir:
        opened = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        yield opened
        await opened.close()
