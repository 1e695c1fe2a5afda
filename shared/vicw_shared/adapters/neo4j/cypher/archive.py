"""Statements for exports and for the import mark."""

from __future__ import annotations

from functools import cache

from vicw_shared.adapters.neo4j.cypher.parts import ANY, EDGE, one_of, seek

VERSION = (
    f"MATCH (l:Entity) {seek('l', 'Entity', 'record')} WHERE l.record IN $records "
    "RETURN sum(coalesce(l.writes, 0)) AS version"
)

MEMBERS = (
    f"MATCH (r:Context) {seek('r', 'Context', 'uid')} WHERE r.uid = $root MATCH (r)<-[:BELONGS_TO]-(n) "
    "WHERE n.uid > $after RETURN n.uid AS uid ORDER BY n.uid LIMIT $limit"
)

RECEIPTS = (
    f"MATCH (r:Entity) {seek('r', 'Entity', 'receipt_of, created_at')} "
    "WHERE r.receipt_of = $tenant_key AND r.created_at >= $at AND r.receipt_key IS NOT NULL "
    "AND (r.created_at > $at OR r.receipt_key > $key) "
    "RETURN r{.receipt_key, .fingerprint, .created_at, .body} AS receipt "
    "ORDER BY r.created_at, r.receipt_key LIMIT $limit"
)

_STORE = f"MATCH (s:Entity) {seek('s', 'Entity', 'record')} WHERE s.record = 'store'"

MARK = f"{_STORE} SET s.imported = $mark"

READ_MARK = f"{_STORE} RETURN s.imported AS mark"


@cache
def leaving(types: tuple[str, ...]) -> str:
    """Return the edges of these types out of some nodes, ordered by id."""
    return (
        f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant "
        f"MATCH (n)-[r:{one_of(types)}]->() WHERE r.id > $after "
        f"WITH r ORDER BY r.id LIMIT $limit RETURN {EDGE} AS edge ORDER BY edge.id"
    )
