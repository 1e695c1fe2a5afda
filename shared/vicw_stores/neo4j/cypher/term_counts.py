"""Statements on counts of terms: ``counted`` of Chunks, and records of each context and tenant (``counts_of``)."""

from __future__ import annotations

from vicw_stores.neo4j.cypher.parts import gathered, locked, seek

_BY_UID = seek("k", "Chunk", "uid")
_BY_SCOPE = seek("r", "Entity", "counts_of")
_COUNTED = "RETURN k.uid AS uid, k.tenant AS tenant, k.context AS context, k.counted AS counted"

UNCHANGED = (
    f"UNWIND $points AS point MATCH (k:Chunk) {_BY_UID} WHERE k.uid = point.uid {locked('k')} "
    f"WITH k, point WHERE k.seq = point.seq {_COUNTED}"
)
"""A Chunk that has changed since it was read is counted when its newer entry is acknowledged."""

LOCK_COUNTED = f"UNWIND $uids AS uid MATCH (k:Chunk) {_BY_UID} WHERE k.uid = uid {locked('k')} WITH k {_COUNTED}"

SET_COUNTED = f"UNWIND $rows AS row MATCH (k:Chunk) {_BY_UID} WHERE k.uid = row.uid SET k.counted = row.terms"

COUNTED = f"MATCH (k:Chunk) {_BY_UID} WHERE k.uid IN $uids AND k.tenant = $tenant AND k.counted IS NOT NULL {_COUNTED}"

COUNTED_OF_ALL = f"MATCH (k:Chunk) {_BY_UID} WHERE k.uid IN $uids {_COUNTED}"

ALL_COUNTED = f"MATCH (k:Chunk) {_BY_UID} WHERE k.uid > $after WITH k ORDER BY k.uid LIMIT $limit {_COUNTED}"

ADD = (
    "UNWIND $records AS row CREATE (r:Entity {record: row.record}) SET r.subtype = 'term_counts', "
    "r.counts_of = row.scope, r.counts_tenant = row.tenant, r.counts_context = row.context, r.level = row.level, "
    "r.passages = row.passages, r.counts = row.counts "
    "WITH DISTINCT row.scope AS scope, row.level AS level "
    "RETURN scope, COUNT { MATCH (s:Entity) WHERE s.counts_of = scope AND s.level = level } AS count"
)

LOCK_SCOPE = f"MERGE (l:Entity {{record: $record}}) ON CREATE SET l.subtype = 'counter' {locked('l')}"
"""Only mergers take it: records are added without waiting."""

_ROW = "r.record AS record, r.level AS level, r.passages AS passages, r.counts AS counts"

RECORDS = f"MATCH (r:Entity) {_BY_SCOPE} WHERE r.counts_of = $scope RETURN {_ROW}"

DROP = f"MATCH (r:Entity) {seek('r', 'Entity', 'record')} WHERE r.record IN $records DELETE r"

LISTED = f"MATCH (r:Entity) {_BY_SCOPE} WHERE r.counts_of IN $scopes " + gathered(
    scope="r.counts_of",
    record="r.record",
    passages="r.passages",
    counts="CASE WHEN r.record IN $known THEN null ELSE r.counts END",
)

SCOPES = (
    f"MATCH (r:Entity) {_BY_SCOPE} WHERE r.counts_of > $after "
    "RETURN DISTINCT r.counts_of AS scope ORDER BY scope LIMIT $limit"
)

ALL_RECORDS = (
    f"MATCH (r:Entity) {_BY_SCOPE} WHERE r.counts_of IN $scopes "
    f"RETURN r.counts_tenant AS tenant, r.counts_context AS context, {_ROW}"
)
