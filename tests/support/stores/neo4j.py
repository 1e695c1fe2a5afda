"""The run's Neo4j as a graph."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr

from support.servers.neo4j.server import Neo4jServer
from vicw_shared.model import EdgeRegistry
from vicw_shared.settings import Neo4jSettings
from vicw_stores.neo4j import Neo4jGraphStore


def neo4j_settings(server: Neo4jServer, **fields: Any) -> Neo4jSettings:
    return Neo4jSettings(url=server.url, user=server.user, password=SecretStr(server.password), **fields)


def empty_neo4j(server: Neo4jServer, *, schema: bool = False) -> None:
    """Remove all data; with ``schema`` whatever was defined, too."""
    with server.driver() as driver, driver.session() as session:
        # Edges first: a node that has very many is one row of the second statement.
        session.run("MATCH ()-[r]->() CALL (r) { DELETE r } IN TRANSACTIONS OF 10000 ROWS").consume()
        session.run("MATCH (n) CALL (n) { DELETE n } IN TRANSACTIONS OF 10000 ROWS").consume()
        if not schema:
            return
        for kind, listed in (
            ("CONSTRAINT", "SHOW CONSTRAINTS YIELD name"),
            ("INDEX", "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"),
        ):
            for name in [record["name"] for record in session.run(listed)]:
                session.run(f"DROP {kind} {name}").consume()


@asynccontextmanager
async def open_neo4j(
    server: Neo4jServer, registry: EdgeRegistry | None = None, **fields: Any
) -> AsyncIterator[Neo4jGraphStore]:
    """Open the graph as it is."""
    store = await Neo4jGraphStore.open(neo4j_settings(server, **fields), registry or EdgeRegistry.with_core_types())
    try:
        yield store
    finally:
        await store.close()
