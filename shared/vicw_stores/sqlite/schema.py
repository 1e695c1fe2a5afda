"""Tables and migrations. ``PRAGMA user_version`` is the schema version: FIRST for ``TABLES``, plus one per migration.

A released migration is never edited; a change is a new migration. A store of 0.1.0 has version FIRST.
"""

from __future__ import annotations

import sqlite3

from vicw_shared.errors import SchemaVersionError

FIRST = 22
"""Version of ``TABLES``."""
TABLES = """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    -- Store id: lets clients detect another store at the same address.
    INSERT INTO meta VALUES ('store', lower(hex(randomblob(16))));

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
        step INTEGER GENERATED ALWAYS AS (ifnull(own_step, 0)) STORED,
        aliases TEXT NOT NULL DEFAULT '[]',
        trigger_phrases TEXT NOT NULL DEFAULT '[]',
        text_key TEXT
    ) STRICT;
    CREATE INDEX node_item ON node (tenant, context, source_id, version) WHERE source_id IS NOT NULL;
    CREATE INDEX node_root ON node (tenant, name) WHERE label = 'Context';
    CREATE INDEX node_flow ON node (tenant, context, flow_id, unstepped, step, timestamp, flow_step)
        WHERE arrival IS NOT NULL AND flow_id IS NOT NULL AND retired_at IS NULL;
    CREATE INDEX node_clock ON node (tenant, context, timestamp, arrival)
        WHERE arrival IS NOT NULL AND retired_at IS NULL;
    CREATE INDEX node_expiry ON node (expires_at)
        WHERE expires_at IS NOT NULL AND content_hash IS NOT NULL AND retired_at IS NULL;
    CREATE INDEX node_text_key ON node (tenant, text_key, context, created_at)
        WHERE text_key IS NOT NULL AND retired_at IS NULL;
    CREATE INDEX node_point ON node (qdrant_id) WHERE content_hash IS NOT NULL AND qdrant_id IS NOT NULL;
    CREATE INDEX node_domain ON node (tenant, domain) WHERE label = 'Chunk' AND retired_at IS NULL;

    CREATE TABLE edge (
        id BLOB PRIMARY KEY,
        type TEXT NOT NULL,
        source INTEGER NOT NULL REFERENCES node (pk),
        target INTEGER NOT NULL REFERENCES node (pk),
        weight REAL NOT NULL,
        created_at INTEGER NOT NULL,
        created_by TEXT NOT NULL,
        properties TEXT NOT NULL,
        told_by TEXT GENERATED ALWAYS AS (json_extract(properties, '$.item')) VIRTUAL
    ) STRICT;
    CREATE INDEX edge_out ON edge (source, type, weight DESC, target);
    CREATE INDEX edge_in ON edge (target, type, weight DESC, source);
    CREATE INDEX edge_told_by ON edge (told_by) WHERE told_by IS NOT NULL;

    -- ``slept`` is the number of items up to which the sleep cycle has processed a context.
    CREATE TABLE counter (
        tenant TEXT NOT NULL,
        context TEXT NOT NULL,
        flow TEXT NOT NULL,
        value INTEGER NOT NULL,
        slept INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (tenant, context, flow)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX counter_arrivals ON counter (tenant, context, value, slept) WHERE flow = '';

    CREATE TABLE receipt (
        tenant TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (tenant, key)
    ) STRICT;
    CREATE INDEX receipt_age ON receipt (tenant, created_at);

    CREATE TABLE api_key (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        rights TEXT NOT NULL,
        digest TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        note TEXT NOT NULL,
        revoked_at INTEGER
    ) STRICT, WITHOUT ROWID;

    -- A point has one entry. One that is never due is dead: it failed too often.
    CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        point BLOB NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('upsert', 'payload', 'delete')),
        due_at INTEGER DEFAULT 0,
        tries INTEGER NOT NULL DEFAULT 0,
        error TEXT,
        failed_at INTEGER
    ) STRICT;
    CREATE INDEX outbox_due ON outbox (tenant, due_at, seq) WHERE due_at IS NOT NULL;
    CREATE INDEX outbox_failed ON outbox (tries) WHERE tries > 0;

    -- Named things by their names, and knowledge items by their titles. ``node_terms`` is a function of this program.
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

    -- Items pending extraction by a language model.
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

    -- Live items by their trigger phrases, the highest precedence first. ``trigger_rows`` is this program's.
    CREATE TABLE phrase (
        tenant TEXT NOT NULL,
        text TEXT NOT NULL,
        precedence INTEGER NOT NULL,
        node INTEGER NOT NULL REFERENCES node (pk) ON DELETE CASCADE,
        context TEXT NOT NULL,
        PRIMARY KEY (tenant, text, precedence, node)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX phrase_node ON phrase (node);

    -- An entry for each Chunk, with the names, tags and bucket of its item. It is no external-content index of
    -- ``node``: removing a row from such an index needs its words again.
    CREATE VIRTUAL TABLE fulltext USING fts5 (
        head, text, tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co Pc'"
    );

    -- Log of the sleep cycle.
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
    CREATE INDEX step_of_task ON step (task, at, id);

    -- Time of each passage's latest change, for external copies: an outbox entry is removed when it is settled.
    CREATE TABLE passage_change (
        point BLOB PRIMARY KEY,
        tenant TEXT NOT NULL,
        at INTEGER NOT NULL,
        seq INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX passage_change_at ON passage_change (tenant, at, point);

    -- Remaining work of erasures, without any text of what they erase.
    CREATE TABLE erasure (
        id TEXT NOT NULL,
        number INTEGER NOT NULL,
        tenant TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (id, number)
    ) STRICT, WITHOUT ROWID;

    -- Usage counts of items.
    CREATE TABLE item_use (
        item BLOB PRIMARY KEY,
        times INTEGER NOT NULL,
        last_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

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
    CREATE TRIGGER fulltext_update AFTER UPDATE OF text ON node
    WHEN new.label = 'Chunk' AND old.text IS NOT new.text BEGIN
        UPDATE fulltext SET text = text_words(new.text) WHERE rowid = new.pk;
    END;
    CREATE TRIGGER fulltext_delete AFTER DELETE ON node WHEN old.label = 'Chunk' BEGIN
        DELETE FROM fulltext WHERE rowid = old.pk;
    END;
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
    CREATE TRIGGER passage_changed AFTER INSERT ON outbox BEGIN
        INSERT OR REPLACE INTO passage_change VALUES (
            new.point, new.tenant, CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER), new.seq
        );
    END;
"""
"""Triggers call functions of this program (``SqliteDatabase.connect``)."""
MIGRATIONS: tuple[str, ...] = (
    # 23: counts of terms (``vicw_stores.term_counts``). The passages are counted by the conversion of their words.
    """
    CREATE TABLE passage_terms (node INTEGER PRIMARY KEY REFERENCES node (pk), terms BLOB NOT NULL) STRICT;
    -- An id is never used again: records are cached by it.
    CREATE TABLE term_count (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        context TEXT NOT NULL,
        level INTEGER NOT NULL,
        passages INTEGER NOT NULL,
        counts BLOB NOT NULL
    ) STRICT;
    CREATE INDEX term_count_scope ON term_count (tenant, context, level, id);
    """,
    # 24: when something that decides replaced what a node says. A ``valid_to`` of earlier versions may be a guess.
    "ALTER TABLE node ADD COLUMN superseded_at INTEGER;",
    # 25: statements and extracted events by the time that they give.
    """
    CREATE INDEX node_stated ON node (tenant, context, timestamp)
        WHERE label = 'Event' AND content_hash IS NULL AND timestamp_inferred = 0 AND timestamp IS NOT NULL
        AND retired_at IS NULL;
    """,
    # 26: passages without a point, by context.
    """
    CREATE INDEX node_unindexed ON node (tenant, context)
        WHERE label = 'Chunk' AND indexed = 0 AND retired_at IS NULL;
    """,
    # 27: items by each order in which they are listed, live ones apart (``item_list``), and the values of their
    # metadata. ``metadata_terms`` is a function of this program.
    """
    CREATE TABLE metadata_term (
        node INTEGER NOT NULL REFERENCES node (pk) ON DELETE CASCADE,
        term TEXT NOT NULL,
        PRIMARY KEY (node, term)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER metadata_term_insert AFTER INSERT ON node
    WHEN new.content_hash IS NOT NULL AND new.metadata <> '{}' BEGIN
        INSERT OR IGNORE INTO metadata_term
            SELECT new.pk, t.value FROM json_each(metadata_terms(new.metadata)) t;
    END;
    CREATE TRIGGER metadata_term_update AFTER UPDATE OF metadata, content_hash ON node
    WHEN (old.metadata, old.content_hash IS NULL) IS NOT (new.metadata, new.content_hash IS NULL) BEGIN
        DELETE FROM metadata_term WHERE node = old.pk;
        INSERT OR IGNORE INTO metadata_term
            SELECT new.pk, t.value FROM json_each(metadata_terms(new.metadata)) t WHERE new.content_hash IS NOT NULL;
    END;
    INSERT OR IGNORE INTO metadata_term
        SELECT n.pk, t.value FROM node n, json_each(metadata_terms(n.metadata)) t
        WHERE n.content_hash IS NOT NULL AND n.metadata <> '{}';
    CREATE INDEX node_listed_told ON node
        (tenant, (retired_at IS NULL), ifnull(timestamp, created_at),
        ifnull(arrival, 0), uid) WHERE content_hash IS NOT NULL AND label <> 'Chunk';
    CREATE INDEX node_listed_told_in ON node
        (tenant, (retired_at IS NULL), context, ifnull(timestamp, created_at),
        ifnull(arrival, 0), uid) WHERE content_hash IS NOT NULL AND label <> 'Chunk';
    CREATE INDEX node_listed_happened ON node
        (tenant, (retired_at IS NULL), ifnull(iif(timestamp_inferred, NULL, timestamp), -9000000000000000000),
        ifnull(arrival, 0), uid) WHERE content_hash IS NOT NULL AND label <> 'Chunk';
    CREATE INDEX node_listed_happened_in ON node
        (tenant, (retired_at IS NULL), context, ifnull(iif(timestamp_inferred, NULL, timestamp), -9000000000000000000),
        ifnull(arrival, 0), uid) WHERE content_hash IS NOT NULL AND label <> 'Chunk';
    CREATE INDEX node_listed_arrival ON node
        (tenant, (retired_at IS NULL), created_at,
        ifnull(arrival, 0), uid) WHERE content_hash IS NOT NULL AND label <> 'Chunk';
    CREATE INDEX node_listed_arrival_in ON node
        (tenant, (retired_at IS NULL), context, created_at,
        ifnull(arrival, 0), uid) WHERE content_hash IS NOT NULL AND label <> 'Chunk';
    CREATE INDEX node_listed_importance ON node
        (tenant, (retired_at IS NULL), ifnull(importance, -1.0),
        ifnull(arrival, 0), uid) WHERE content_hash IS NOT NULL AND label <> 'Chunk';
    CREATE INDEX node_listed_importance_in ON node
        (tenant, (retired_at IS NULL), context, ifnull(importance, -1.0),
        ifnull(arrival, 0), uid) WHERE content_hash IS NOT NULL AND label <> 'Chunk';
    """,
    # 28: items by the values of their metadata, for filters that few of many items pass.
    "CREATE INDEX metadata_term_node ON metadata_term (term, node);",
    # 29: webhooks; ``body`` is JSON with the messages that wait.
    """
    CREATE TABLE webhook (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        revision INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX webhook_of_tenant ON webhook (tenant, id);
    """,
    # 30: counts of items, kept by ``item_totals``: of each group of items, and of what each item counts for in them. An
    # item may be noted several times: a trigger cannot ignore a conflict, for the statement that fires it decides.
    """
    CREATE TABLE context_total (
        id INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL,
        live INTEGER NOT NULL,
        context TEXT NOT NULL,
        domain TEXT NOT NULL,
        label TEXT NOT NULL,
        sensitivity TEXT NOT NULL,
        portable INTEGER NOT NULL,
        items INTEGER NOT NULL DEFAULT 0,
        first INTEGER,
        last INTEGER,
        passages INTEGER NOT NULL DEFAULT 0,
        chars INTEGER NOT NULL DEFAULT 0,
        indexed INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE UNIQUE INDEX context_total_group ON context_total
        (tenant, live, context, domain, label, sensitivity, portable);
    CREATE TABLE speaker_total (
        id INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL,
        user TEXT,
        speaker TEXT,
        context TEXT NOT NULL,
        sensitivity TEXT NOT NULL,
        portable INTEGER NOT NULL,
        items INTEGER NOT NULL DEFAULT 0,
        first INTEGER,
        last INTEGER
    ) STRICT;
    CREATE INDEX speaker_total_group ON speaker_total (tenant, user, speaker, context, sensitivity, portable);
    CREATE TABLE counted_item (
        node INTEGER PRIMARY KEY,
        live INTEGER NOT NULL,
        context_total INTEGER NOT NULL,
        speaker_total INTEGER,
        told INTEGER NOT NULL,
        expires_at INTEGER,
        passages INTEGER NOT NULL,
        chars INTEGER NOT NULL,
        indexed INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX counted_item_in ON counted_item (context_total, told);
    CREATE INDEX counted_item_of ON counted_item (speaker_total, told) WHERE speaker_total IS NOT NULL;
    CREATE INDEX counted_item_expires ON counted_item (live, expires_at) WHERE expires_at IS NOT NULL;
    CREATE TABLE uncounted_item (node INTEGER NOT NULL) STRICT;
    CREATE TRIGGER count_insert AFTER INSERT ON node WHEN new.content_hash IS NOT NULL AND new.label <> 'Chunk' BEGIN
        INSERT INTO uncounted_item VALUES (new.pk);
    END;
    CREATE TRIGGER count_delete AFTER DELETE ON node WHEN old.content_hash IS NOT NULL AND old.label <> 'Chunk' BEGIN
        INSERT INTO uncounted_item VALUES (old.pk);
    END;
    CREATE TRIGGER count_update AFTER UPDATE OF label, context, domain, content_hash, retired_at, sensitivity, portable,
        speaker, timestamp, created_at, expires_at ON node
    WHEN (old.content_hash IS NOT NULL OR new.content_hash IS NOT NULL)
        AND (old.label, old.context, old.domain, old.content_hash IS NULL, old.retired_at, old.sensitivity,
            old.portable, old.speaker, old.timestamp, old.created_at, old.expires_at)
        IS NOT (new.label, new.context, new.domain, new.content_hash IS NULL, new.retired_at, new.sensitivity,
            new.portable, new.speaker, new.timestamp, new.created_at, new.expires_at) BEGIN
        INSERT INTO uncounted_item VALUES (new.pk);
    END;
    CREATE TRIGGER count_passage AFTER UPDATE OF label, text ON node
    WHEN (old.label = 'Chunk' OR new.label = 'Chunk') AND (old.label, old.text) IS NOT (new.label, new.text) BEGIN
        INSERT INTO uncounted_item
            SELECT e.source FROM edge e WHERE e.target = new.pk AND e.type = 'EVIDENCED_BY';
    END;
    CREATE TRIGGER count_indexed AFTER UPDATE OF indexed ON node
    WHEN new.label = 'Chunk' AND old.indexed <> new.indexed BEGIN
        UPDATE context_total SET indexed = indexed + (new.indexed - old.indexed) * c.times FROM (
            SELECT c.context_total AS id, count(*) AS times FROM edge e CROSS JOIN counted_item c ON c.node = e.source
            WHERE e.target = new.pk AND e.type = 'EVIDENCED_BY' GROUP BY 1) c WHERE c.id = context_total.id;
        UPDATE counted_item SET indexed = indexed + new.indexed - old.indexed
            WHERE node IN (SELECT e.source FROM edge e WHERE e.target = new.pk AND e.type = 'EVIDENCED_BY');
    END;
    CREATE TRIGGER count_user AFTER UPDATE OF name, subtype ON node
    WHEN new.label <> 'Chunk' AND (old.name, old.subtype) IS NOT (new.name, new.subtype) BEGIN
        INSERT INTO uncounted_item
            SELECT e.source FROM edge e WHERE e.target = new.pk AND e.type = 'STATED_BY';
    END;
    CREATE TRIGGER count_edge_insert AFTER INSERT ON edge WHEN new.type IN ('EVIDENCED_BY', 'STATED_BY') BEGIN
        INSERT INTO uncounted_item VALUES (new.source);
    END;
    CREATE TRIGGER count_edge_delete AFTER DELETE ON edge WHEN old.type IN ('EVIDENCED_BY', 'STATED_BY') BEGIN
        INSERT INTO uncounted_item VALUES (old.source);
    END;
    CREATE TRIGGER count_edge_update AFTER UPDATE OF type, source, target ON edge
    WHEN (old.type, old.source, old.target) IS NOT (new.type, new.source, new.target) BEGIN
        INSERT INTO uncounted_item VALUES (old.source), (new.source);
    END;
    INSERT INTO uncounted_item SELECT pk FROM node WHERE content_hash IS NOT NULL AND label <> 'Chunk';
    """,
)


def latest() -> int:
    """Return the version of this program's schema."""
    return FIRST + len(MIGRATIONS)


def require_current(connection: sqlite3.Connection) -> None:
    """Raise SchemaVersionError unless the database has this program's version, with all that came with it."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != latest():
        raise SchemaVersionError(
            f"The store has schema version {version}, this program knows {latest()}. "
            "Start `vicw serve` of this version on it once, or upgrade VICW"
        )
    if connection.execute("SELECT 1 FROM uncounted_item LIMIT 1").fetchone() is not None:
        raise SchemaVersionError(
            "The store's items are not counted yet: the program that migrates it is at work, or was stopped. Wait for "
            "it, or start `vicw serve` of this version on it"
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Create or migrate the database to this program's version, each migration in its own transaction.

    Raises SchemaVersionError if the database is newer than this program, or older than 0.1.0.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    require_known(version)
    scripts = {FIRST: TABLES} | dict(enumerate(MIGRATIONS, start=FIRST + 1))
    for number, script in scripts.items():
        if number > version:
            connection.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {number}; COMMIT;")


def require_known(version: int) -> None:
    """Raise SchemaVersionError for a version that this program can neither open nor migrate."""
    if version > latest():
        raise SchemaVersionError(f"The store has schema version {version}, this program knows {latest()}. Upgrade VICW")
    if 0 < version < FIRST:
        raise SchemaVersionError(f"The store has schema version {version}, of a build before 0.1.0: open it with 0.1.0")
