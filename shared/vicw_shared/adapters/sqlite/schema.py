"""Tables and their migrations. ``PRAGMA user_version`` is the number of migrations applied.

A migration is never edited once released; a change is a new one.
"""

from __future__ import annotations

import sqlite3

from vicw_shared.adapters.sqlite.words import BUCKETED, INDEXED
from vicw_shared.errors import SchemaVersionError

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE node (
        pk INTEGER PRIMARY KEY,
        uid BLOB NOT NULL UNIQUE,
        label TEXT NOT NULL CHECK (label IN ('Context', 'Entity', 'Event', 'Concept', 'Chunk')),
        tenant TEXT NOT NULL,
        context TEXT NOT NULL,
        name TEXT NOT NULL,
        subtype TEXT NOT NULL,
        domain TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        qdrant_id BLOB,
        text TEXT,
        speaker TEXT,
        source TEXT,
        source_id TEXT,
        version INTEGER NOT NULL,
        content_hash TEXT,
        tags TEXT NOT NULL,
        bucket TEXT,
        metadata TEXT NOT NULL,
        timestamp INTEGER,
        timestamp_inferred INTEGER NOT NULL,
        retired_at INTEGER,
        valid_to INTEGER,
        expires_at INTEGER,
        flow_id TEXT,
        flow_step INTEGER,
        own_step INTEGER,
        arrival INTEGER,
        sensitivity TEXT NOT NULL,
        portable INTEGER NOT NULL,
        importance REAL,
        protected INTEGER NOT NULL,
        indexed INTEGER NOT NULL,
        title TEXT,
        unstepped INTEGER GENERATED ALWAYS AS (own_step IS NULL) STORED,
        step INTEGER GENERATED ALWAYS AS (ifnull(own_step, 0)) STORED
    ) STRICT;
    CREATE INDEX node_item ON node (tenant, context, source_id, version) WHERE source_id IS NOT NULL;
    CREATE INDEX node_root ON node (tenant, name) WHERE label = 'Context';
    CREATE INDEX node_flow ON node (tenant, context, flow_id, unstepped, step, timestamp, flow_step)
        WHERE arrival IS NOT NULL AND flow_id IS NOT NULL AND retired_at IS NULL;
    CREATE INDEX node_clock ON node (tenant, context, timestamp, arrival)
        WHERE arrival IS NOT NULL AND retired_at IS NULL;

    CREATE TABLE edge (
        id BLOB PRIMARY KEY,
        type TEXT NOT NULL,
        source INTEGER NOT NULL REFERENCES node (pk),
        target INTEGER NOT NULL REFERENCES node (pk),
        weight REAL NOT NULL,
        created_at INTEGER NOT NULL,
        created_by TEXT NOT NULL,
        properties TEXT NOT NULL
    ) STRICT;
    CREATE INDEX edge_out ON edge (source, type, weight DESC, target);
    CREATE INDEX edge_in ON edge (target, type, weight DESC, source);

    CREATE TABLE counter (
        tenant TEXT NOT NULL,
        context TEXT NOT NULL,
        flow TEXT NOT NULL,
        value INTEGER NOT NULL,
        PRIMARY KEY (tenant, context, flow)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE receipt (
        tenant TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (tenant, key)
    ) STRICT;

    CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        point BLOB NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('upsert', 'payload', 'delete'))
    ) STRICT;
    CREATE INDEX outbox_point ON outbox (point);

    CREATE VIRTUAL TABLE fulltext USING fts5 (
        name, tags, text, content = 'node', content_rowid = 'pk', tokenize = 'porter unicode61 remove_diacritics 2'
    );
    CREATE TRIGGER fulltext_insert AFTER INSERT ON node BEGIN
        INSERT INTO fulltext (rowid, name, tags, text) VALUES (new.pk, new.name, new.tags, new.text);
    END;
    CREATE TRIGGER fulltext_delete AFTER DELETE ON node BEGIN
        INSERT INTO fulltext (fulltext, rowid, name, tags, text)
        VALUES ('delete', old.pk, old.name, old.tags, old.text);
    END;
    CREATE TRIGGER fulltext_update AFTER UPDATE OF name, tags, text ON node
    WHEN old.name IS NOT new.name OR old.tags IS NOT new.tags OR old.text IS NOT new.text BEGIN
        INSERT INTO fulltext (fulltext, rowid, name, tags, text)
        VALUES ('delete', old.pk, old.name, old.tags, old.text);
        INSERT INTO fulltext (rowid, name, tags, text) VALUES (new.pk, new.name, new.tags, new.text);
    END;
    """,
    # Edges extracted from an item are found when the item changes.
    """
    ALTER TABLE edge ADD COLUMN told_by TEXT GENERATED ALWAYS AS (json_extract(properties, '$.item')) VIRTUAL;
    CREATE INDEX edge_told_by ON edge (told_by) WHERE told_by IS NOT NULL;
    """,
    # Receipts expire.
    """
    CREATE INDEX receipt_age ON receipt (tenant, created_at);
    """,
    # A store has an id: what is known of one store does not apply to another at the same address.
    """
    INSERT INTO meta VALUES ('store', lower(hex(randomblob(16))));
    """,
    # An item is indexed when its passage is.
    """
    UPDATE node SET indexed = 1
    WHERE label <> 'Chunk' AND qdrant_id IN (SELECT uid FROM node WHERE label = 'Chunk' AND indexed);
    """,
    # A point has one entry, with its failures; tenants take turns.
    """
    CREATE TABLE entry (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        point BLOB NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('upsert', 'payload', 'delete')),
        due_at INTEGER NOT NULL DEFAULT 0,
        tries INTEGER NOT NULL DEFAULT 0,
        error TEXT
    ) STRICT;
    INSERT INTO entry (seq, point, tenant, kind)
        SELECT max(o.seq), o.point, ifnull(n.tenant, ''), max(o.kind)
        FROM outbox o LEFT JOIN node n ON n.uid = o.point GROUP BY o.point;
    DROP TABLE outbox;
    ALTER TABLE entry RENAME TO outbox;
    CREATE INDEX outbox_due ON outbox (tenant, due_at, seq);
    CREATE INDEX outbox_failed ON outbox (tries) WHERE tries > 0;
    """,
    # API keys, for servers that others than this machine can reach.
    """
    CREATE TABLE api_key (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        rights TEXT NOT NULL,
        digest TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        note TEXT NOT NULL,
        revoked_at INTEGER
    ) STRICT, WITHOUT ROWID;
    """,
    # An entry that is never due is dead: it failed too often.
    """
    CREATE TABLE entry (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        point BLOB NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('upsert', 'payload', 'delete')),
        due_at INTEGER DEFAULT 0,
        tries INTEGER NOT NULL DEFAULT 0,
        error TEXT,
        failed_at INTEGER
    ) STRICT;
    INSERT INTO entry
        SELECT seq, point, tenant, kind, due_at, tries, error,
            CASE WHEN tries > 0 THEN CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) END
        FROM outbox;
    DROP TABLE outbox;
    ALTER TABLE entry RENAME TO outbox;
    CREATE INDEX outbox_due ON outbox (tenant, due_at, seq) WHERE due_at IS NOT NULL;
    CREATE INDEX outbox_failed ON outbox (tries) WHERE tries > 0;
    """,
    # Named things are found by their names. ``name_terms`` is a function of this program that the engine calls.
    """
    ALTER TABLE node ADD COLUMN aliases TEXT NOT NULL DEFAULT '[]';
    CREATE TABLE term (
        tenant TEXT NOT NULL,
        context TEXT NOT NULL,
        kind INTEGER NOT NULL,
        text TEXT NOT NULL,
        node INTEGER NOT NULL REFERENCES node (pk) ON DELETE CASCADE,
        PRIMARY KEY (tenant, kind, text, context, node)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX term_list ON term (tenant, context, text) WHERE kind = 0;
    CREATE INDEX term_node ON term (node);
    INSERT INTO term
        SELECT n.tenant, n.context, json_extract(t.value, '$[0]'), json_extract(t.value, '$[1]'), n.pk
        FROM node n, json_each(name_terms(n.label, n.name, n.aliases)) t
        WHERE n.label IN ('Entity', 'Concept') AND n.content_hash IS NULL AND n.retired_at IS NULL;
    CREATE TRIGGER term_insert AFTER INSERT ON node
    WHEN new.label IN ('Entity', 'Concept') AND new.content_hash IS NULL AND new.retired_at IS NULL BEGIN
        INSERT INTO term
            SELECT new.tenant, new.context, json_extract(t.value, '$[0]'), json_extract(t.value, '$[1]'), new.pk
            FROM json_each(name_terms(new.label, new.name, new.aliases)) t;
    END;
    CREATE TRIGGER term_update AFTER UPDATE OF label, context, name, aliases, content_hash, retired_at ON node
    WHEN (old.label, old.context, old.name, old.aliases, old.content_hash IS NULL, old.retired_at IS NULL)
        IS NOT (new.label, new.context, new.name, new.aliases, new.content_hash IS NULL, new.retired_at IS NULL) BEGIN
        DELETE FROM term WHERE node = old.pk;
        INSERT INTO term
            SELECT new.tenant, new.context, json_extract(t.value, '$[0]'), json_extract(t.value, '$[1]'), new.pk
            FROM json_each(name_terms(new.label, new.name, new.aliases)) t
            WHERE new.label IN ('Entity', 'Concept') AND new.content_hash IS NULL AND new.retired_at IS NULL;
    END;
    """,
    # Items pending extraction by a language model.
    """
    CREATE TABLE unread (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        item BLOB NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        context TEXT NOT NULL,
        due_at INTEGER DEFAULT 0,
        tries INTEGER NOT NULL DEFAULT 0,
        error TEXT,
        failed_at INTEGER
    ) STRICT;
    CREATE INDEX unread_due ON unread (tenant, due_at, seq) WHERE due_at IS NOT NULL;
    CREATE INDEX unread_failed ON unread (tries) WHERE tries > 0;
    """,
    # Live items are found by their trigger phrases, the highest precedence first. ``trigger_rows`` is this program's.
    """
    ALTER TABLE node ADD COLUMN trigger_phrases TEXT NOT NULL DEFAULT '[]';
    CREATE TABLE phrase (
        tenant TEXT NOT NULL,
        text TEXT NOT NULL,
        precedence INTEGER NOT NULL,
        node INTEGER NOT NULL REFERENCES node (pk) ON DELETE CASCADE,
        context TEXT NOT NULL,
        PRIMARY KEY (tenant, text, precedence, node)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX phrase_node ON phrase (node);
    CREATE TRIGGER phrase_insert AFTER INSERT ON node
    WHEN new.trigger_phrases <> '[]' AND new.retired_at IS NULL AND new.label <> 'Chunk' BEGIN
        INSERT INTO phrase
            SELECT new.tenant, json_extract(t.value, '$[0]'), json_extract(t.value, '$[1]'), new.pk, new.context
            FROM json_each(trigger_rows(new.trigger_phrases, new.importance, new.protected)) t;
    END;
    CREATE TRIGGER phrase_update AFTER UPDATE OF
        label, context, trigger_phrases, importance, protected, retired_at ON node
    WHEN old.trigger_phrases <> '[]' OR new.trigger_phrases <> '[]' BEGIN
        DELETE FROM phrase WHERE node = old.pk;
        INSERT INTO phrase
            SELECT new.tenant, json_extract(t.value, '$[0]'), json_extract(t.value, '$[1]'), new.pk, new.context
            FROM json_each(trigger_rows(new.trigger_phrases, new.importance, new.protected)) t
            WHERE new.retired_at IS NULL AND new.label <> 'Chunk';
    END;
    """,
    # Expired items are found by their expiry.
    """
    CREATE INDEX node_expiry ON node (expires_at)
        WHERE expires_at IS NOT NULL AND content_hash IS NOT NULL AND retired_at IS NULL;
    """,
    # Live texts are found by text key. ``passage_key`` is this program's.
    """
    ALTER TABLE node ADD COLUMN text_key TEXT;
    UPDATE node SET text_key = passage_key(text, speaker, subtype, domain) WHERE label = 'Chunk' AND text IS NOT NULL;
    CREATE INDEX node_text_key ON node (tenant, text_key, context, created_at)
        WHERE text_key IS NOT NULL AND retired_at IS NULL;
    """,
    # Knowledge items are found by their titles, among the terms. ``node_terms`` is this program's.
    """
    DROP TRIGGER term_insert;
    DROP TRIGGER term_update;
    CREATE TRIGGER term_insert AFTER INSERT ON node
    WHEN new.label IN ('Entity', 'Concept') AND new.retired_at IS NULL
        AND (new.content_hash IS NULL OR new.title IS NOT NULL) BEGIN
        INSERT INTO term
            SELECT new.tenant, new.context, json_extract(t.value, '$[0]'), json_extract(t.value, '$[1]'), new.pk
            FROM json_each(node_terms(
                new.label, new.name, new.aliases, new.title, new.content_hash IS NOT NULL)) t;
    END;
    CREATE TRIGGER term_update AFTER UPDATE OF label, context, name, aliases, title, content_hash, retired_at ON node
    WHEN (old.label, old.context, old.name, old.aliases, old.title, old.content_hash IS NULL, old.retired_at IS NULL)
        IS NOT (new.label, new.context, new.name, new.aliases, new.title, new.content_hash IS NULL,
            new.retired_at IS NULL) BEGIN
        DELETE FROM term WHERE node = old.pk;
        INSERT INTO term
            SELECT new.tenant, new.context, json_extract(t.value, '$[0]'), json_extract(t.value, '$[1]'), new.pk
            FROM json_each(node_terms(
                new.label, new.name, new.aliases, new.title, new.content_hash IS NOT NULL)) t
            WHERE new.label IN ('Entity', 'Concept') AND new.retired_at IS NULL;
    END;
    INSERT INTO term
        SELECT n.tenant, n.context, json_extract(t.value, '$[0]'), json_extract(t.value, '$[1]'), n.pk
        FROM node n, json_each(node_terms(n.label, n.name, n.aliases, n.title, 1)) t
        WHERE n.label = 'Entity' AND n.content_hash IS NOT NULL AND n.retired_at IS NULL AND n.title IS NOT NULL;
    """,
    # Passages are found by their stems, the first of an item by its names and tags, too.
    INDEXED,
    # … and by its bucket.
    BUCKETED,
    # Log of the sleep cycle.
    """
    CREATE TABLE step (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        context TEXT NOT NULL,
        task TEXT NOT NULL,
        outcome TEXT NOT NULL,
        at INTEGER NOT NULL,
        subject TEXT NOT NULL,
        reason TEXT NOT NULL,
        details TEXT NOT NULL
    ) STRICT;
    CREATE INDEX step_age ON step (at, id);
    CREATE INDEX step_of_tenant ON step (tenant, at, id);
    """,
    # Time of each passage's latest change, for external copies: an outbox entry is removed when it is settled.
    """
    CREATE TABLE passage_change (
        point BLOB PRIMARY KEY,
        tenant TEXT NOT NULL,
        at INTEGER NOT NULL,
        seq INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX passage_change_at ON passage_change (tenant, at, point);
    CREATE TRIGGER passage_changed AFTER INSERT ON outbox BEGIN
        INSERT OR REPLACE INTO passage_change VALUES (
            new.point, new.tenant, CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER), new.seq
        );
    END;
    """,
    # Remaining work of erasures, without any text of what they erase.
    """
    CREATE TABLE erasure (
        id TEXT NOT NULL,
        number INTEGER NOT NULL,
        tenant TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (id, number)
    ) STRICT, WITHOUT ROWID;
    """,
    # Usage counts of items.
    """
    CREATE TABLE item_use (
        item BLOB PRIMARY KEY,
        times INTEGER NOT NULL,
        last_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
    # Number of items up to which the sleep cycle has processed a context.
    """
    ALTER TABLE counter ADD COLUMN slept INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX counter_arrivals ON counter (tenant, context, value, slept) WHERE flow = '';
    """,
    # Steps of one task, among those of all tasks.
    """
    CREATE INDEX step_of_task ON step (task, at, id);
    """,
)


def require_current(connection: sqlite3.Connection) -> None:
    """Raise SchemaVersionError unless the database has this program's version."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != len(MIGRATIONS):
        raise SchemaVersionError(
            f"The store has schema version {version}, this program knows {len(MIGRATIONS)}. "
            "Start `vicw serve` of this version on it once, or upgrade VICW"
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate the database to this program's version, each migration in its own transaction.

    Raises SchemaVersionError if the database is newer than this program.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise SchemaVersionError(
            f"The store has schema version {version}, this program knows {len(MIGRATIONS)}. Upgrade VICW"
        )
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {number}; COMMIT;")
