"""Neo4j graphs for tests: the run's server, emptied; and small nodes and edges to put into any graph."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import SecretStr

from servers.neo4j.server import Neo4jServer
from vicw_shared.adapters.neo4j import Neo4jGraphStore
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.settings import Neo4jSettings
from vicw_shared.uids import edge_id, make_uid

AT = datetime(2025, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


def neo4j_settings(server: Neo4jServer, **fields: Any) -> Neo4jSettings:
    return Neo4jSettings(url=server.url, user=server.user, password=SecretStr(server.password), **fields)


def empty_neo4j(server: Neo4jServer, *, schema: bool = False) -> None:
    """Remove all data; with ``schema`` whatever was defined, too."""
    with server.driver() as driver, driver.session() as session:
        session.run(
            "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
        ).consume()
        if not schema:
            return
        for kind, listed in (
            ("CONSTRAINT", "SHOW CONSTRAINTS YIELD name"),
            ("INDEX", "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"),
        ):
            for name in [record["name"] for record in session.run(listed)]:
                session.run(f"DROP {kind} {name}").consume()  # type: ignore[arg-type]


@asynccontextmanager
async def open_neo4j(server: Neo4jServer, **fields: Any) -> AsyncIterator[Neo4jGraphStore]:
    """Open the graph as it is."""
    store = await Neo4jGraphStore.open(neo4j_settings(server, **fields), EdgeRegistry.with_core_types())
    try:
        yield store
    finally:
        await store.close()


def node(name: str, label: Label = Label.ENTITY, **fields: Any) -> Node:
    base = Node(
        uid=make_uid(name), label=label, tenant="t", context="c", name=name, subtype="s", domain="d", created_at=AT
    )
    return replace(base, **fields)


def edge(edge_type: str, source: str, target: str, weight: float = 0.5, by: str = "test") -> Edge:
    a, b = make_uid(source), make_uid(target)
    return Edge(
        id=edge_id(edge_type, a, b),
        type=edge_type,
        source=a,
        target=b,
        weight=weight,
        created_at=AT,
        created_by=by,
        properties={"certainty": 0.5},
    )
