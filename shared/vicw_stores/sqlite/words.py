"""Functions of the schema's triggers: words of the full-text index, an entry per Chunk; and counts of domains.

The entry of an item's first Chunk includes the item's names, tags and bucket, so that one index covers them and
the text.
"""

from __future__ import annotations

import json
import sqlite3

from vicw_core.index import full_text
from vicw_shared.model.triggers import phrases_of, precedence


def text_words(text: str | None) -> str:
    """Return the index words of a text."""
    return full_text.text_words(text or "")


def head_words(name: str, title: str | None, tags: str, bucket: str | None) -> str:
    """Return the index words of an item's name, title, tags (a JSON list) and bucket."""
    return full_text.head_words(name, title, json.loads(tags), bucket)


class Domains:
    """Cached counts of the live Chunks per domain, renewed when the store has grown by one percent."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, bool], tuple[int, dict[str, int]]] = {}

    def of(self, connection: sqlite3.Connection, tenant: str, *, public: bool) -> dict[str, int]:
        """Return a tenant's counts: of all Chunks, or of those that every viewer may see in every context."""
        (rows,) = connection.execute("SELECT ifnull(max(pk), 0) FROM node").fetchone()
        counted_at, counts = self._counts.get((tenant, public), (-1, {}))
        if counted_at < 0 or abs(rows - counted_at) > counted_at // 100:
            sql = (
                "SELECT domain, count(*) FROM node WHERE tenant = ? AND label = 'Chunk' AND retired_at IS NULL "
                "AND (NOT ? OR (sensitivity = 'public' AND portable)) GROUP BY domain"
            )
            counts = dict(connection.execute(sql, (tenant, public)))
            self._counts[tenant, public] = rows, counts
        return dict(counts)


def trigger_rows(phrases: str, importance: float | None, protected: int) -> str:
    """Return an item's phrases as JSON, [text, precedence] each, for triggers to insert."""
    rank = precedence(importance, bool(protected))
    return json.dumps([(text, rank) for text in phrases_of(json.loads(phrases))], ensure_ascii=False)
