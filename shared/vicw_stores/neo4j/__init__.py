"""Neo4j graph store: the source of truth of the platform."""

from vicw_stores.neo4j.store import Neo4jGraphStore

__all__ = ["Neo4jGraphStore"]
