"""SQLite graph store: the source of truth of the embedded default."""

from vicw_stores.sqlite.store import GRAPH, SqliteGraphStore, require_store

__all__ = ["GRAPH", "SqliteGraphStore", "require_store"]
