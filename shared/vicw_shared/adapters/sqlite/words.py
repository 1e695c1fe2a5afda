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


def head_words(name: str, title: str | None, tags: str, bucket: str | None = None) -> str:
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


# A separate table, not an external-content index of ``node``: removing a row from such an index needs its words again.
INDEXED = """
    DROP TRIGGER fulltext_insert;
    DROP TRIGGER fulltext_delete;
    DROP TRIGGER fulltext_update;
    DROP TABLE fulltext;
    CREATE INDEX node_point ON node (qdrant_id) WHERE content_hash IS NOT NULL AND qdrant_id IS NOT NULL;
    CREATE INDEX node_domain ON node (tenant, domain) WHERE label = 'Chunk' AND retired_at IS NULL;
    CREATE VIRTUAL TABLE fulltext USING fts5 (
        head, text, tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co Pc'"
    );
    INSERT INTO fulltext (rowid, head, text)
        SELECT n.pk, ifnull((
            SELECT head_words(i.name, i.title, i.tags) FROM node i
            WHERE i.qdrant_id = n.uid AND i.content_hash IS NOT NULL AND i.label <> 'Chunk' LIMIT 1), ''),
            text_words(n.text)
        FROM node n WHERE n.label = 'Chunk';
    CREATE TRIGGER fulltext_insert AFTER INSERT ON node WHEN new.label = 'Chunk' BEGIN
        INSERT INTO fulltext (rowid, head, text) VALUES (new.pk, ifnull((
            SELECT head_words(i.name, i.title, i.tags) FROM node i
            WHERE i.qdrant_id = new.uid AND i.content_hash IS NOT NULL AND i.label <> 'Chunk' LIMIT 1), ''),
            text_words(new.text));
    END;
    CREATE TRIGGER fulltext_update AFTER UPDATE OF text ON node
    WHEN new.label = 'Chunk' AND old.text IS NOT new.text BEGIN
        UPDATE fulltext SET text = text_words(new.text) WHERE rowid = new.pk;
    END;
    CREATE TRIGGER fulltext_delete AFTER DELETE ON node WHEN old.label = 'Chunk' BEGIN
        DELETE FROM fulltext WHERE rowid = old.pk;
    END;
    CREATE TRIGGER fulltext_head AFTER INSERT ON node
    WHEN new.content_hash IS NOT NULL AND new.label <> 'Chunk' AND new.qdrant_id IS NOT NULL BEGIN
        UPDATE fulltext SET head = head_words(new.name, new.title, new.tags)
        WHERE rowid = (SELECT pk FROM node WHERE uid = new.qdrant_id AND label = 'Chunk');
    END;
    CREATE TRIGGER fulltext_rename AFTER UPDATE OF name, title, tags, qdrant_id, content_hash ON node
    WHEN new.content_hash IS NOT NULL AND new.label <> 'Chunk' AND new.qdrant_id IS NOT NULL
        AND (old.name, old.title, old.tags, old.qdrant_id, old.content_hash IS NULL)
            IS NOT (new.name, new.title, new.tags, new.qdrant_id, new.content_hash IS NULL) BEGIN
        UPDATE fulltext SET head = head_words(new.name, new.title, new.tags)
        WHERE rowid = (SELECT pk FROM node WHERE uid = new.qdrant_id AND label = 'Chunk');
    END;
"""
"""Migration that creates the index and cheap domain counts. Its SQL functions are this program's."""

BUCKETED = """
    DROP TRIGGER fulltext_insert;
    DROP TRIGGER fulltext_head;
    DROP TRIGGER fulltext_rename;
    CREATE TRIGGER fulltext_insert AFTER INSERT ON node WHEN new.label = 'Chunk' BEGIN
        INSERT INTO fulltext (rowid, head, text) VALUES (new.pk, ifnull((
            SELECT head_words(i.name, i.title, i.tags, i.bucket) FROM node i
            WHERE i.qdrant_id = new.uid AND i.content_hash IS NOT NULL AND i.label <> 'Chunk' LIMIT 1), ''),
            text_words(new.text));
    END;
    CREATE TRIGGER fulltext_head AFTER INSERT ON node
    WHEN new.content_hash IS NOT NULL AND new.label <> 'Chunk' AND new.qdrant_id IS NOT NULL BEGIN
        UPDATE fulltext SET head = head_words(new.name, new.title, new.tags, new.bucket)
        WHERE rowid = (SELECT pk FROM node WHERE uid = new.qdrant_id AND label = 'Chunk');
    END;
    CREATE TRIGGER fulltext_rename AFTER UPDATE OF name, title, tags, bucket, qdrant_id, content_hash ON node
    WHEN new.content_hash IS NOT NULL AND new.label <> 'Chunk' AND new.qdrant_id IS NOT NULL
        AND (old.name, old.title, old.tags, old.bucket, old.qdrant_id, old.content_hash IS NULL)
            IS NOT (new.name, new.title, new.tags, new.bucket, new.qdrant_id, new.content_hash IS NULL) BEGIN
        UPDATE fulltext SET head = head_words(new.name, new.title, new.tags, new.bucket)
        WHERE rowid = (SELECT pk FROM node WHERE uid = new.qdrant_id AND label = 'Chunk');
    END;
    UPDATE fulltext SET head = head_words(i.name, i.title, i.tags, i.bucket)
        FROM node i JOIN node k ON k.uid = i.qdrant_id AND k.label = 'Chunk'
        WHERE fulltext.rowid = k.pk
            AND i.bucket IS NOT NULL AND i.content_hash IS NOT NULL AND i.label <> 'Chunk';
"""
"""Migration that adds buckets to the index."""
