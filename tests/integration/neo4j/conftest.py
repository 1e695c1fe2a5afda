from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from support.servers.neo4j.server import Neo4jServer
from support.stores.neo4j import empty_neo4j, open_neo4j
from vicw_stores.neo4j import Neo4jGraphStore


@pytest.fixture
def server(neo4j_server: Neo4jServer) -> Neo4jServer:
    """The run's Neo4j without data."""
    empty_neo4j(neo4j_server)
    return neo4j_server


@pytest.fixture
async def graph(server: Neo4jServer) -> AsyncIterator[Neo4jGraphStore]:
    async with open_neo4j(server) as opened:
        yield opened
