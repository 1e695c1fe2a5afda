"""Read-only glance at a graph's file, safe beside a server: no lock, no new file, no migration."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from vicw_shared.ports import ModelIdentity
from vicw_stores.sqlite.database import translated
from vicw_stores.sqlite.schema import require_known


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """Model and index state of a store.

    ``model`` is the model in use (None: none is recorded), ``any_indexed`` whether any Chunk is indexed, ``rebuilding``
    whether a lost index is being rebuilt.
    """

    model: ModelIdentity | None
    any_indexed: bool = False
    rebuilding: bool = False


def read_counts(path: Path) -> GraphCounts:
    """Read the graph at ``path``.

    Raises SchemaVersionError if this program cannot open it, UnavailableError if it cannot be read.
    """
    # Without a log no process has the file open. `immutable` says so: otherwise SQLite would create a log that it
    # cannot remove again, owned by the reading user.
    mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
    with translated(), closing(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        require_known(version)
        if version == 0:
            return GraphCounts(None)
        sql = "SELECT key, value FROM meta WHERE key IN ('model', 'rebuilding')"
        meta = dict(connection.execute(sql).fetchall())
        sql = "SELECT EXISTS (SELECT 1 FROM node WHERE label = 'Chunk' AND indexed)"
        (any_indexed,) = connection.execute(sql).fetchone()
        model = ModelIdentity(**json.loads(meta["model"])) if "model" in meta else None
        return GraphCounts(model, bool(any_indexed), "rebuilding" in meta)
