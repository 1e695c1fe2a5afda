"""Adapters of the stores: SQLite and Qdrant Edge in one process, Neo4j and Qdrant as servers."""
