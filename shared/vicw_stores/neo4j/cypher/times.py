"""Statements on items and statements by time, and on the times of items' statements."""

from __future__ import annotations

from vicw_shared.model.core5 import LASTS
from vicw_stores.neo4j.cypher.parts import ITEM, STATEMENT, gathered, node, seek


def _between(key: str, hint: str, condition: str, order: str, ties: str) -> str:
    ties_after = f"n.timestamp {order}, {ties}"
    return (
        f"UNWIND $spans AS span CALL (span) {{ MATCH (n:Event) {hint} WHERE {condition} "
        f"AND n.{key} >= span.start AND n.{key} < span.end RETURN n ORDER BY n.{key} {order} LIMIT $limit "
        f"}} RETURN {node('n')} AS node ORDER BY {ties_after} LIMIT $limit"
    )


_CLOCK = "clock_at", seek("n", "Event", "clock_at"), "n.tenant = $tenant"
LATEST = _between(*_CLOCK, "DESC", "n.arrival DESC, n.uid")
"""The latest items of a span of the HAPPENED_AFTER chain; EARLIEST: its first ones."""
EARLIEST = _between(*_CLOCK, "ASC", "n.arrival, n.uid")

_STATED = (
    "stated_at",
    seek("n", "Event", "tenant, context, stated_at"),
    "n.tenant = $tenant AND n.context = span.context",
)
STATED_LATEST = _between(*_STATED, "DESC", "n.uid")
"""The latest statements and extracted events of a span; STATED_EARLIEST: its first ones."""
STATED_EARLIEST = _between(*_STATED, "ASC", "n.uid")

STATED_TIMES = (
    f"MATCH (i:{ITEM}) WHERE i.uid IN $uids AND i.tenant = $tenant "
    "MATCH (i)-[:EVIDENCED_BY]->(k:Chunk)<-[:EVIDENCED_BY]-(s:Event) WHERE s.content_hash IS NULL "
    f"AND ({STATEMENT} OR NOT s.timestamp_inferred) "
    "WITH i.uid AS item, k.uid AS passage, "
    "collect(CASE WHEN NOT s.timestamp_inferred THEN [s.timestamp, s.metadata] END) AS stated, "
    "max(CASE WHEN s.timestamp_inferred THEN 1 ELSE 0 END) AS untimed "
    + gathered(owner="item", chunk="passage", stated="stated", untimed="untimed")
)
f"""The times of the statements of some items by passage; how long they last is in the metadata, as {LASTS}."""
