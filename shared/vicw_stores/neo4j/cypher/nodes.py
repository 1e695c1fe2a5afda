"""Statements on nodes: look-ups, places in chains, puts."""

from __future__ import annotations

from functools import cache

from vicw_shared.model import Label
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.model.core5 import SYSTEM_VERSION
from vicw_stores.neo4j.cypher.parts import ANY, ITEM, STATEMENT, gathered, node, relabelled, seek

FIND = f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant {gathered(node=node('n'))}"

TEXTS = f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant AND n.text IS NOT NULL " + gathered(
    uid="n.uid", text="n.text"
)

KEYS = f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant RETURN n.uid AS uid, elementId(n) AS key"
"""Element ids of edge ends, one row per node."""

OWNERS = (
    f"MATCH (k:Chunk) {seek('k', 'Chunk', 'uid')} WHERE k.uid IN $uids "
    "MATCH (k)<-[:EVIDENCED_BY]-(i) WHERE i.content_hash IS NOT NULL AND i.tenant = $tenant "
    + gathered(
        chunk="k.uid",
        item="i {.uid, label: labels(i)[0], .context, .domain, .speaker, .importance, "
        ".created_at, .timestamp, .retired_at, .valid_to, .superseded_at, .expires_at, .version}",
        part=f"CASE WHEN i.version = {SYSTEM_VERSION} AND k.version > {SYSTEM_VERSION} THEN k {{.metadata, .speaker, "
        ".created_at, .timestamp, .retired_at, .valid_to, .superseded_at, .expires_at} END",
    )
)

LATEST = (
    "UNWIND $keys AS key CALL (key) { "
    f"MATCH (n:{ITEM}) WHERE n.item_key = key RETURN n ORDER BY n.version DESC LIMIT 1 "
    f"}} RETURN {node('n')} AS node"
)

CONSOLIDATED = (
    "UNWIND $keys AS key CALL (key) { "
    f"MATCH (k:Chunk) {seek('k', 'Chunk', 'folded_key')} WHERE k.folded_key = key "
    "RETURN k ORDER BY k.version DESC LIMIT 1 "
    f"}} RETURN {node('k')} AS node"
)

DROP = (
    f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant "
    "OPTIONAL MATCH (n)<-[:term_of]-(t:Entity) DETACH DELETE t, n"
)

PAYLOAD_SOURCES = (
    f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant "
    "MATCH (n)<-[:ABOUT|TAGGED]-(s) WHERE NOT s.uid IN $uids RETURN DISTINCT elementId(s) AS source"
)
"""Items with payloads that repeat an edge to one of some nodes."""

FLOW = (
    f"MATCH (n:Event) {seek('n', 'Event', 'flow_at')} WHERE n.flow_at > $start WITH n ORDER BY n.flow_at LIMIT 1 "
    "RETURN n.tenant AS tenant, n.context AS context, n.flow_id AS flow_id, n.flow_at AS place"
)
"""The first flow behind a place. A flow's items are adjacent in the index: the next look-up starts at their end."""

FLOWS_WITHIN = (
    f"MATCH (n:Event) {seek('n', 'Event', 'clock_at')} WHERE n.clock_at >= $start AND n.clock_at < $end "
    "AND n.flow_at IS NOT NULL AND n.flow_id > $after "
    "RETURN DISTINCT n.flow_id AS flow_id ORDER BY flow_id LIMIT $limit"
)
"""The flows of a context, by the items of its HAPPENED_AFTER chain: the flow index is not ordered by context."""

EXPIRED = (
    f"CALL () {{ MATCH (n:Event) {seek('n', 'Event', 'ends_at')} WHERE n.ends_at <= $before "
    "RETURN n ORDER BY n.ends_at LIMIT $limit "
    f"UNION ALL MATCH (n:Entity) {seek('n', 'Entity', 'ends_at')} WHERE n.ends_at <= $before "
    f"RETURN n ORDER BY n.ends_at LIMIT $limit }} RETURN {node('n')} AS node ORDER BY n.ends_at, n.uid LIMIT $limit"
)


@cache
def thread(*, descending: bool) -> str:
    """Return a flow's items between two places, in the order of its chain or from its end."""
    way = " DESC" if descending else ""
    return (
        f"MATCH (n:Event) {seek('n', 'Event', 'flow_at')} WHERE n.flow_at > $prefix AND n.flow_at < $end "
        f"AND n.tenant = $tenant RETURN {node('n')} AS node ORDER BY n.flow_at{way}, n.uid{way} LIMIT $limit"
    )


CONTEXTS = (
    f"MATCH (n:Context) {seek('n', 'Context', 'tenant_key')} "
    f"WHERE n.tenant_key = $tenant_key AND n.tenant = $tenant RETURN {node('n')} AS node"
)

POINT_STATES = (
    f"MATCH (k:Chunk) {seek('k', 'Chunk', 'uid')} WHERE k.uid IN $uids RETURN k.uid AS uid, k.indexed AS indexed "
    f"UNION MATCH (s:Event) {seek('s', 'Event', 'uid')} WHERE s.uid IN $uids AND {STATEMENT} "
    "RETURN s.uid AS uid, s.indexed AS indexed"
)

BELONGS_TO_COUNTS = (
    f"MATCH (n:{ANY}) WHERE n.uid IN $uids RETURN n.uid AS uid, COUNT {{ (n)-[:BELONGS_TO]->() }} AS count"
)

ANY_INDEXED = f"MATCH (k:Chunk) {seek('k', 'Chunk', 'uid')} WHERE k.uid > '' AND k.indexed RETURN k.uid AS uid LIMIT 1"


@cache
def page(label: Label) -> str:
    """Return a label's nodes, ordered by uid."""
    return (
        f"MATCH (n:{label}) {seek('n', label, 'uid')} WHERE n.uid > $after "
        f"RETURN {node('n')} AS node ORDER BY n.uid LIMIT $limit"
    )


@cache
def count(label: Label) -> str:
    """Return the number of nodes with a label, without the store's own records."""
    return f"MATCH (n:{label}) {seek('n', label, 'uid')} WHERE n.uid > '' RETURN count(n) AS count"


@cache
def gaps(flow: bool) -> str:
    """Return, for each place, its neighbours in a chain: two look-ups in the chain's index."""
    at = "flow_at" if flow else "clock_at"
    hint = seek("n", "Event", at)
    return (
        "UNWIND range(0, size($places) - 1) AS number WITH number, $places[number] AS place "
        f"CALL (place) {{ OPTIONAL MATCH (n:Event) {hint} WHERE n.{at} < place AND n.{at} > $prefix "
        f"RETURN n.uid AS before ORDER BY n.{at} DESC LIMIT 1 }} "
        f"CALL (place) {{ OPTIONAL MATCH (n:Event) {hint} WHERE n.{at} > place AND n.{at} < $end "
        f"RETURN n.uid AS after ORDER BY n.{at} LIMIT 1 }} "
        "RETURN number, before, after"
    )


BEFORE = (
    f"MATCH (n:Event) {seek('n', 'Event', 'clock_at')} WHERE n.clock_at < $place AND n.clock_at > $prefix "
    f"WITH n ORDER BY n.clock_at DESC LIMIT $limit RETURN {node('n')} AS node ORDER BY n.clock_at DESC"
)


@cache
def links(chain: str) -> str:
    """Return, for each Event, its follower by the chain's index, and the followers by the chain's edges that differ."""
    at, edge = ("flow_at", f"(n)-[:{NEXT}]->") if chain == NEXT else ("clock_at", f"(n)<-[:{HAPPENED_AFTER}]-")
    return (
        f"UNWIND $events AS event MATCH (n:Event) {seek('n', 'Event', 'uid')} WHERE n.uid = event.uid "
        f"CALL (event) {{ OPTIONAL MATCH (m:Event) {seek('m', 'Event', at)} "
        f"WHERE m.{at} >= event.place AND m.{at} < event.end AND (m.{at} > event.place OR m.uid > event.uid) "
        f"RETURN m ORDER BY m.{at}, m.uid LIMIT 1 }} "
        f"RETURN n.uid AS uid, m.uid AS follower, EXISTS {{ {edge}(m) }} AS joined, "
        f"COLLECT {{ MATCH {edge}(o) WHERE m IS NULL OR o <> m RETURN DISTINCT o.uid LIMIT $most }} AS strays, "
        f"coalesce(n.{at}, '') <> event.place AS misplaced"
    )


@cache
def put(label: Label) -> str:
    """Insert or replace a label's nodes, except other tenants'.

    Returns their element ids, and whether an item's names, tags or bucket, or a node's terms, changed.
    """
    return (
        f"UNWIND $rows AS row {relabelled(label)} "
        f"MERGE (n:{label} {{uid: row.node.uid}}) ON CREATE SET n.tenant = row.node.tenant "
        "WITH n, row WHERE n.tenant = row.node.tenant "
        "WITH n, row, n.content_hash IS NOT NULL "
        "AND coalesce(n.head_words, '') <> coalesce(row.node.head_words, '') AS renamed, "
        "coalesce(n.terms, '') <> coalesce(row.node.terms, '') AS termed "
        "SET n = row.node RETURN n.uid AS uid, elementId(n) AS key, renamed, termed"
    )
