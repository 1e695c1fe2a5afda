"""Constraints, indexes and the schema's version.

Several services may start on an empty database at once: one of them creates the schema, the others wait for it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from uuid import uuid4

from vicw_core.filters.metadata_terms import metadata_terms
from vicw_core.filters.order import NO_IMPORTANCE, NO_TIME
from vicw_core.index import sparse
from vicw_shared.clock import MICROSECONDS
from vicw_shared.errors import OverloadedError, SchemaVersionError
from vicw_shared.model import Label
from vicw_stores.neo4j.cypher import item_list, records
from vicw_stores.neo4j.cypher.parts import one_of
from vicw_stores.neo4j.cypher.text import INDEX
from vicw_stores.neo4j.database import Neo4jDatabase, RunStatement
from vicw_stores.neo4j.keys import value_words

FIRST = 7
"""Version of a store of 0.1.0."""
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    # 8: statements and extracted events by the time that they give (``keys.stated_at``).
    (
        "MATCH (n:Event) WHERE n.content_hash IS NULL AND n.timestamp IS NOT NULL AND n.retired_at IS NULL "
        "AND NOT n.timestamp_inferred AND size(n.tenant) + size(n.context) <= 1500 SET n.stated_at = n.timestamp",
    ),
    # 9: items by each order in which they are listed (``keys.listing_keys``); the terms of metadata follow.
    (
        "MATCH (n:Event|Entity) WHERE n.content_hash IS NOT NULL "
        "SET n.listed = CASE WHEN n.retired_at IS NULL THEN '+' ELSE '-' END + left(n.tenant, 750), "
        "n.listed_in = left(n.context, 750), n.arrival_key = coalesce(n.arrival, 0), "
        "n.told_key = coalesce(n.timestamp, n.created_at), "
        f"n.happened_key = CASE WHEN n.timestamp_inferred OR n.timestamp IS NULL THEN {NO_TIME} ELSE n.timestamp END, "
        f"n.importance_key = coalesce(n.importance, {NO_IMPORTANCE})",
    ),
    # 10: the words of items' values follow, too.
    (),
)
"""Statements that migrate a store to each further version. A released migration is never edited."""

_VALUE_WORDS = 10
"""The version since which items have the terms of their metadata and words, which no statement can make."""
_METADATA_BATCH = 1000
_RECORD = ("vicw_record", "CREATE CONSTRAINT vicw_record IF NOT EXISTS FOR (n:Entity) REQUIRE n.record IS UNIQUE")
_INDEXES: dict[str, str] = {
    "vicw_receipt_age": "FOR (n:Entity) ON (n.receipt_of, n.created_at)",
    "vicw_receipt_oldest": "FOR (n:Entity) ON (n.created_at, n.receipt_of)",
    "vicw_entity_item": "FOR (n:Entity) ON (n.item_key)",
    "vicw_event_item": "FOR (n:Event) ON (n.item_key)",
    "vicw_event_flow": "FOR (n:Event) ON (n.flow_at)",
    "vicw_event_clock": "FOR (n:Event) ON (n.clock_at)",
    "vicw_event_stated": "FOR (n:Event) ON (n.tenant, n.context, n.stated_at)",
    "vicw_context_tenant": "FOR (n:Context) ON (n.tenant_key)",
    "vicw_chunk_due": "FOR (n:Chunk) ON (n.tenant_key, n.due)",
    "vicw_chunk_waiting": "FOR (n:Chunk) ON (n.home, n.due)",
    "vicw_chunk_changed": "FOR (n:Chunk) ON (n.tenant_key, n.changed_at)",
    "vicw_chunk_tries": "FOR (n:Chunk) ON (n.tries)",
    "vicw_unread_due": "FOR (n:Entity) ON (n.unread_of, n.unread_due)",
    "vicw_unread_tries": "FOR (n:Entity) ON (n.unread_tries)",
    "vicw_chunk_folded": "FOR (n:Chunk) ON (n.folded_key)",
    "vicw_step_at": "FOR (n:Entity) ON (n.step_at)",
    "vicw_chunk_worded": "FOR (n:Chunk) ON (n.worded)",
    "vicw_event_worded": "FOR (n:Event) ON (n.worded)",
    "vicw_entity_worded": "FOR (n:Entity) ON (n.worded)",
    "vicw_event_ends": "FOR (n:Event) ON (n.ends_at)",
    "vicw_entity_ends": "FOR (n:Entity) ON (n.ends_at)",
    "vicw_term_home": "FOR (n:Entity) ON (n.term, n.home)",
    "vicw_term_place": "FOR (n:Entity) ON (n.place)",
    "vicw_term_counts": "FOR (n:Entity) ON (n.counts_of)",
    "vicw_term_begins": "FOR (n:Entity) ON (n.begins)",
    **item_list.indexes(),
}
_TEXT = (
    f"CREATE FULLTEXT INDEX {INDEX} IF NOT EXISTS FOR (n:Chunk) ON EACH [n.words, n.tenant_key] "
    # The words are VICW's own: nothing is left to analyse.
    "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}"
)
_VALUES = (
    f"CREATE FULLTEXT INDEX {item_list.VALUES_INDEX} IF NOT EXISTS FOR (n:Event|Entity) ON EACH [n.value_words] "
    "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}"
)
_OBSOLETE = ("vicw_text",)
"""Indexes of earlier versions."""
_BUILD_SECONDS = 3600
_LOCK_SECONDS = 30.0
"""Duration of the schema lock: a process that dies while it defines the schema blocks the others for so long."""
_POLL_SECONDS = 0.25
_RETRY_SECONDS = 120.0
"""Time for which a starting process retries while another process defines the schema."""
_EDGE = "vicw_edge_"


def statements(types: Iterable[str]) -> dict[str, str]:
    """Return the statement that creates each constraint and index, by name."""
    created = dict([_RECORD])
    for label in Label:
        name = f"vicw_{label.lower()}_uid"
        created[name] = f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{label}) REQUIRE n.uid IS UNIQUE"
    created |= {name: f"CREATE INDEX {name} IF NOT EXISTS {definition}" for name, definition in _INDEXES.items()}
    created[INDEX] = _TEXT
    created[item_list.VALUES_INDEX] = _VALUES
    for edge_type in types:
        name, index_name = f"{_EDGE}{edge_type}", f"vicw_told_{edge_type}"
        pattern = f"FOR ()-[r:{one_of([edge_type])}]-()"
        created[name] = f"CREATE CONSTRAINT {name} IF NOT EXISTS {pattern} REQUIRE r.id IS UNIQUE"
        created[index_name] = f"CREATE INDEX {index_name} IF NOT EXISTS {pattern} ON (r.told_by)"
    return created


async def prepare(database: Neo4jDatabase, types: Iterable[str]) -> tuple[str, ...]:
    """Migrate the database to this program's version; return the edge types that it has or may get.

    Raises SchemaVersionError, before anything is changed, if it is newer than this program, or older than 0.1.0.
    """
    await database.define(_RECORD[1])
    await _write_with_retries(database, _migrate)
    required, holder = statements(types), uuid4().hex
    while missing := required.keys() - (existing := await _existing(database)):
        if await _lock_schema(database, holder):
            await _define(database, holder, {name: required[name] for name in required if name in missing})
        else:
            await asyncio.sleep(_POLL_SECONDS)
    for name in existing.intersection(_OBSOLETE):
        await database.define(f"DROP INDEX {name} IF EXISTS")
    await database.wait("CALL db.awaitIndexes($seconds)", seconds=_BUILD_SECONDS)
    # A removed integration leaves edges of its types behind; checks have to include them.
    stored_types = {name.removeprefix(_EDGE) for name in existing if name.startswith(_EDGE)}
    return tuple(sorted(stored_types.union(types)))


async def _existing(database: Neo4jDatabase) -> set[str]:
    return {record["name"] for record in await database.read("SHOW INDEXES YIELD name")}


async def _define(database: Neo4jDatabase, holder: str, missing: Mapping[str, str]) -> None:
    """Create missing constraints and indexes. One process at a time: several would deadlock on each other's locks."""
    renewed = time.monotonic()
    for statement in missing.values():
        await database.define(statement)
        # Each definition makes the server replan every query, so the lock is renewed only when necessary.
        if time.monotonic() < renewed + _LOCK_SECONDS / 3:
            continue
        if not await _lock_schema(database, holder):
            return  # the lock expired, and another process continues
        renewed = time.monotonic()
    await _lock_schema(database, holder, seconds=0)


async def _lock_schema(database: Neo4jDatabase, holder: str, *, seconds: float = _LOCK_SECONDS) -> bool:
    length = round(seconds * MICROSECONDS)
    (row,) = await _write_with_retries(
        database, lambda run: run(records.LOCK_SCHEMA, holder=holder, microseconds=length)
    )
    return bool(row["count"])


async def _write_with_retries[T](database: Neo4jDatabase, work: Callable[[RunStatement], Awaitable[T]]) -> T:
    """Write, retrying while another process defines a constraint: its locks abort transactions that wait too long."""
    deadline = time.monotonic() + _RETRY_SECONDS
    while True:
        try:
            return await database.write(work)
        except OverloadedError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(_POLL_SECONDS)


async def _migrate(run: RunStatement) -> None:
    """Apply missing migrations, with the store's record locked."""
    latest = FIRST + len(MIGRATIONS)
    (row,) = await run(records.OPEN, store_id=uuid4().hex, schema=latest, words=sparse.VERSION)
    version = row["schema"]
    if version > latest:
        raise SchemaVersionError(f"The store has schema version {version}, this program knows {latest}. Upgrade VICW")
    if version < FIRST:
        raise SchemaVersionError(f"The store has schema version {version}, of a build before 0.1.0: open it with 0.1.0")
    for script in MIGRATIONS[version - FIRST :]:
        for statement in script:
            await run(statement)
    if version < _VALUE_WORDS:
        await _add_value_words(run)
    if version < latest:
        await run(records.SET_SCHEMA, schema=latest)


async def _add_value_words(run: RunStatement) -> None:
    after = ""
    while rows := await run(records.VALUES, after=after, limit=_METADATA_BATCH):
        added = []
        for row in rows:
            terms = metadata_terms(json.loads(row["metadata"] or "{}"))
            words = value_words(row["tenant"], row["fields"], terms)
            added.append({"uid": row["uid"], "terms": terms or None, "words": words})
        await run(records.SET_VALUES, rows=added)
        after = rows[-1]["uid"]
