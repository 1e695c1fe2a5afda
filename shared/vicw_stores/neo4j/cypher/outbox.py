"""Statements on the outbox: properties of the Chunks with points that lag behind.

``pending`` is the kind of the missing write, ``due`` the time from which it may be claimed, ``held`` the end of a claim
on change ``claimed``. ``seq`` counts changes, starting from the time of the first, so that an entry removed and made
again is not mistaken for the earlier one; ``changed_at`` is the time of the latest change (both stay when the entry is
acknowledged). ``tries``, ``error`` and ``failed_at`` describe failures since the latest change. A pending entry without
``due`` is dead: it failed too often. Only pending entries have ``due`` and ``tries``: their indexes are as small as the
backlog.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from vicw_shared.model import Label
from vicw_stores.neo4j.cypher.parts import ITEM, NOW, STATEMENT, locked, node, relabelled, seek
from vicw_stores.neo4j.cypher.text import HEAD

_BY_UID = seek("k", "Chunk", "uid")
_BY_DUE = seek("k", "Chunk", "tenant_key, due")
_BY_HOME = seek("k", "Chunk", "home, due")
_TENANTS_PER_LOOKUP = 8
"""Tenants looked up in one statement."""


_WITH_ITEM = "OPTIONAL MATCH (k)<-[:EVIDENCED_BY]-(i) WHERE i.content_hash IS NOT NULL"
_ENTRY_COLUMNS = (
    f"k.uid AS uid, {node('k')} AS chunk, CASE WHEN i IS NOT NULL THEN {node('i')} END AS item, "
    "[(i)-[:ABOUT]->(a) | [a.name] + coalesce(a.aliases, []) + [a.uid]] AS about, "
    "[(i)-[:TAGGED]->(t) | [t.kind, t.name] + coalesce(t.aliases, [])] AS marks, "
    f"[(k)<-[:EVIDENCED_BY]-(s:Event) WHERE {STATEMENT} | {node('s')}] AS statements"
)
"""Payload data of a Chunk and its item."""


def _queued(kind: str) -> str:
    """Return the clauses that make ``k`` pending; they lock it first, since the result depends on its current state.

    A claim on it stays valid. An entry that is already due keeps its due time; one that backs off after a failure is
    due again.
    """
    return (
        f"{locked('k')} "
        f"WITH *, {NOW} AS now, {kind} AS kind "
        "SET k.due = CASE WHEN k.held > now OR k.due <= now THEN k.due ELSE now END, "
        "k.pending = kind, k.seq = coalesce(k.seq, now) + 1, k.changed_at = now REMOVE k.tries, k.error, k.failed_at "
    )


PUT = (
    f"UNWIND $rows AS row {relabelled(Label.CHUNK)} "
    "MERGE (k:Chunk {uid: row.node.uid}) ON CREATE SET k.tenant = row.node.tenant "
    "WITH k, row WHERE k.tenant = row.node.tenant "
    f"{locked('k')} "
    f"WITH k, row, {NOW} AS now, k.words AS words, k.counted AS counted, k.held AS held, "
    f"k.claimed AS claimed, k.due AS due, coalesce(k.seq, {NOW}) + 1 AS seq, "
    "CASE WHEN k.pending = 'upsert' OR NOT row.node.indexed THEN 'upsert' ELSE 'payload' END AS kind "
    # ``indexed`` is not taken from the caller's copy: the Chunk may have been queued again in the meantime.
    "SET k = row.node SET k.indexed = kind = 'payload', k.counted = counted, "
    # The words of its item's names stay.
    f"k.words = row.node.words + coalesce('{HEAD}' + split(words, '{HEAD}')[1], ''), "
    "k.held = held, k.claimed = claimed, "
    "k.seq = seq, k.changed_at = now, k.pending = kind, "
    # The time is the same within one statement: the ordinal keeps the Chunks in order.
    "k.due = CASE WHEN held > now OR due <= now THEN due ELSE now - (size($rows) - row.ordinal) END "
    "RETURN k.uid AS uid, elementId(k) AS key, false AS renamed"
)
"""Does what ``_queued`` does, and replaces the other properties of the Chunk."""

RENEW_PAYLOADS = (
    "UNWIND $sources AS source MATCH (i) WHERE elementId(i) = source MATCH (i)-[:EVIDENCED_BY]->(k:Chunk) "
    "WITH DISTINCT k " + _queued("coalesce(k.pending, 'payload')")
)
"""For added or removed edges that payloads repeat."""

REQUEUE = (
    f"MATCH (k:Chunk) {_BY_UID} WHERE k.uid IN $uids " + _queued("'upsert'") + "SET k.indexed = false WITH k "
    "OPTIONAL MATCH (k)<-[:EVIDENCED_BY]-(s) "
    f"WHERE s.qdrant_id = k.uid OR {STATEMENT} SET s.indexed = false RETURN count(DISTINCT k) AS count"
)

REQUEUE_PAYLOADS = (
    f"MATCH (k:Chunk) {_BY_UID} WHERE k.uid IN $uids "
    + _queued("coalesce(k.pending, 'payload')")
    + "RETURN count(k) AS count"
)

LOCK_CLAIMS = (
    "MERGE (o:Entity {record: 'outbox'}) ON CREATE SET o.subtype = 'outbox' "
    f"{locked('o')} RETURN o.turn AS turn, {NOW} AS now"
)
"""Serialises claims: two concurrent ones would find the same entries, and one of them would get none."""

SET_LAST_TENANT = "MATCH (o:Entity) WHERE o.record = 'outbox' SET o.turn = $turn"

DUE = (
    f"UNWIND $tenants AS tenant CALL (tenant) {{ MATCH (k:Chunk) {_BY_DUE} "
    "WHERE k.tenant_key = tenant AND k.due <= $now "
    # By both columns: only this is index order, in which no more rows are read than returned.
    "RETURN k.uid AS uid, k.due AS due ORDER BY k.tenant_key, k.due LIMIT $limit } RETURN tenant, uid, due"
)

DUE_OF_ITEMS = (
    f"MATCH (i:{ITEM}) WHERE i.uid IN $items MATCH (i)-[:EVIDENCED_BY]->(k:Chunk) "
    "WHERE k.due IS NOT NULL AND (k.held IS NULL OR k.held <= $now) "
    "RETURN DISTINCT k.uid AS uid, k.due AS due ORDER BY due LIMIT $limit"
)

CLAIM = (
    f"UNWIND $uids AS uid MATCH (k:Chunk) {_BY_UID} WHERE k.uid = uid {locked('k')} "
    "WITH k WHERE k.due IS NOT NULL AND (k.held IS NULL OR k.held <= $now) AND ($resting OR k.due <= $now) "
    "SET k.held = $until, k.due = $until, k.claimed = k.seq "
    f"WITH k {_WITH_ITEM} RETURN k.pending AS kind, k.seq AS seq, k.tries AS tries, {_ENTRY_COLUMNS}"
)
"""Entries are checked again under their lock, then read: the data is at least as new as its ``seq``."""

PASSAGES = (
    f"MATCH (k:Chunk) {_BY_UID} WHERE k.uid > $after WITH k ORDER BY k.uid LIMIT $limit "
    f"{_WITH_ITEM} RETURN 'upsert' AS kind, 0 AS seq, 0 AS tries, {_ENTRY_COLUMNS} ORDER BY uid"
)

PASSAGES_OF = (
    f"MATCH (k:Chunk) {_BY_UID} WHERE k.uid IN $uids "
    f"{_WITH_ITEM} RETURN 'upsert' AS kind, 0 AS seq, 0 AS tries, {_ENTRY_COLUMNS}"
)

_POINT = (
    f"UNWIND $points AS point MATCH (k:Chunk) {_BY_UID} WHERE k.uid = point.uid {locked('k')} "
    f"WITH k, point, {NOW} AS now, k.seq = point.seq AS same "
)
_CHANGED_SINCE = (
    "FOREACH (_ IN CASE WHEN same THEN [] ELSE [1] END | SET k.seq = k.seq + 1, "
    "k.pending = CASE WHEN point.kind = 'upsert' THEN 'upsert' ELSE coalesce(k.pending, point.kind) END, "
    "k.due = CASE WHEN k.held > now AND k.claimed <> point.seq THEN k.due ELSE now END, "
    "k.held = CASE WHEN k.held > now AND k.claimed <> point.seq THEN k.held END) "
)
"""The written point is outdated and may have replaced a newer one: write it again, even if another worker claims it."""

ACKNOWLEDGE = (
    f"{_POINT}FOREACH (_ IN CASE WHEN same THEN [1] ELSE [] END | "
    "SET k.indexed = true REMOVE k.pending, k.due, k.held, k.claimed, k.tries, k.error, k.failed_at) "
    f"{_CHANGED_SINCE}WITH k WHERE k.indexed "
    f"MATCH (k)<-[:EVIDENCED_BY]-(s) WHERE s.qdrant_id = k.uid OR {STATEMENT} SET s.indexed = true"
)

POSTPONE = (
    f"{_POINT}WHERE k.pending IS NOT NULL OR NOT same FOREACH (_ IN CASE WHEN same THEN [1] ELSE [] END | "
    "SET k.due = now + $rest, k.error = coalesce($error, k.error), "
    "k.tries = CASE WHEN $error IS NULL THEN k.tries ELSE coalesce(k.tries, 0) + 1 END, "
    "k.failed_at = CASE WHEN $error IS NULL THEN k.failed_at ELSE coalesce(k.failed_at, now) END "
    "REMOVE k.held, k.claimed) "
    f"{_CHANGED_SINCE}"
)

RENEW_CLAIM = (
    f"{_POINT}WHERE k.held > now AND k.claimed = point.seq SET k.held = now + $rest, k.due = now + $rest "
    "RETURN count(k) AS count"
)

COUNT_UNINDEXED = (
    f"MATCH (i:{ITEM}) WHERE i.uid IN $items AND i.tenant = $tenant MATCH (i)-[:EVIDENCED_BY]->(k:Chunk) "
    "WHERE k.pending IS NOT NULL WITH DISTINCT k RETURN count(k.due) AS waiting, count(k) - count(k.due) AS dead"
)

QUEUED = (
    f"MATCH (k:Chunk) {_BY_UID} WHERE k.uid IN $uids AND k.pending IS NOT NULL "
    "AND ($failing OR coalesce(k.tries, 0) = 0) RETURN k.uid AS uid"
)


@cache
def waiting(*, of_contexts: bool) -> str:
    """Return ``$limit`` live Chunks without a point: of the contexts ``$homes``, or of ``$tenant_key``."""
    place = f"{_BY_HOME} WHERE k.home IN $homes" if of_contexts else f"{_BY_DUE} WHERE k.tenant_key = $tenant_key"
    return (
        f"MATCH (k:Chunk) {place} AND k.due IS NOT NULL AND k.pending = 'upsert' AND k.retired_at IS NULL "
        "RETURN k.uid AS uid LIMIT $limit"
    )


@cache
def backlog(*, of_tenant: bool) -> str:
    """Return the number of waiting, failing and dead entries: ``$tenant_key``'s, or all."""
    scope = "k.tenant_key = $tenant_key" if of_tenant else "k.tenant_key > ''"
    return (
        f"CALL () {{ MATCH (k:Chunk) {_BY_DUE} WHERE {scope} AND k.due IS NOT NULL "
        "RETURN count(k) AS waiting } "
        f"CALL () {{ MATCH (k:Chunk) {seek('k', 'Chunk', 'tries')} WHERE k.tries > 0 AND {scope} "
        "RETURN count(k.due) AS failing, count(k) - count(k.due) AS dead } RETURN waiting, failing, dead"
    )


@cache
def tenants() -> str:
    """Return the next tenants after ``$turn`` with due entries, in index order; None: no more.

    Entries that are not due are skipped one by one in the index, without a round trip each.
    """
    names = ["$turn", *(f"tenant{number}" for number in range(_TENANTS_PER_LOOKUP))]
    calls = [
        f"CALL ({before if before != '$turn' else ''}) {{ "
        f"OPTIONAL MATCH (k:Chunk) {_BY_DUE} WHERE k.tenant_key > {before} AND k.due <= $now "
        f"RETURN k.tenant_key AS {name} ORDER BY {name} LIMIT 1 }}"
        for before, name in pairwise(names)
    ]
    return f"{' '.join(calls)} RETURN [{', '.join(names[1:])}] AS tenants"


@cache
def failures(*, of_items: bool, of_tenant: bool) -> str:
    """Return failed entries, most tries first, with their items."""
    tenant = " AND k.tenant = $tenant" if of_tenant else ""
    if of_items:
        # Not by the index on tries: there may be more failures than passages of these items.
        condition = f"coalesce(k.tries, 0) > 0{tenant}"
        match = f"MATCH (i:{ITEM}) WHERE i.uid IN $items MATCH (i)-[:EVIDENCED_BY]->(k:Chunk) WHERE {condition}"
    else:
        match = (
            f"MATCH (k:Chunk) {seek('k', 'Chunk', 'tries')} WHERE k.tries > 0{tenant} "
            "MATCH (k)<-[:EVIDENCED_BY]-(i) WHERE i.content_hash IS NOT NULL"
        )
    return (
        f"{match} RETURN k.uid AS point_id, k.tenant AS tenant, i.context AS context, i.uid AS item, "
        "i.source_id AS source_id, k.tries AS tries, coalesce(k.error, '') AS error, "
        f"coalesce(k.failed_at, {NOW}) AS since, k.due IS NULL AS dead ORDER BY tries DESC, point_id LIMIT $limit"
    )


@cache
def replay(*, of_points: bool, of_tenant: bool) -> str:
    """Make a page of failed entries due and reset their failures."""
    condition = "k.uid IN $uids AND k.tries > 0" if of_points else "k.tries > 0 AND k.uid > $after"
    return (
        f"MATCH (k:Chunk) {_BY_UID if of_points else seek('k', 'Chunk', 'tries')} WHERE {condition}"
        f"{' AND k.tenant = $tenant' if of_tenant else ''} WITH k ORDER BY k.uid LIMIT $limit "
        f"{locked('k')} WITH k, {NOW} AS now WHERE k.tries > 0 "
        "SET k.due = CASE WHEN k.held > now THEN k.due ELSE now END REMOVE k.tries, k.error, k.failed_at "
        "RETURN count(k) AS count, max(k.uid) AS last"
    )
