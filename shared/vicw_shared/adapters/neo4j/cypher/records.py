"""The store's own records: Entity nodes that have a ``record`` instead of a uid.

Nothing finds them that looks for what callers stored: not by uid, page, chain, text or edge.
"""

from __future__ import annotations

from vicw_shared.adapters.neo4j.cypher.parts import locked

LOCK = f"MERGE (l:Entity {{record: $record}}) ON CREATE SET l.subtype = 'counter' {locked('l')}"
"""Only one transaction at a time gets past this."""

COUNTERS = "MATCH (c:Entity) WHERE c.record IN $records RETURN c.record AS record, c.value AS value"

COUNT = (
    "UNWIND $counts AS count MERGE (c:Entity {record: count.record}) "
    "ON CREATE SET c.subtype = 'counter', c.value = count.value "
    "ON MATCH SET c.value = CASE WHEN c.value >= count.value THEN c.value ELSE count.value END"
)
"""Counters only grow, so that no number is given twice, whatever is erased."""

RECEIPT = "MATCH (r:Entity) WHERE r.record = $record RETURN r{.fingerprint, .created_at, .body} AS receipt"

REMEMBER = (
    "MERGE (r:Entity {record: $record}) "
    "SET r.subtype = 'receipt', r.receipt_of = $tenant_key, r.created_at = $created_at, "
    "r.fingerprint = $fingerprint, r.body = $body"
)

FORGET = "MATCH (r:Entity) WHERE r.receipt_of = $tenant_key AND r.created_at < $before DELETE r"

OPEN = (
    "MERGE (s:Entity {record: 'store'}) "
    "ON CREATE SET s.subtype = 'store', s.store_id = $store_id, s.schema = $schema "
    f"{locked('s')} RETURN s.schema AS schema"
)

STORE = "MATCH (s:Entity) WHERE s.record = 'store' RETURN s{.store_id, .schema, .model} AS store"

SET_MODEL = "MATCH (s:Entity) WHERE s.record = 'store' SET s.model = $model"

SET_SCHEMA = "MATCH (s:Entity) WHERE s.record = 'store' SET s.schema = $schema"
