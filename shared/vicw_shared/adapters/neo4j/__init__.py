"""Neo4j as the graph: the truth of the platform."""

from vicw_shared.adapters.neo4j.store import Neo4jGraphStore

__all__ = ["Neo4jGraphStore"]
