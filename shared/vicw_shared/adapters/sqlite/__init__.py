"""SQLite as the graph: the truth of the embedded default."""

from vicw_shared.adapters.sqlite.store import SqliteGraphStore

__all__ = ["SqliteGraphStore"]
