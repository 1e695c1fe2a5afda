"""Nodes: look-ups, places in chains, puts."""

from __future__ import annotations

from functools import cache

from vicw_shared.adapters.neo4j.cypher.parts import ANY, ITEM, node, relabelled, seek
from vicw_shared.model import Label

FIND = f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant RETURN {node('n')} AS node"

TEXTS = (
    f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant AND n.text IS NOT NULL "
    "RETURN n.uid AS uid, n.text AS text"
)

KEYS = f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant RETURN n.uid AS uid, elementId(n) AS key"
"""Where the ends of edges are: each found once, whatever its label and however many edges it has."""

OWNERS = (
    f"MATCH (k:Chunk) {seek('k', 'Chunk', 'uid')} WHERE k.uid IN $uids "
    "MATCH (k)<-[:EVIDENCED_BY]-(i) WHERE i.content_hash IS NOT NULL AND i.tenant = $tenant "
    "RETURN k.uid AS chunk, i.uid AS uid, i.domain AS domain, i.created_at AS created_at, i.timestamp AS timestamp, "
    "i.retired_at AS retired_at, i.valid_to AS valid_to, i.expires_at AS expires_at"
)

LATEST = (
    "UNWIND $keys AS key CALL (key) { "
    f"MATCH (n:{ITEM}) WHERE n.item_key = key RETURN n ORDER BY n.version DESC LIMIT 1 "
    f"}} RETURN {node('n')} AS node"
)

CONTEXTS = (
    f"MATCH (n:Context) {seek('n', 'Context', 'tenant_key')} "
    f"WHERE n.tenant_key = $tenant_key AND n.tenant = $tenant RETURN {node('n')} AS node"
)

KNOWN_CHUNKS = f"MATCH (k:Chunk) {seek('k', 'Chunk', 'uid')} WHERE k.uid IN $uids RETURN k.uid AS uid"

ANY_INDEXED = f"MATCH (k:Chunk) {seek('k', 'Chunk', 'uid')} WHERE k.uid > '' AND k.indexed RETURN k.uid AS uid LIMIT 1"


@cache
def page(label: Label) -> str:
    """Return a label's nodes in the order of their uids."""
    return (
        f"MATCH (n:{label}) {seek('n', label, 'uid')} WHERE n.uid > $after "
        f"RETURN {node('n')} AS node ORDER BY n.uid LIMIT $limit"
    )


@cache
def count(label: Label) -> str:
    """Return how many nodes of a label there are, the store's own records aside."""
    return f"MATCH (n:{label}) {seek('n', label, 'uid')} WHERE n.uid > '' RETURN count(n) AS count"


@cache
def gaps(flow: bool) -> str:
    """Return, for each place, its neighbours in a chain: two look-ups of an index that has the chain in order."""
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


@cache
def put(label: Label) -> str:
    """Return the insert or replacement of a label's nodes, other tenants' excepted.

    It says where they are, and which are items that had other names or tags.
    """
    return (
        f"UNWIND $rows AS row {relabelled(label)} "
        f"MERGE (n:{label} {{uid: row.node.uid}}) ON CREATE SET n.tenant = row.node.tenant "
        "WITH n, row WHERE n.tenant = row.node.tenant "
        "WITH n, row, n.content_hash IS NOT NULL AND (n.name <> row.node.name "
        "OR coalesce(n.title, '') <> coalesce(row.node.title, '') "
        "OR coalesce(n.tags, []) <> coalesce(row.node.tags, [])) AS renamed "
        "SET n = row.node RETURN n.uid AS uid, elementId(n) AS key, renamed"
    )
