"""Stores whose counts of terms are lost."""

from __future__ import annotations

from support.stores.graph_records import Graph
from vicw_shared.ports import TermScope
from vicw_stores.neo4j import Neo4jGraphStore
from vicw_stores.neo4j.keys import term_scope_key
from vicw_stores.sqlite import SqliteGraphStore


async def lose_counts(graph: Graph, scope: TermScope) -> None:
    """Lose a scope's counts."""
    if isinstance(graph, Neo4jGraphStore):
        query = "MATCH (r:Entity) WHERE r.counts_of = $scope DELETE r"
        await graph._database.write(lambda run: run(query, scope=term_scope_key(*scope)))
        return
    assert isinstance(graph, SqliteGraphStore)
    sql = "DELETE FROM term_count WHERE tenant = ? AND context = ?"
    await graph._database.write(lambda c: c.execute(sql, scope))


async def lose_all_counts(graph: Graph) -> None:
    """Make the store one whose terms are not counted."""
    if isinstance(graph, Neo4jGraphStore):
        await graph._database.write(lambda run: run("MATCH (r:Entity) WHERE r.counts_of IS NOT NULL DELETE r"))
        await graph._database.write(lambda run: run("MATCH (k:Chunk) REMOVE k.counted"))
        return
    assert isinstance(graph, SqliteGraphStore)
    await graph._database.write(lambda c: c.executescript("DELETE FROM term_count; DELETE FROM passage_terms;"))
