"""Full-text index: an entry for each Chunk, with the stems of the sparse encoder.

An item's first Chunk carries its names, tags and bucket, so that one look-up of one index finds them with the text.
Both sides are stemmed and split here, before the engine sees them: its own tokenizer does not split ``camelCase``, nor
words in scripts without spaces.
"""

from __future__ import annotations

import json
import sqlite3

from vicw_shared import sparse


def text_words(text: str | None) -> str:
    """Return the index words of a text."""
    return " ".join(sparse.stems(text or ""))


def head_words(name: str, title: str | None, tags: str, bucket: str | None) -> str:
    """Return the index words of an item's names, tags (a JSON list) and bucket."""
    marks: list[str] = json.loads(tags)
    names = [name, *([title] if title and title != name else []), *marks]
    return text_words("\n".join([*names, *([bucket] if bucket and bucket not in marks else [])]))


class Domains:
    """Counts the live Chunks of each domain; recounts when the store has grown by one percent."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bool], tuple[int, dict[str, int]]] = {}

    def of(self, connection: sqlite3.Connection, tenant: str, *, public: bool) -> dict[str, int]:
        """Return a tenant's counts: of all Chunks, or of those visible to everybody everywhere."""
        (rows,) = connection.execute("SELECT ifnull(max(pk), 0) FROM node").fetchone()
        counted_at, counts = self._known.get((tenant, public), (-1, {}))
        if counted_at < 0 or abs(rows - counted_at) > counted_at // 100:
            sql = (
                "SELECT domain, count(*) FROM node WHERE tenant = ? AND label = 'Chunk' AND retired_at IS NULL "
                "AND (NOT ? OR (sensitivity = 'public' AND portable)) GROUP BY domain"
            )
            counts = dict(connection.execute(sql, (tenant, public)))
            self._known[tenant, public] = rows, counts
        return dict(counts)
