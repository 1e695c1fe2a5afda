"""Live texts by text key, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import batched

from vicw_shared.adapters.sqlite.rows import columns_of, marks, node_of
from vicw_shared.model import Node

_BATCH = 500


def read_by_text_key(
    connection: sqlite3.Connection, tenant: str, keys: Sequence[str], contexts: Sequence[str] | None, limit: int
) -> dict[str, list[Node]]:
    """Return the live nodes with each of these keys, at most ``limit`` per key, oldest first."""
    within = "" if contexts is None else f"AND context IN ({marks(len(contexts))}) "
    nodes: dict[str, list[Node]] = {}
    for batch in batched(dict.fromkeys(keys), _BATCH):
        rows = connection.execute(
            f"WITH wanted (key) AS (VALUES {', '.join(['(?)'] * len(batch))}) "  # noqa: S608
            f"SELECT {columns_of('n')} FROM wanted w CROSS JOIN node n ON n.pk IN ("
            "SELECT pk FROM node WHERE tenant = ? AND text_key = w.key AND text_key IS NOT NULL "
            f"AND retired_at IS NULL {within}ORDER BY created_at, pk LIMIT ?) ORDER BY n.created_at, n.pk",
            (*batch, tenant, *(contexts or ()), limit),
        )
        for node in map(node_of, rows):
            nodes.setdefault(node.text_key or "", []).append(node)
    return nodes
