"""Trigger phrase index on SQLite: the entries of items, and look-ups by the phrases of a question."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import batched

from vicw_shared.adapters.sqlite.rows import columns_of, marks, node_of
from vicw_shared.model import Node
from vicw_shared.model.triggers import phrases_of, precedence, sort_by_precedence

_BATCH = 500


def trigger_rows(phrases: str, importance: float | None, protected: int) -> str:
    """Return an item's phrases as JSON, [text, precedence] each, for triggers to insert."""
    rank = precedence(importance, bool(protected))
    return json.dumps([(text, rank) for text in phrases_of(json.loads(phrases))], ensure_ascii=False)


def read_triggered(
    connection: sqlite3.Connection, tenant: str, phrases: Sequence[str], contexts: Sequence[str] | None, limit: int
) -> list[Node]:
    """Return the items with any of these phrases, at most ``limit`` per phrase, in order of precedence."""
    within = "" if contexts is None else f"AND context IN ({marks(len(contexts))}) "
    items: list[Node] = []
    for batch in batched(dict.fromkeys(phrases), _BATCH):
        rows = connection.execute(
            f"WITH wanted (text) AS (VALUES {', '.join(['(?)'] * len(batch))}) "  # noqa: S608
            f"SELECT DISTINCT {columns_of('n')} FROM wanted w CROSS JOIN node n ON n.pk IN ("
            f"SELECT node FROM phrase WHERE tenant = ? AND text = w.text {within}ORDER BY precedence, node LIMIT ?)",
            (*batch, tenant, *(contexts or ()), limit),
        )
        items += map(node_of, rows)
    return sort_by_precedence(items)
